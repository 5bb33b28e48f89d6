# The program's side of the contract for clients in Python: one JSON line in, one out, in order.
import json
import sys
import threading
import traceback


def serve(handlers, code_of):
    for line in sys.stdin:
        request = json.loads(line)
        try:
            reply = handlers[request["do"]](request) or {}
        except Exception as error:
            reply = {"error": "".join(traceback.format_exception(error))[-2000:], "code": code_of(error)}
        print(json.dumps(reply), flush=True)


def text(data):
    return None if data is None else data.decode("utf8")


def by_partition(pairs):
    return {str(partition): offset for partition, offset in pairs}


class Assignment:
    """What a member of a group was told of its partitions. Its client tells on another thread than the one that looks."""

    def __init__(self):
        self.lock, self.partitions, self.rebalances = threading.Lock(), set(), 0

    def add(self, places):
        with self.lock:
            self.partitions |= {place.partition for place in places}
            self.rebalances += 1

    def remove(self, places):
        with self.lock:
            self.partitions -= {place.partition for place in places}

    def look(self):
        with self.lock:
            return {"partitions": sorted(self.partitions), "rebalances": self.rebalances}
