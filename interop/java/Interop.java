// Drives the Java client for the interop table: one JSON line in, one out (interop/README.md has the contract).
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.Future;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndTimestamp;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

public class Interop {
  static final ObjectMapper JSON = new ObjectMapper();
  static final Map<String, Member> members = new HashMap<>();
  static String bootstrap;

  public static void main(String[] args) throws Exception {
    bootstrap = args[0];
    PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line; (line = in.readLine()) != null; ) {
      Map<String, Object> answer;
      try {
        answer = answer(JSON.readTree(line));
      } catch (Throwable error) {
        Throwable cause = error instanceof java.util.concurrent.ExecutionException ? error.getCause() : error;
        answer = new HashMap<>(Map.of("error", String.valueOf(cause), "code", codeOf(cause)));
      }
      out.println(JSON.writeValueAsString(answer));
    }
    System.exit(0);
  }

  static Map<String, Object> answer(JsonNode ask) throws Exception {
    switch (ask.get("do").asText()) {
      case "hello":
        return Map.of("version", version(), "codecs", List.of("none", "gzip", "snappy", "lz4", "zstd"),
            "can", List.of("timestamps", "headers", "offsets", "idempotent", "static", "cooperative", "transactions", "admin", "configs", "committed", "deleteRecords", "seek", "codes"));
      case "admin": return admin(ask);
      case "produce": return produce(ask);
      case "consume": return consume(ask);
      case "committed": return committed(ask);
      case "seek": return seek(ask);
      case "delete": return delete(ask);
      case "transaction": return transaction(ask);
      case "join":
        members.put(ask.get("member").asText(), new Member(ask));
        return Map.of();
      case "assignment": return members.get(ask.get("member").asText()).look();
      case "leave":
        members.remove(ask.get("member").asText()).stop();
        return Map.of();
      default: throw new IllegalArgumentException("unknown: " + ask);
    }
  }

  static String version() throws Exception {
    Properties jar = new Properties();
    jar.load(KafkaProducer.class.getResourceAsStream("/kafka/kafka-version.properties"));
    return jar.getProperty("version");
  }

  static Map<String, Object> admin(JsonNode ask) throws Exception {
    String topic = ask.get("topic").asText();
    try (Admin admin = Admin.create(common())) {
      NewTopic creation = new NewTopic(topic, ask.get("partitions").asInt(), (short) 1).configs(JSON.convertValue(ask.get("config"), Map.class));
      admin.createTopics(List.of(creation)).all().get();
      Map<String, Object> described = describe(admin, ask);
      ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, topic);
      List<AlterConfigOp> ops = new ArrayList<>();
      ask.get("alter").fields().forEachRemaining(field ->
          ops.add(new AlterConfigOp(new ConfigEntry(field.getKey(), field.getValue().asText()), AlterConfigOp.OpType.SET)));
      admin.incrementalAlterConfigs(Map.of(resource, ops)).all().get();
      admin.createPartitions(Map.of(topic, NewPartitions.increaseTo(ask.get("total").asInt()))).all().get();
      return Map.of("described", described, "altered", describe(admin, ask), "topics", admin.listTopics().names().get());
    }
  }

  static Map<String, Object> describe(Admin admin, JsonNode ask) throws Exception {
    String topic = ask.get("topic").asText();
    ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, topic);
    Map<String, String> config = new HashMap<>();
    for (ConfigEntry entry : admin.describeConfigs(List.of(resource)).all().get().get(resource).entries()) {
      if (ask.get("config").has(entry.name()) || ask.get("alter").has(entry.name())) config.put(entry.name(), entry.value());
    }
    return Map.of("partitions", admin.describeTopics(List.of(topic)).allTopicNames().get().get(topic).partitions().size(), "config", config);
  }

  static Map<String, Object> produce(JsonNode ask) throws Exception {
    Properties properties = common();
    properties.put("compression.type", ask.get("codec").asText());
    properties.put("acks", "all");
    properties.put("linger.ms", "20");
    properties.put("enable.idempotence", String.valueOf(ask.get("idempotent").asBoolean()));
    List<Future<RecordMetadata>> sent = new ArrayList<>();
    try (KafkaProducer<String, String> producer = new KafkaProducer<>(properties, new StringSerializer(), new StringSerializer())) {
      for (JsonNode record : ask.get("records")) {
        ProducerRecord<String, String> one =
            new ProducerRecord<>(ask.get("topic").asText(), null, record.get("timestamp").asLong(), text(record.get("key")), text(record.get("value")));
        record.get("headers").forEach(header -> one.headers().add(header.get(0).asText(), header.get(1).asText().getBytes(StandardCharsets.UTF_8)));
        sent.add(producer.send(one));
      }
      producer.flush();
      List<Map<String, Object>> at = new ArrayList<>();
      for (Future<RecordMetadata> one : sent) at.add(Map.of("partition", one.get().partition(), "offset", one.get().offset()));
      return Map.of("at", at);
    }
  }

  static Map<String, Object> consume(JsonNode ask) throws Exception {
    Properties properties = common();
    properties.put("group.id", ask.get("group").asText());
    properties.put("auto.offset.reset", "earliest");
    properties.put("enable.auto.commit", "false");
    try (KafkaConsumer<String, String> consumer = new KafkaConsumer<>(properties, new StringDeserializer(), new StringDeserializer())) {
      consumer.subscribe(List.of(ask.get("topic").asText()));
      List<Object> records = read(consumer, ask.get("count").asInt());
      consumer.commitSync();
      return Map.of("records", records);
    }
  }

  static Map<String, Object> committed(JsonNode ask) throws Exception {
    Map<String, Object> offsets = new TreeMap<>();
    try (Admin admin = Admin.create(common())) {
      admin.listConsumerGroupOffsets(ask.get("group").asText()).partitionsToOffsetAndMetadata().get()
          .forEach((partition, offset) -> offsets.put(String.valueOf(partition.partition()), offset.offset()));
    }
    return Map.of("offsets", offsets);
  }

  static Map<String, Object> seek(JsonNode ask) throws Exception {
    Properties properties = common();
    properties.put("enable.auto.commit", "false");
    try (KafkaConsumer<String, String> consumer = new KafkaConsumer<>(properties, new StringDeserializer(), new StringDeserializer())) {
      Map<TopicPartition, Long> times = new HashMap<>();
      consumer.partitionsFor(ask.get("topic").asText())
          .forEach(one -> times.put(new TopicPartition(one.topic(), one.partition()), ask.get("timestamp").asLong()));
      consumer.assign(times.keySet());
      Map<String, Object> offsets = new TreeMap<>();
      for (Map.Entry<TopicPartition, OffsetAndTimestamp> found : consumer.offsetsForTimes(times).entrySet()) {
        if (found.getValue() == null) consumer.seekToEnd(List.of(found.getKey()));
        else {
          consumer.seek(found.getKey(), found.getValue().offset());
          offsets.put(String.valueOf(found.getKey().partition()), found.getValue().offset());
        }
      }
      return Map.of("offsets", offsets, "records", read(consumer, ask.get("count").asInt()));
    }
  }

  static Map<String, Object> delete(JsonNode ask) throws Exception {
    String topic = ask.get("topic").asText();
    try (Admin admin = Admin.create(common())) {
      Map<TopicPartition, RecordsToDelete> before = new HashMap<>();
      Map<TopicPartition, OffsetSpec> earliest = new HashMap<>();
      ask.get("before").fields().forEachRemaining(field -> {
        TopicPartition partition = new TopicPartition(topic, Integer.parseInt(field.getKey()));
        before.put(partition, RecordsToDelete.beforeOffset(field.getValue().asLong()));
        earliest.put(partition, OffsetSpec.earliest());
      });
      admin.deleteRecords(before).all().get();
      Map<String, Object> offsets = new TreeMap<>();
      admin.listOffsets(earliest).all().get().forEach((partition, found) -> offsets.put(String.valueOf(partition.partition()), found.offset()));
      admin.deleteConsumerGroups(List.of(ask.get("group").asText())).all().get();
      admin.deleteTopics(List.of(topic)).all().get();
      List<String> groups = new ArrayList<>();
      admin.listConsumerGroups().all().get().forEach(one -> groups.add(one.groupId()));
      return Map.of("earliest", offsets, "groups", groups, "topics", admin.listTopics().names().get());
    }
  }

  static Map<String, Object> transaction(JsonNode ask) {
    Properties properties = common();
    properties.put("transactional.id", ask.get("id").asText());
    try (KafkaProducer<String, String> producer = new KafkaProducer<>(properties, new StringSerializer(), new StringSerializer())) {
      producer.initTransactions();
      return Map.of();
    }
  }

  static List<Object> read(KafkaConsumer<String, String> consumer, int count) {
    List<Object> records = new ArrayList<>();
    for (long deadline = System.currentTimeMillis() + 30_000; records.size() < count && System.currentTimeMillis() < deadline; ) {
      for (ConsumerRecord<String, String> one : consumer.poll(Duration.ofMillis(200))) {
        List<Object> headers = new ArrayList<>();
        for (Header header : one.headers()) headers.add(List.of(header.key(), new String(header.value(), StandardCharsets.UTF_8)));
        Map<String, Object> record = new HashMap<>(Map.of("partition", one.partition(), "offset", one.offset(), "timestamp", one.timestamp()));
        record.put("key", one.key());
        record.put("value", one.value());
        record.put("headers", headers);
        records.add(record);
      }
    }
    return records;
  }

  static Properties common() {
    Properties properties = new Properties();
    properties.put("bootstrap.servers", bootstrap);
    return properties;
  }

  static String text(JsonNode node) {
    return node.isNull() ? null : node.asText();
  }

  static int codeOf(Throwable error) {
    return error instanceof ApiException ? Errors.forException(error).code() : -1;
  }

  /** A member of a group that polls on a thread of its own and remembers what it was assigned. */
  static class Member implements ConsumerRebalanceListener {
    final KafkaConsumer<String, String> consumer;
    final Thread thread;
    volatile boolean stopping;
    final Set<Integer> partitions = new TreeSet<>();
    int rebalances;
    volatile String error;

    Member(JsonNode ask) {
      Properties properties = common();
      properties.put("group.id", ask.get("group").asText());
      properties.put("auto.offset.reset", "earliest");
      properties.put("session.timeout.ms", "10000");
      properties.put("heartbeat.interval.ms", "300");
      properties.put("partition.assignment.strategy", "org.apache.kafka.clients.consumer."
          + (ask.get("strategy").asText().equals("cooperative") ? "CooperativeStickyAssignor" : "RangeAssignor"));
      if (ask.hasNonNull("instanceId")) properties.put("group.instance.id", ask.get("instanceId").asText());
      consumer = new KafkaConsumer<>(properties, new StringDeserializer(), new StringDeserializer());
      consumer.subscribe(List.of(ask.get("topic").asText()), this);
      thread = new Thread(() -> {
        try {
          while (!stopping) consumer.poll(Duration.ofMillis(50));
          consumer.close();
        } catch (Throwable failure) {
          error = String.valueOf(failure);
        }
      });
      thread.start();
    }

    @Override public synchronized void onPartitionsAssigned(Collection<TopicPartition> added) {
      added.forEach(partition -> partitions.add(partition.partition()));
      rebalances++;
    }

    @Override public synchronized void onPartitionsRevoked(Collection<TopicPartition> removed) {
      removed.forEach(partition -> partitions.remove(partition.partition()));
    }

    synchronized Map<String, Object> look() {
      if (error != null) throw new IllegalStateException(error);
      return Map.of("partitions", List.copyOf(partitions), "rebalances", rebalances);
    }

    void stop() throws InterruptedException {
      stopping = true;
      thread.join(20_000);
      if (error != null) throw new IllegalStateException(error);
    }
  }
}
