"""One rank of gloo: a program that needs PyTorch alone, and runs operations as it is asked (:class:`Gloo`).

Its arguments are the file where the ranks meet, and its number.
"""

import json
import sys
import time
from functools import lru_cache
from typing import Any, Callable

import torch
from torch import distributed

RANKS = 4


def call(case: tuple[Any, ...], rank: int, group: Any) -> Callable[[], Any]:
    """Return an operation of a case on arrays of its own."""
    operation, size, kind, ranks, _ = case
    dtype = getattr(torch, kind)
    count = max(size // dtype.itemsize, 1)
    array, out = (torch.zeros(count, dtype=dtype) for _ in range(2))
    block = torch.zeros(count // ranks, dtype=dtype)

    def pass_on() -> None:
        sent = distributed.isend(array, (rank + 1) % ranks, group)
        distributed.recv(out, (rank - 1) % ranks, group)
        sent.wait()

    calls: dict[str, Callable[[], Any]] = {
        "all_reduce": lambda: distributed.all_reduce(array, group=group),
        "broadcast": lambda: distributed.broadcast(array, 0, group=group),
        "all_gather": lambda: distributed.all_gather_into_tensor(array, block, group=group),
        "reduce_scatter": lambda: distributed.reduce_scatter_tensor(block, array, group=group),
        "all_to_all": lambda: distributed.all_to_all_single(out, array, group=group),
        "send_receive": pass_on,
    }
    return calls[operation]


def main(meeting: str, rank: int) -> None:
    """Answer each case with the seconds of one operation, or with the text of an error."""
    distributed.init_process_group("gloo", init_method=f"file://{meeting}", rank=rank, world_size=RANKS)
    groups = {ranks: distributed.new_group(list(range(ranks))) for ranks in range(2, RANKS + 1)}
    print(json.dumps(torch.__version__), flush=True)
    calls = lru_cache(lambda case: call(case, rank, groups[case[3]]))
    for line in sys.stdin:
        *parts, number = json.loads(line)
        case = tuple(parts)
        run, group = calls(case), groups[case[3]]
        distributed.barrier(group)
        begin = time.perf_counter()
        try:
            for _ in range(number):
                run()
            answer: Any = (time.perf_counter() - begin) / number
        except (RuntimeError, ValueError, NotImplementedError) as error:  # gloo of older versions lacks some operations
            answer = f"gloo of torch {torch.__version__}: {error}"
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
