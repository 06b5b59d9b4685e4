"""Processes that measure for another one: a line of JSON to stdin asks, and a line on stdout answers."""

import json
import subprocess
from collections.abc import Mapping, Sequence
from typing import Any


def slowest(children: "Sequence[Child]", question: Any) -> float:
    """Ask all, and return the greatest of the seconds that they answer; raise RuntimeError if one answers a text."""
    for child in children:
        child.ask(question)
    answers = [child.read() for child in children]
    errors = [answer for answer in answers if isinstance(answer, str)]
    if errors:
        raise RuntimeError(errors[0])
    return max(answers)


class Child:
    """A process that answers questions.

    Parameters
    ----------
    command
        The program and its arguments.
    environment
        Its environment.
    title
        The name of the process in messages.
    """

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], title: str) -> None:
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        self.process = subprocess.Popen(list(command), env=dict(environment), **pipes)  # type: ignore
        self.title = title

    def read(self) -> Any:
        """Return the next answer; raise RuntimeError if the process has ended."""
        assert self.process.stdout
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.title} ended with {self.process.wait()}")
        return json.loads(line)

    def ask(self, question: Any) -> None:
        """Send a question."""
        assert self.process.stdin
        self.process.stdin.write(json.dumps(question) + "\n")
        self.process.stdin.flush()

    def close(self) -> None:
        """End the process."""
        assert self.process.stdin and self.process.stdout
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()
