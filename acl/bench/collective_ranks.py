"""The ranks of one process: a child of the benchmark runs operations as it is asked (:mod:`acl.bench.collectives`)."""

import json
import sys
import threading
import time
from functools import lru_cache, partial
from typing import Any, Callable

import acl
from acl.bench.collectives import QUEUED, Case
from acl.data_types import DATA_TYPES

Calls = list[Callable[[], Any]]
BYTES = {kind.name: kind.bits // 8 for kind in DATA_TYPES.values()}


class Ranks:
    """Communicators of the first devices, with a stream each."""

    def __init__(self, size: int) -> None:
        devices = [acl.Device(number).use() for number in range(size)]
        self.size, self.comms, self.streams = size, acl.Communicator.all(devices), []
        for device in devices:
            device.use()
            self.streams.append(acl.Stream())

    def calls(self, case: Case) -> Calls:
        """Return a call per rank."""
        rows, count = self.size, max(case.size // BYTES[case.kind], 1)
        kind: Any = case.kind
        if kind == "bfloat16":
            import ml_dtypes

            kind = ml_dtypes.bfloat16
        found: Calls = []
        for comm, stream in zip(self.comms, self.streams):
            stream.use_context()
            array = acl.DeviceArray.zeros((rows, count // rows) if count >= rows else count, kind)
            call = partial(getattr(comm, case.operation), stream=stream) if case.operation != "send_receive" else None
            if call is None:
                found.append(partial(_pass_on, comm, array, acl.DeviceArray(array.shape, kind), stream))
            elif case.operation == "broadcast":
                found.append(partial(call, array))
            elif case.operation == "all_gather":
                found.append(partial(call, array[comm.rank], out=array))
            elif case.operation == "reduce_scatter":
                found.append(partial(call, array, out=acl.DeviceArray(array.shape[1:], kind)))
            elif case.operation == "all_to_all":
                found.append(partial(call, array, out=acl.DeviceArray(array.shape, kind)))
            else:
                found.append(partial(call, array, out=array))
        return found


def _pass_on(comm: acl.Communicator, array: acl.DeviceArray, out: acl.DeviceArray, stream: acl.Stream) -> None:
    """Send an array to the next rank, and receive that of the one before."""
    with comm.group():
        comm.send(array, (comm.rank + 1) % comm.size, stream=stream)
        comm.receive(out, (comm.rank - 1) % comm.size, stream=stream)


def streams(ranks: Ranks, calls: Calls, number: int, queued: int = 1) -> float:
    """Call for all ranks in one thread, and synchronise after every ``queued`` calls of each."""
    pairs = list(zip(ranks.streams, calls))
    begin = time.perf_counter()
    for _ in range(number):
        for _ in range(queued):
            for stream, call in pairs:
                stream.use_context()
                call()
        for stream, _ in pairs:
            stream.synchronize()
    return (time.perf_counter() - begin) / number / queued


def threads(ranks: Ranks, calls: Calls, number: int) -> float:
    """Call and synchronise in a thread per rank."""
    ready = threading.Barrier(ranks.size)
    times: list[tuple[float, float]] = []

    def run(stream: acl.Stream, call: Callable[[], Any]) -> None:
        stream.use_context()
        ready.wait()
        begin = time.perf_counter()
        for _ in range(number):
            call()
            stream.synchronize()
        times.append((begin, time.perf_counter()))

    made = [threading.Thread(target=run, args=pair) for pair in zip(ranks.streams, calls)]
    for thread in made:
        thread.start()
    for thread in made:
        thread.join()
    return (max(end for _, end in times) - min(begin for begin, _ in times)) / number


RUN: dict[str, Callable[[Ranks, Calls, int], float]] = {
    "streams": streams,
    "queued": partial(streams, queued=QUEUED),
    "threads": threads,
}


def serve() -> None:
    """Answer each case with the seconds of one operation, or with the text of an error."""
    ranks = lru_cache(Ranks)
    calls = lru_cache(lambda case: ranks(case.ranks).calls(case))
    for line in sys.stdin:
        *parts, number = json.loads(line)
        case = Case(*parts)
        try:
            answer: Any = RUN[case.way](ranks(case.ranks), calls(case), number)
        except (RuntimeError, ImportError) as error:
            answer = f"{type(error).__name__}: {error}"
        print(json.dumps(answer), flush=True)
