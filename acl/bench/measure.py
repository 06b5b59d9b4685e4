"""Taking samples: rows are prepared once and timed in turn, one sample of each per round.

What disturbs a machine for a while then disturbs all rows alike. With two backends there is a child process for each,
since a process opens one library; the parent asks both for a sample of a row in turn, so that samples are pairs.
"""

import json
import os
import subprocess
import sys
import timeit
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from typing import Any, NamedTuple, Optional

import acl
from acl.bench.rows import Prepare, Row, Statement


class Effort(NamedTuple):
    """How many samples are taken of each row, and how long one lasts at least, in seconds."""

    rounds: int
    seconds: float


USUAL, QUICK = Effort(61, 0.01), Effort(15, 0.002)
Sampler = Callable[[], float]  # takes a sample and returns the seconds of one call
# What the opened library cannot do; other errors are faults of a row. AttributeError: it lacks an operator.
ERRORS = (RuntimeError, AttributeError)


def _sampler(prepare: Prepare, stack: ExitStack, seconds: float) -> Sampler:
    """Prepare a row and repeat its statement until a sample lasts long enough; that also warms it up."""
    timed = prepare(stack)
    if not isinstance(timed, Statement):
        timed()
        return timed
    timer, number = timeit.Timer(timed.text, globals=dict(timed.names)), 1
    acl.get_recent_err_msg()  # the next one is about this row
    timer.timeit(1)
    message = acl.get_recent_err_msg()  # the timed text looks at no status
    if message:
        raise RuntimeError(message)
    while timer.timeit(number) < seconds:
        number *= 2
    calls = number * timed.calls
    return lambda: timer.timeit(number) / calls


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
        self._stack = ExitStack()
        self._stack.enter_context(acl.Device(0))
        for row in rows:
            with ExitStack() as stack:
                try:
                    self.samplers[row.name] = _sampler(row.prepare, stack, effort.seconds)
                except ERRORS as error:
                    self.skipped[row.name] = f"{type(error).__name__}: {error}"
                else:
                    self._stack.push(stack.pop_all())

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


def measure(rows: Sequence[Row], effort: Effort, tell: Callable[[str], None]) -> tuple[dict[str, Any], dict[str, str]]:
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
    tuple
        The samples of each row in seconds per call, and the reason for each row that was left out.
    """
    with Bench(rows, effort) as bench:
        samples: dict[str, list[float]] = {name: [] for name in bench.samplers}
        for _, name in in_turn(effort.rounds, list(samples), tell):
            samples[name].append(bench.samplers[name]())
        return samples, bench.skipped


# --- two backends in turn


def serve(rows: Iterable[Row], effort: Effort, about: dict[str, Any]) -> None:
    """Time rows for a parent process: it writes names of rows to stdin, and reads seconds from stdout."""
    with Bench(rows, effort) as bench:
        print(json.dumps({"names": list(bench.samplers), "skipped": bench.skipped, "about": about}), flush=True)
        for line in sys.stdin:
            print(json.dumps(bench.samplers[line.strip()]()), flush=True)


class Child:
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
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        self.process = subprocess.Popen(command, env={**os.environ, "ACL_BACKEND": backend}, **pipes)  # type: ignore
        self.backend = backend
        found = self._read()
        self.names: list[str] = found["names"]
        self.skipped: dict[str, str] = found["skipped"]
        self.about: dict[str, Any] = found["about"]

    def _read(self) -> Any:
        assert self.process.stdout
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"the benchmark with ACL_BACKEND={self.backend} ended with {self.process.wait()}")
        return json.loads(line)

    def sample(self, name: str) -> float:
        """Return one sample of a row, in seconds per call."""
        assert self.process.stdin
        self.process.stdin.write(f"{name}\n")
        self.process.stdin.flush()
        return float(self._read())

    def close(self) -> None:
        """End the process."""
        assert self.process.stdin and self.process.stdout
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


def against(
    backends: tuple[str, str], arguments: Sequence[str], rounds: int, tell: Callable[[str], None]
) -> list[tuple[dict[str, Any], dict[str, list[float]], dict[str, str]]]:
    """Time rows on two backends in turn.

    Parameters
    ----------
    backends
        Values of ``ACL_BACKEND``.
    arguments
        As in :class:`Child`.
    rounds
        The number of samples of each row.
    tell
        Is called with a line of progress per round.

    Returns
    -------
    list of tuple
        For each backend what :func:`serve` tells about it, the samples of each row, and the reasons for rows left out.
        Samples with the same index were taken one after the other.
    """
    children: list[Child] = []
    try:
        children.extend(Child(backend, arguments) for backend in backends)
        names = [name for name in children[0].names if name in children[1].names]
        samples: list[dict[str, list[float]]] = [{name: [] for name in names} for _ in children]
        for number, name in in_turn(rounds, names, tell):
            for place in (0, 1) if number % 2 == 0 else (1, 0):  # neither is always the first
                samples[place][name].append(children[place].sample(name))
        return [(child.about, found, child.skipped) for child, found in zip(children, samples)]
    finally:
        for child in children:
            child.close()


def tell_on_terminal(file: Optional[Any] = None) -> Callable[[str], None]:
    """Return a function that shows lines of progress on a terminal, one over the other, and elsewhere nothing."""
    out = file or sys.stderr
    if not out.isatty():
        return lambda text: None
    return lambda text: print(f"\r{text:<24}", end="\r", file=out, flush=True)
