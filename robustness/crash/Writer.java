// Writes records 0 … count-1 through the Java producer and, in the end, the numbers of those that were acknowledged to a file (4 bytes each).
// Arguments: bootstrap topic count idempotent(true|false) file. Prints "acknowledged N" now and then, "failed N: why" for what is given up.
import java.io.BufferedOutputStream;
import java.io.DataOutputStream;
import java.io.FileOutputStream;
import java.nio.ByteBuffer;
import java.util.Properties;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;

public class Writer {
  static byte[] valueOf(int index) {
    ByteBuffer bytes = ByteBuffer.allocate(1024);
    int word = index * 0x9e3779b1 + 1;
    while (bytes.hasRemaining()) {
      bytes.putInt(word);
      word = word * 1664525 + 1013904223;
    }
    return bytes.array();
  }

  public static void main(String[] args) throws Exception {
    int count = Integer.parseInt(args[2]);
    Properties config = new Properties();
    config.put("bootstrap.servers", args[0]);
    config.put("acks", "all");
    config.put("enable.idempotence", args[3]);
    config.put("linger.ms", "5");
    config.put("batch.size", "65536");
    config.put("delivery.timeout.ms", "300000");
    config.put("reconnect.backoff.max.ms", "200");
    boolean[] acknowledged = new boolean[count];
    AtomicInteger done = new AtomicInteger();
    AtomicInteger failed = new AtomicInteger();
    try (KafkaProducer<String, byte[]> producer = new KafkaProducer<>(config, new StringSerializer(), new ByteArraySerializer())) {
      for (int index = 0; index < count; index++) {
        int number = index;
        producer.send(new ProducerRecord<>(args[1], String.valueOf(index), valueOf(index)), (metadata, error) -> {
          if (error != null) {
            if (failed.incrementAndGet() <= 5) System.out.println("failed " + number + ": " + error);
            return;
          }
          acknowledged[number] = true;
          int sofar = done.incrementAndGet();
          if (sofar % 1000 == 0) System.out.println("acknowledged " + sofar);
        });
      }
    }
    try (DataOutputStream file = new DataOutputStream(new BufferedOutputStream(new FileOutputStream(args[4])))) {
      for (int index = 0; index < count; index++) if (acknowledged[index]) file.writeInt(index);
    }
    System.out.println("done " + done + " failed " + failed);
  }
}
