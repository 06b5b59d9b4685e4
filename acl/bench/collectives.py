"""The rows of collective communication, and the processes that measure them.

The ranks are devices of one process, a child of the benchmark with a device for each rank: ``streams`` are called by
one thread for all ranks, ``threads`` by one thread each. Beside them, PyTorch's gloo takes the same samples with a
process for each rank, where torch is installed. A way to place ranks is a name in :data:`WAYS` and a function of
:mod:`acl.bench.collective_ranks`; ranks as processes would be started as :class:`Gloo` starts its own.
"""

import os
import sys
import tempfile
from contextlib import ExitStack
from importlib.util import find_spec
from typing import Any, Callable, NamedTuple, Optional, Protocol

import acl
from acl.bench.child import Child, slowest

GROUP = "collectives"
WAYS = ("streams", "queued", "threads")
QUEUED = 1000  # operations that are queued before one synchronise
MOST, MOST_PROCESSES = 8, 4  # ranks
SECONDS = 0.003  # that a sample takes at least
NOT_INSTALLED = "not installed"
KIB, MIB = 1 << 10, 1 << 20
# Bytes on the bus of the busiest rank for each byte of the operation's buffer, as nccl-tests count them.
BUS: dict[str, Callable[[int], float]] = {
    "all_reduce": lambda ranks: 2 * (ranks - 1) / ranks,
    "reduce_scatter": lambda ranks: (ranks - 1) / ranks,
    "all_gather": lambda ranks: (ranks - 1) / ranks,
    "all_to_all": lambda ranks: (ranks - 1) / ranks,
    "broadcast": lambda ranks: 1.0,
    "send_receive": lambda ranks: 1.0,
}
TYPES = "float32", "float16", "bfloat16", "int32"


class Case(NamedTuple):
    """One row: the operation, the bytes of its larger buffer, the type, the number of ranks, and where they are."""

    operation: str
    size: int
    kind: str
    ranks: int
    way: str

    @property
    def name(self) -> str:
        """The name of the row."""
        kind = "" if self.kind == "float32" else f"_{self.kind}"
        way = "" if self.way == "streams" else f"_{self.way}"
        return f"{self.operation}{kind}_{sized(self.size).replace(' ', '')}_{self.ranks}{way}"

    @property
    def label(self) -> str:
        """The line that says what is timed."""
        way = {"streams": "a stream each", "threads": "a thread each", "queued": f"{QUEUED:,} queued: each"}[self.way]
        what = self.operation.replace("_", "-")
        return f"{what[0].upper()}{what[1:]} of {sized(self.size)}, {self.kind}, {self.ranks} ranks, {way}"

    @property
    def bus(self) -> float:
        """Bytes on the bus."""
        return self.size * BUS[self.operation](self.ranks)


def sized(size: int) -> str:
    """Return a number of bytes as a text."""
    unit, name = (MIB, "MiB") if size >= MIB else (KIB, "KiB") if size >= KIB else (1, "B")
    return f"{size // unit} {name}"


CASES = (
    *(Case("all_reduce", size, "float32", ranks, "streams")
      for ranks in (2, 4) for size in (4, KIB, 64 * KIB, MIB, 64 * MIB)),
    *(Case("all_reduce", size, "float32", MOST, "streams") for size in (4, MIB)),
    *(Case("all_reduce", MIB, kind, 4, "streams") for kind in TYPES if kind != "float32"),
    *(Case(operation, MIB, "float32", 4, "streams") for operation in BUS if operation != "all_reduce"),
    Case("all_reduce", 4, "float32", 4, "queued"),
    *(Case("all_reduce", size, "float32", 4, "threads") for size in (4, MIB)),
)  # fmt: skip


# --- processes


class Group(Protocol):
    """Processes that take samples."""

    def sample(self, case: Case, number: int) -> float:
        """Run an operation a number of times and return the seconds of one."""

    def close(self) -> None:
        """End the processes."""


class OneProcess:
    """A process with a device for each rank."""

    def __init__(self) -> None:
        changes = {"ACL_BACKEND": acl.backend, "ACL_SIM_DEVICES": str(MOST)}
        program = "from acl.bench.collective_ranks import serve; serve()"
        self.child = Child([sys.executable, "-c", program], {**os.environ, **changes}, "the process of the ranks")

    def sample(self, case: Case, number: int) -> float:
        """Run an operation a number of times and return the seconds of one."""
        return slowest([self.child], [*case, number])

    def close(self) -> None:
        """End the process."""
        self.child.close()


class Gloo:
    """A process with PyTorch for each rank."""

    def __init__(self) -> None:
        self.folder = tempfile.TemporaryDirectory(prefix="acl-bench-")
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"}
        environment["TORCH_DEVICE_BACKEND_AUTOLOAD"] = "0"
        program = os.path.join(os.path.dirname(__file__), "gloo_rank.py")
        meeting = os.path.join(self.folder.name, "meeting")
        self.children = [
            Child([sys.executable, "-W", "ignore", program, meeting, str(rank)], environment, f"rank {rank} of gloo")
            for rank in range(MOST_PROCESSES)
        ]
        self.version = str([child.read() for child in self.children][0])

    def sample(self, case: Case, number: int) -> float:
        """Run an operation a number of times and return the seconds of one, on the slowest rank."""
        return slowest(self.children[: case.ranks], [*case, number])

    def close(self) -> None:
        """End the processes."""
        for child in self.children:
            child.close()
        self.folder.cleanup()


class Shared:
    """Processes that several rows use: started for the first row, and ended with the last."""

    def __init__(self, start: Callable[[], Any]) -> None:
        self.start, self.users = start, 0
        self.group: Any = None

    def use(self, stack: ExitStack) -> Any:
        """Return the processes, which run at least until the stack is closed."""
        if not self.users:
            self.group = self.start()
        self.users += 1
        stack.callback(self._release)
        return self.group

    def _release(self) -> None:
        self.users -= 1
        if not self.users:
            self.group.close()


ONE_PROCESS, GLOO = Shared(OneProcess), Shared(Gloo)


def sampler(group: Group, case: Case) -> Callable[[], float]:
    """Return a function that takes a sample, after choosing how many operations last long enough."""
    group.sample(case, 1)  # what is done only once
    operations = QUEUED if case.way == "queued" else 1  # of a sample whose number is 1
    number = max(1, round(SECONDS / operations / group.sample(case, 1)))
    return lambda: group.sample(case, number)


class Samples(NamedTuple):
    """Functions that take samples: of a row, and of gloo if it can."""

    ours: Callable[[], float]
    gloo: Optional[Callable[[], float]]
    is_compared: bool  # whether gloo has this row where it is installed


def prepare(case: Case, stack: ExitStack) -> Samples:
    """Return what takes the samples of a row."""
    ours = sampler(ONE_PROCESS.use(stack), case)
    is_compared = case.way == "streams" and case.ranks <= MOST_PROCESSES
    if not is_compared or find_spec("torch") is None:
        return Samples(ours, None, is_compared)
    return Samples(ours, sampler(GLOO.use(stack), case), True)


def about() -> str:
    """Return which gloo was measured."""
    return NOT_INSTALLED if GLOO.group is None else f"that of torch {GLOO.group.version}"
