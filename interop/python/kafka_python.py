# Drives kafka-python for the interop table.
import sys
import threading
import time

import kafka
from answer import Assignment, by_partition, serve, text
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition
from kafka.admin import ConfigResource, ConfigResourceType
from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor
from kafka.coordinator.assignors.range import RangePartitionAssignor

BOOTSTRAP = {"bootstrap_servers": sys.argv[1]}
members = {}

# A poll whose time is over in the middle of a rebalance loses what that round assigned (a fault of this client), so polls are long.
LONG_MS = 25_000


def admin(ask):
    topic = ask["topic"]
    with KafkaAdminClient(**BOOTSTRAP) as client:
        client.create_topics({topic: {"num_partitions": ask["partitions"], "replication_factor": 1, "configs": ask["config"]}}, wait_for_metadata=True)
        described = describe(client, ask)
        client.alter_configs([ConfigResource(ConfigResourceType.TOPIC, topic, ask["alter"])])
        client.create_partitions({topic: ask["total"]})
        return {"described": described, "altered": describe(client, ask), "topics": client.list_topics()}


def describe(client, ask):
    found = client.describe_configs([ConfigResource(ConfigResourceType.TOPIC, ask["topic"], ask["config"])], config_filter="all")
    configs = {name: value for kind in found.values() for entries in kind.values() for name, value in entries.items()}
    partitions = client.describe_topics([ask["topic"]])[0]["partitions"]
    return {"partitions": len(partitions), "config": {name: configs[name]["value"] for name in ask["config"]}}


def produce(ask):
    codec = None if ask["codec"] == "none" else ask["codec"]
    producer = KafkaProducer(**BOOTSTRAP, compression_type=codec, acks="all", linger_ms=20, enable_idempotence=ask["idempotent"])
    sent = [
        producer.send(
            ask["topic"],
            record["value"].encode(),
            record["key"].encode(),
            headers=[(name, value.encode()) for name, value in record["headers"]],
            timestamp_ms=record["timestamp"],
        )
        for record in ask["records"]
    ]
    producer.flush(30)
    at = [{"partition": one.get(1).partition, "offset": one.get(1).offset} for one in sent]
    producer.close()
    return {"at": at}


def consumer(group, **more):
    return KafkaConsumer(**BOOTSTRAP, group_id=group, auto_offset_reset="earliest", enable_auto_commit=False, **more)


def subscribed(one, topic, **listener):
    """
    With the topic's metadata there before it joins: this client's leader joins again when its metadata is not what it assigned by, and
    the update that a subscription asks for may come much later, behind a fetch that waits. Listing topics waits for an update.
    """
    one.subscribe([topic], **listener)
    one.topics()
    return one


def consume(ask):
    one = subscribed(consumer(ask["group"]), ask["topic"])
    records = read(one, ask["count"])
    one.commit()
    one.close()
    return {"records": records}


def read(one, count):
    records, deadline = [], time.monotonic() + 30
    while len(records) < count and time.monotonic() < deadline:
        for batch in one.poll(timeout_ms=LONG_MS).values():
            for message in batch:
                records.append(
                    {
                        "partition": message.partition,
                        "offset": message.offset,
                        "timestamp": message.timestamp,
                        "key": text(message.key),
                        "value": text(message.value),
                        "headers": [[name, text(value)] for name, value in message.headers],
                    }
                )
    return records


def committed(ask):
    with KafkaAdminClient(**BOOTSTRAP) as client:
        found = client.list_group_offsets(ask["group"])[ask["group"]]
    return {"offsets": by_partition((place.partition, one.offset) for place, one in found.items())}


def seek(ask):
    one = consumer(None)
    places = [TopicPartition(ask["topic"], partition) for partition in one.partitions_for_topic(ask["topic"])]
    one.assign(places)
    found = one.offsets_for_times({place: ask["timestamp"] for place in places})
    for place in places:
        if found[place] is None:
            one.seek_to_end(place)
        else:
            one.seek(place, found[place].offset)
    records = read(one, ask["count"])
    one.close()
    return {"offsets": by_partition((place.partition, at.offset) for place, at in found.items() if at), "records": records}


class Member(kafka.ConsumerRebalanceListener):
    def __init__(self, ask):
        assignor = CooperativeStickyAssignor if ask["strategy"] == "cooperative" else RangePartitionAssignor
        more = {"session_timeout_ms": 10000, "heartbeat_interval_ms": 300, "partition_assignment_strategy": [assignor]}
        if ask.get("instanceId"):
            more["group_instance_id"] = ask["instanceId"]
        self.consumer, self.assignment, self.stopping, self.error = consumer(ask["group"], **more), Assignment(), False, None
        self.topic = ask["topic"]
        subscribed(self.consumer, ask["topic"], listener=self)
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def on_partitions_assigned(self, added):
        self.assignment.add(added)

    def on_partitions_revoked(self, lost):
        self.assignment.remove(lost)

    def run(self):
        try:
            while not self.stopping:
                self.consumer.poll(timeout_ms=LONG_MS)
            self.consumer.close()
        except Exception as error:
            self.error = error

    def stop(self):
        self.stopping = True
        # A record in every partition ends the poll.
        producer = KafkaProducer(**BOOTSTRAP)
        for partition in range(3):
            producer.send(self.topic, b"stop", partition=partition)
        producer.close()
        self.thread.join(40)
        if self.error:
            raise self.error


def join(ask):
    members[ask["member"]] = Member(ask)


def assignment(ask):
    member = members[ask["member"]]
    if member.error:
        raise member.error
    return member.assignment.look()


def delete(ask):
    topic = ask["topic"]
    with KafkaAdminClient(**BOOTSTRAP) as client:
        places = {TopicPartition(topic, int(partition)): offset for partition, offset in ask["before"].items()}
        client.delete_records(places)
        one = consumer(None)
        earliest = one.beginning_offsets(list(places))
        one.close()
        client.delete_groups([ask["group"]])
        client.delete_topics([topic])
        groups = [group["group_id"] for group in client.list_groups()]
        return {"earliest": by_partition((place.partition, at) for place, at in earliest.items()), "groups": groups, "topics": client.list_topics()}


def transaction(ask):
    producer = KafkaProducer(**BOOTSTRAP, transactional_id=ask["id"], max_block_ms=20000)
    try:
        producer.init_transactions()
    finally:
        producer.close(timeout=2)


serve(
    {
        "hello": lambda _: {
            "version": kafka.__version__,
            "codecs": ["none", "gzip", "snappy", "lz4", "zstd"],
            "can": "timestamps headers offsets idempotent static cooperative transactions admin configs committed deleteRecords seek codes".split(),
        },
        "admin": admin,
        "produce": produce,
        "consume": consume,
        "committed": committed,
        "seek": seek,
        "join": join,
        "assignment": assignment,
        "leave": lambda ask: members.pop(ask["member"]).stop(),
        "delete": delete,
        "transaction": transaction,
    },
    lambda error: getattr(error, "errno", -1),
)
