"""Taking samples: rows are prepared once and timed in turn, one sample of each per round.

What disturbs a machine for a while then disturbs all rows alike. With two backends there is a child process for each,
since a process opens one library; the parent asks both for a sample of a row in turn, so that samples are pairs.
"""

import json
import os
import sys
import timeit
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from typing import Any, NamedTuple, Optional

import acl
from acl.bench import collectives, result, twin
from acl.bench.child import Child
from acl.bench.rows import Prepare, Row, Statement


class Effort(NamedTuple):
    """How many samples are taken of each row, and how long one lasts at least, in seconds."""

    rounds: int
    seconds: float


USUAL, QUICK = Effort(61, 0.01), Effort(15, 0.002)
Sample = Callable[[], float]  # takes a sample and returns the seconds of one call


class Sampler(NamedTuple):
    """What takes the samples of a row and of its twin; ``twin`` is None if there is none, or it cannot run.

    Twins are in C, and those of collectives in PyTorch.
    """

    row: Sample
    twin: Optional[Sample] = None
    has_twin: bool = False

    def pair(self) -> tuple[float, Optional[float]]:
        """Take a sample of the row, and then one of the twin."""
        return self.row(), self.twin() if self.twin else None


class Measured(NamedTuple):
    """The machine and the library, the samples of each row, the reasons for rows left out, and the twins' samples.

    A twin that cannot run has an empty list; a row without a twin is not in ``twins``.
    """

    about: dict[str, Any]
    samples: dict[str, list[float]]
    skipped: dict[str, str]
    twins: dict[str, list[float]]

    def add(self, name: str, sample: float, beside: Optional[float]) -> None:
        """Add a sample of a row, and of its twin."""
        self.samples[name].append(sample)
        if beside is not None:
            self.twins[name].append(beside)


# What the opened library cannot do; other errors are faults of a row. AttributeError: it lacks an operator.
ERRORS = (RuntimeError, AttributeError)


def _sampler(prepare: Prepare, stack: ExitStack, seconds: float, twins: twin.Twins) -> Sampler:
    """Prepare a row and repeat its statement until a sample lasts long enough; that also warms it up."""
    timed = prepare(stack)
    if isinstance(timed, collectives.Samples):
        return Sampler(timed.ours, timed.gloo, timed.is_compared)
    if not isinstance(timed, Statement):
        timed()
        return Sampler(timed)
    timer, number = timeit.Timer(timed.text, globals=dict(timed.names)), 1
    acl.get_recent_err_msg()  # the next one is about this row
    timer.timeit(1)
    message = acl.get_recent_err_msg()  # the timed text looks at no status
    if message:
        raise RuntimeError(message)
    while timer.timeit(number) < seconds:
        number *= 2
    calls = number * timed.calls

    def sample() -> float:
        return timer.timeit(number) / calls

    return Sampler(
        sample, twins.sampler(timed.twin, number, timed.calls) if timed.twin else None, timed.twin is not None
    )


class Bench:
    """The rows of this process, ready to be timed; a context manager that releases them.

    Parameters
    ----------
    rows
        The rows to prepare.
    effort
        Its ``seconds`` are the least length of a sample.
    """

    def __init__(self, rows: Iterable[Row], effort: Effort) -> None:
        self.samplers: dict[str, Sampler] = {}
        self.skipped: dict[str, str] = {}
        twins = twin.build()
        self.about = {**result.about(), "twins": twins.about}
        self._stack = ExitStack()
        self._stack.enter_context(acl.Device(0))
        for row in rows:
            with ExitStack() as stack:
                try:
                    self.samplers[row.name] = _sampler(row.prepare, stack, effort.seconds, twins)
                except ERRORS as error:
                    self.skipped[row.name] = f"{type(error).__name__}: {error}"
                else:
                    self._stack.push(stack.pop_all())
                if row.group == collectives.GROUP:
                    self.about["gloo"] = collectives.about()

    def twins(self) -> list[str]:
        """Return the names of the rows with a twin, whether it can run or not."""
        return [name for name, sampler in self.samplers.items() if sampler.has_twin]

    def __enter__(self) -> "Bench":
        return self

    def __exit__(self, *error: Any) -> None:
        self._stack.close()


def in_turn(rounds: int, names: Sequence[str], tell: Callable[[str], None]) -> Iterator[tuple[int, str]]:
    """Yield the number of each round with each name; ``tell`` gets a line of progress per round."""
    for number in range(rounds):
        tell(f"round {number + 1} of {rounds}")
        for name in names:
            yield number, name


def measure(rows: Sequence[Row], effort: Effort, tell: Callable[[str], None]) -> Measured:
    """Time rows in this process.

    Parameters
    ----------
    rows
        What is timed.
    effort
        How often and how long.
    tell
        Is called with a line of progress per round.

    Returns
    -------
    Measured
        The samples are seconds per call.
    """
    with Bench(rows, effort) as bench:
        names = list(bench.samplers)
        found = Measured(bench.about, {name: [] for name in names}, bench.skipped, {name: [] for name in bench.twins()})
        for _, name in in_turn(effort.rounds, names, tell):
            found.add(name, *bench.samplers[name].pair())
        return found


# --- two backends in turn


def serve(rows: Iterable[Row], effort: Effort) -> None:
    """Time rows for a parent process: it writes names of rows to stdin, and reads seconds from stdout."""
    with Bench(rows, effort) as bench:
        told = {"names": list(bench.samplers), "skipped": bench.skipped, "about": bench.about, "twins": bench.twins()}
        print(json.dumps(told), flush=True)
        for line in sys.stdin:
            print(json.dumps(bench.samplers[json.loads(line)].pair()), flush=True)


class Backend(Child):
    """A process that times rows on a backend when it is asked.

    Parameters
    ----------
    backend
        ``sim`` or ``npu``.
    arguments
        The arguments of ``python -m acl bench`` that select rows and effort.
    """

    def __init__(self, backend: str, arguments: Sequence[str]) -> None:
        command = [sys.executable, "-m", "acl", "bench", "--serve", *arguments]
        environment = {**os.environ, "ACL_BACKEND": backend}
        super().__init__(command, environment, f"the benchmark with ACL_BACKEND={backend}")
        found = self.read()
        self.names: list[str] = found["names"]
        self.skipped: dict[str, str] = found["skipped"]
        self.about: dict[str, Any] = found["about"]
        self.twins: list[str] = found["twins"]

    def sample(self, name: str) -> tuple[float, Optional[float]]:
        """Return one sample of a row and one of its twin, in seconds per call."""
        self.ask(name)
        ours, beside = self.read()
        return ours, beside


def against(
    backends: tuple[str, str], arguments: Sequence[str], rounds: int, tell: Callable[[str], None]
) -> list[Measured]:
    """Time rows on two backends in turn.

    Parameters
    ----------
    backends
        Values of ``ACL_BACKEND``.
    arguments
        As in :class:`Backend`.
    rounds
        The number of samples of each row.
    tell
        Is called with a line of progress per round.

    Returns
    -------
    list of Measured
        One for each backend. Samples with the same index were taken one after the other.
    """
    children: list[Backend] = []
    try:
        children.extend(Backend(backend, arguments) for backend in backends)
        names = [name for name in children[0].names if name in children[1].names]
        found = [
            Measured(
                child.about,
                {name: [] for name in names},
                child.skipped,
                {name: [] for name in names if name in child.twins},
            )
            for child in children
        ]
        for number, name in in_turn(rounds, names, tell):
            for place in (0, 1) if number % 2 == 0 else (1, 0):  # neither is always the first
                found[place].add(name, *children[place].sample(name))
        return found
    finally:
        for child in children:
            child.close()


def tell_on_terminal(file: Optional[Any] = None) -> Callable[[str], None]:
    """Return a function that shows lines of progress on a terminal, one over the other, and elsewhere nothing."""
    out = file or sys.stderr
    if not out.isatty():
        return lambda text: None
    return lambda text: print(f"\r{text:<24}", end="\r", file=out, flush=True)
