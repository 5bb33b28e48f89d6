import com.sun.management.OperatingSystemMXBean;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import kafka.log.UnifiedLog;
import kafka.server.BrokerTopicStats;
import org.apache.kafka.common.record.MemoryRecords;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.server.util.KafkaScheduler;
import org.apache.kafka.storage.internals.log.LogConfig;
import org.apache.kafka.storage.internals.log.LogDirFailureChannel;
import org.apache.kafka.storage.internals.log.LogOffsetsListener;
import org.apache.kafka.storage.internals.log.OffsetIndex;
import org.apache.kafka.storage.internals.log.ProducerStateManagerConfig;
import scala.Option;

/**
 * Apache Kafka's storage engine as a contestant of our benchmarks: takes one order a line, answers each with one line of JSON.
 * The one argument is the file of batches, each preceded by its size as an int32.
 */
public final class StorageBenchmark {
    private static final OperatingSystemMXBean PROCESS =
        (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    private static final LogDirFailureChannel FAILURES = new LogDirFailureChannel(10);
    private static final BrokerTopicStats STATS = new BrokerTopicStats(false);
    private static final KafkaScheduler SCHEDULER = new KafkaScheduler(1);

    private final List<byte[]> batches;
    private int next = 0;

    private StorageBenchmark(List<byte[]> batches) {
        this.batches = batches;
    }

    public static void main(String[] args) throws Exception {
        SCHEDULER.startup();
        StorageBenchmark benchmark = new StorageBenchmark(read(new File(args[0])));
        BufferedReader orders = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("{\"ready\":true}");
        for (String line = orders.readLine(); line != null; line = orders.readLine()) {
            String[] words = line.split(" ");
            System.out.println(benchmark.carryOut(words));
        }
        SCHEDULER.shutdown();
    }

    private String carryOut(String[] words) throws Exception {
        switch (words[0]) {
            case "single": return append(new File(words[1]), Integer.parseInt(words[2]));
            case "durable": return durable(new File(words[1]), number(words[2]), number(words[3]), number(words[4]));
            case "lookup": return lookup(new File(words[1]), words[2], number(words[3]));
            default: throw new IllegalArgumentException(words[0]);
        }
    }

    private static int number(String word) {
        return Integer.parseInt(word);
    }

    /** One thread appends batch after batch to a new log. */
    private String append(File folder, int count) throws Exception {
        UnifiedLog log = open(new File(folder, "t-0"), Map.of());
        Usage usage = new Usage();
        long bytes = 0;
        for (int at = 0; at < count; at++) bytes += append(log, batches.get(next++ % batches.size()));
        String answer = usage.json(count, bytes);
        log.delete();
        return answer;
    }

    private static int append(UnifiedLog log, byte[] batch) {
        ByteBuffer buffer = ByteBuffer.wrap(batch);
        buffer.putLong(0, 0L); // the last append wrote its offset there
        log.appendAsLeader(MemoryRecords.readableRecords(buffer), 0, log.appendAsLeader$default$3(),
            log.appendAsLeader$default$4(), log.appendAsLeader$default$5(), log.appendAsLeader$default$6());
        return batch.length;
    }

    /** flush.messages=1: so many callers, each a thread, append to their partitions in turn. */
    private String durable(File folder, int partitions, int callers, int count) throws Exception {
        List<UnifiedLog> logs = new ArrayList<>();
        for (int at = 0; at < partitions; at++) logs.add(open(new File(folder, "t-" + at), Map.of("flush.messages", "1")));
        AtomicInteger order = new AtomicInteger();
        List<Thread> threads = new ArrayList<>();
        int size = batches.get(0).length;
        Usage usage = new Usage();
        for (int caller = 0; caller < callers; caller++) {
            byte[] batch = batches.get(caller % batches.size()).clone();
            Thread thread = new Thread(() -> {
                for (int at = order.getAndIncrement(); at < count; at = order.getAndIncrement())
                    append(logs.get(at % logs.size()), batch);
            });
            threads.add(thread);
            thread.start();
        }
        for (Thread thread : threads) thread.join();
        String answer = usage.json(count, (long) count * size);
        for (UnifiedLog log : logs) log.delete();
        return answer;
    }

    /** Looks up random offsets, or such as lie in the last 8 KiB of the index. */
    private static String lookup(File file, String where, int count) throws IOException {
        OffsetIndex index = new OffsetIndex(file, 0L, (int) file.length(), false);
        long last = index.lastOffset();
        long from = where.equals("tail") ? index.entry(index.entries() - 1000).offset : 0L;
        Random random = new Random(7);
        long[] offsets = new long[1 << 16];
        for (int at = 0; at < offsets.length; at++) offsets[at] = from + (long) (random.nextDouble() * (last - from));
        long sum = 0;
        Usage usage = new Usage();
        for (int at = 0; at < count; at++) sum += index.lookup(offsets[at & (offsets.length - 1)]).position;
        String answer = usage.json(count, sum);
        index.closeHandler();
        return answer;
    }

    private static UnifiedLog open(File folder, Map<String, String> config) throws IOException {
        Files.createDirectories(folder.toPath());
        return UnifiedLog.apply(folder, new LogConfig(config), 0L, 0L, SCHEDULER, STATS, Time.SYSTEM, 60_000,
            new ProducerStateManagerConfig(86_400_000, false), 600_000, FAILURES, true, Option.empty(), false,
            new ConcurrentHashMap<>(), false, LogOffsetsListener.NO_OP_OFFSETS_LISTENER);
    }

    private static List<byte[]> read(File file) throws IOException {
        ByteBuffer all = ByteBuffer.wrap(Files.readAllBytes(file.toPath()));
        List<byte[]> batches = new ArrayList<>();
        while (all.hasRemaining()) {
            byte[] batch = new byte[all.getInt()];
            all.get(batch);
            batches.add(batch);
        }
        return batches;
    }

    /** CPU time of all threads, and time on the wall, since it was made. */
    private static final class Usage {
        private final long cpu = PROCESS.getProcessCpuTime();
        private final long wall = System.nanoTime();

        String json(long count, long bytes) {
            double wallMs = (System.nanoTime() - wall) / 1e6;
            double cpuMs = (PROCESS.getProcessCpuTime() - cpu) / 1e6;
            return "{\"count\":" + count + ",\"bytes\":" + bytes + ",\"cpuMs\":" + cpuMs + ",\"wallMs\":" + wallMs + "}";
        }
    }
}
