# Drives confluent-kafka (librdkafka) for the interop table.
import sys
import threading
import time

import confluent_kafka
from answer import Assignment, by_partition, serve, text
from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource, NewPartitions, NewTopic, OffsetSpec

BOOTSTRAP = {"bootstrap.servers": sys.argv[1], "log_level": 0}
members = {}


def admin(ask):
    client, topic = AdminClient(BOOTSTRAP), ask["topic"]
    wait(client.create_topics([NewTopic(topic, ask["partitions"], 1, config=ask["config"])]))
    described = describe(client, ask)
    entries = [ConfigEntry(name, value, incremental_operation=AlterConfigOpType.SET) for name, value in ask["alter"].items()]
    wait(client.incremental_alter_configs([ConfigResource("topic", topic, incremental_configs=entries)]))
    wait(client.create_partitions([NewPartitions(topic, ask["total"])]))
    return {"described": described, "altered": describe(client, ask), "topics": list(client.list_topics().topics)}


def describe(client, ask):
    configs = wait(client.describe_configs([ConfigResource("topic", ask["topic"])]))[0]
    partitions = client.list_topics(ask["topic"]).topics[ask["topic"]].partitions
    return {"partitions": len(partitions), "config": {name: configs[name].value for name in ask["config"]}}


def wait(futures):
    return [future.result(30) for future in futures.values()]


def produce(ask):
    producer = Producer({**BOOTSTRAP, "compression.type": ask["codec"], "acks": "all", "linger.ms": 20, "enable.idempotence": ask["idempotent"]})
    at, errors = [None] * len(ask["records"]), []

    def told(index):
        def on_delivery(error, message):
            if error:
                errors.append(error)
            else:
                at[index] = {"partition": message.partition(), "offset": message.offset()}

        return on_delivery

    for index, record in enumerate(ask["records"]):
        producer.produce(
            ask["topic"], record["value"], record["key"], timestamp=record["timestamp"], headers=[tuple(one) for one in record["headers"]], on_delivery=told(index)
        )
    left = producer.flush(30)
    if errors or left:
        raise KafkaException(errors[0]) if errors else RuntimeError(f"{left} records were not acknowledged")
    return {"at": at}


def consumer(group, **more):
    return Consumer({**BOOTSTRAP, "group.id": group, "auto.offset.reset": "earliest", "enable.auto.commit": False, **more})


def consume(ask):
    one = consumer(ask["group"])
    one.subscribe([ask["topic"]])
    records = read(one, ask["count"])
    one.commit(asynchronous=False)
    one.close()
    return {"records": records}


def read(one, count):
    records, deadline = [], time.monotonic() + 30
    while len(records) < count and time.monotonic() < deadline:
        message = one.poll(0.2)
        if message is None:
            continue
        if message.error():
            raise KafkaException(message.error())
        records.append(
            {
                "partition": message.partition(),
                "offset": message.offset(),
                "timestamp": message.timestamp()[1],
                "key": text(message.key()),
                "value": text(message.value()),
                "headers": [[name, text(value)] for name, value in message.headers() or []],
            }
        )
    return records


def committed(ask):
    one = consumer(ask["group"])
    found = one.committed([TopicPartition(ask["topic"], partition) for partition in range(3)], timeout=20)
    one.close()
    return {"offsets": by_partition((place.partition, place.offset) for place in found if place.offset >= 0)}


def seek(ask):
    one = consumer(ask["topic"] + "-seek")
    found = one.offsets_for_times([TopicPartition(ask["topic"], partition, ask["timestamp"]) for partition in range(3)], timeout=20)
    one.assign(found)
    records = read(one, ask["count"])
    one.close()
    return {"offsets": by_partition((place.partition, place.offset) for place in found if place.offset >= 0), "records": records}


class Member:
    def __init__(self, ask):
        strategy = "cooperative-sticky" if ask["strategy"] == "cooperative" else "range"
        fixed = {"group.instance.id": ask["instanceId"]} if ask.get("instanceId") else {}
        more = {"session.timeout.ms": 10000, "heartbeat.interval.ms": 300, "partition.assignment.strategy": strategy}
        self.consumer, self.assignment, self.stopping = consumer(ask["group"], **more, **fixed), Assignment(), False
        self.consumer.subscribe(
            [ask["topic"]], on_assign=lambda _, added: self.assignment.add(added), on_revoke=lambda _, lost: self.assignment.remove(lost)
        )
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        while not self.stopping:
            self.consumer.poll(0.05)
        self.consumer.close()

    def stop(self):
        self.stopping = True
        self.thread.join(20)


def join(ask):
    members[ask["member"]] = Member(ask)


def delete(ask):
    client, topic = AdminClient(BOOTSTRAP), ask["topic"]
    wait(client.delete_records([TopicPartition(topic, int(partition), offset) for partition, offset in ask["before"].items()]))
    earliest = client.list_offsets({TopicPartition(topic, int(partition)): OffsetSpec.earliest() for partition in ask["before"]})
    offsets = by_partition((place.partition, future.result(20).offset) for place, future in earliest.items())
    wait(client.delete_consumer_groups([ask["group"]]))
    wait(client.delete_topics([topic]))
    groups = [one.group_id for one in client.list_consumer_groups().result(20).valid]
    return {"earliest": offsets, "groups": groups, "topics": list(client.list_topics().topics)}


def transaction(ask):
    Producer({**BOOTSTRAP, "transactional.id": ask["id"]}).init_transactions(30)


def code_of(error):
    return error.args[0].code() if isinstance(error, KafkaException) else -1


serve(
    {
        "hello": lambda _: {
            "version": confluent_kafka.version() if isinstance(confluent_kafka.version(), str) else confluent_kafka.version()[0],
            "codecs": ["none", "gzip", "snappy", "lz4", "zstd"],
            "can": "timestamps headers offsets idempotent static cooperative transactions admin configs committed deleteRecords seek codes".split(),
        },
        "admin": admin,
        "produce": produce,
        "consume": consume,
        "committed": committed,
        "seek": seek,
        "join": join,
        "assignment": lambda ask: members[ask["member"]].assignment.look(),
        "leave": lambda ask: members.pop(ask["member"]).stop(),
        "delete": delete,
        "transaction": transaction,
    },
    code_of,
)
