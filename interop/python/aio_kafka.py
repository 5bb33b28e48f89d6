# Drives aiokafka for the interop table.
import asyncio
import sys
import threading

import aiokafka
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, ConsumerRebalanceListener, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewPartitions, NewTopic, RecordsToDelete
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType
from aiokafka.coordinator.assignors.range import RangePartitionAssignor
from answer import Assignment, by_partition, serve, text

BOOTSTRAP = {"bootstrap_servers": sys.argv[1]}
members = {}
loop = asyncio.new_event_loop()
threading.Thread(target=loop.run_forever, daemon=True).start()


def awaited(handler):
    return lambda ask: asyncio.run_coroutine_threadsafe(handler(ask), loop).result(55)


def with_admin(handler):
    async def run(ask):
        client = AIOKafkaAdminClient(**BOOTSTRAP)
        await client.start()
        try:
            return await handler(client, ask)
        finally:
            await client.close()

    return awaited(run)


def checked(response):
    """The admin client hands out raw answers: an error code in one of them is a failure here."""
    for entries in (getattr(response, "topic_errors", None), getattr(response, "topic_error_codes", None)):
        for _, code, *rest in entries or []:
            if code != 0:
                raise aiokafka.errors.for_code(code)(*rest)
    return response


async def admin(client, ask):
    topic = ask["topic"]
    checked(await client.create_topics([NewTopic(topic, ask["partitions"], 1, topic_configs=ask["config"])]))
    described = await describe(client, ask)
    # The client has the old AlterConfigs only: what is not named goes back to its default.
    await client.alter_configs([ConfigResource(ConfigResourceType.TOPIC, topic, {**ask["config"], **ask["alter"]})])
    checked(await client.create_partitions({topic: NewPartitions(ask["total"])}))
    return {"described": described, "altered": await describe(client, ask), "topics": await client.list_topics()}


async def describe(client, ask):
    answer = (await client.describe_configs([ConfigResource(ConfigResourceType.TOPIC, ask["topic"], ask["config"])]))[0]
    entries = answer.resources[0][4]
    partitions = (await client.describe_topics([ask["topic"]]))[0]["partitions"]
    return {"partitions": len(partitions), "config": {entry[0]: entry[1] for entry in entries}}


async def produce(ask):
    codec = None if ask["codec"] == "none" else ask["codec"]
    producer = AIOKafkaProducer(**BOOTSTRAP, compression_type=codec, acks="all", linger_ms=20, enable_idempotence=ask["idempotent"])
    await producer.start()
    try:
        sent = [
            await producer.send(
                ask["topic"],
                record["value"].encode(),
                record["key"].encode(),
                headers=[(name, value.encode()) for name, value in record["headers"]],
                timestamp_ms=record["timestamp"],
            )
            for record in ask["records"]
        ]
        done = await asyncio.gather(*sent)
        return {"at": [{"partition": one.partition, "offset": one.offset} for one in done]}
    finally:
        await producer.stop()


def consumer(group, *topics, **more):
    return AIOKafkaConsumer(*topics, **BOOTSTRAP, group_id=group, auto_offset_reset="earliest", enable_auto_commit=False, **more)


async def consume(ask):
    one = consumer(ask["group"], ask["topic"])
    await one.start()
    try:
        records = await read(one, ask["count"])
        await one.commit()
        return {"records": records}
    finally:
        await one.stop()


async def read(one, count):
    records, deadline = [], loop.time() + 30
    while len(records) < count and loop.time() < deadline:
        for batch in (await one.getmany(timeout_ms=200)).values():
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


async def committed(client, ask):
    found = await client.list_consumer_group_offsets(ask["group"])
    return {"offsets": by_partition((place.partition, one.offset) for place, one in found.items())}


async def seek(ask):
    one = consumer(None)
    await one.start()
    try:
        places = [TopicPartition(ask["topic"], partition) for partition in range(3)]
        one.assign(places)
        found = await one.offsets_for_times({place: ask["timestamp"] for place in places})
        for place in places:
            if found[place] is None:
                await one.seek_to_end(place)
            else:
                one.seek(place, found[place].offset)
        records = await read(one, ask["count"])
        return {"offsets": by_partition((place.partition, at.offset) for place, at in found.items() if at), "records": records}
    finally:
        await one.stop()


class Member(ConsumerRebalanceListener):
    def __init__(self, ask):
        more = {"session_timeout_ms": 10000, "heartbeat_interval_ms": 300, "partition_assignment_strategy": [RangePartitionAssignor]}
        if ask.get("instanceId"):
            more["group_instance_id"] = ask["instanceId"]
        self.consumer, self.assignment, self.topic = consumer(ask["group"], **more), Assignment(), ask["topic"]

    async def start(self):
        await self.consumer.start()
        self.consumer.subscribe([self.topic], listener=self)

    async def on_partitions_assigned(self, added):
        self.assignment.add(added)

    async def on_partitions_revoked(self, lost):
        self.assignment.remove(lost)


async def join(ask):
    members[ask["member"]] = Member(ask)
    await members[ask["member"]].start()


async def leave(ask):
    await members.pop(ask["member"]).consumer.stop()


async def delete(client, ask):
    topic = ask["topic"]
    places = {TopicPartition(topic, int(partition)): RecordsToDelete(offset) for partition, offset in ask["before"].items()}
    await client.delete_records(places)
    one = consumer(None)
    await one.start()
    earliest = await one.beginning_offsets(list(places))
    await one.stop()
    checked(await client.delete_topics([topic]))
    return {"earliest": by_partition((place.partition, at) for place, at in earliest.items()), "topics": await client.list_topics()}


async def transaction(ask):
    producer = AIOKafkaProducer(**BOOTSTRAP, transactional_id=ask["id"])
    try:
        await asyncio.wait_for(producer.start(), 25)
    finally:
        await producer.stop()


serve(
    {
        "hello": lambda _: {
            "version": aiokafka.__version__,
            "codecs": ["none", "gzip", "snappy", "lz4", "zstd"],
            "can": "timestamps headers offsets idempotent static transactions admin configs committed deleteRecords seek codes".split(),
        },
        "admin": with_admin(admin),
        "produce": awaited(produce),
        "consume": awaited(consume),
        "committed": with_admin(committed),
        "seek": awaited(seek),
        "join": awaited(join),
        "assignment": lambda ask: members[ask["member"]].assignment.look(),
        "leave": awaited(leave),
        "delete": with_admin(delete),
        "transaction": awaited(transaction),
    },
    lambda error: getattr(error, "errno", -1),
)
