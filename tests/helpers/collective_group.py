"""Processes whose ranks form one communicator."""

import contextlib
from pathlib import Path

from helpers.processes import processes

OPEN = f"import sys; sys.path.insert(0, {str(Path(__file__).parent.parent)!r})\n"
OPEN += "from helpers.collective import *\nfrom helpers import collective_checks as checks\n"


class Group:
    """Processes with the ranks of one communicator; in each of them, ``ranks`` are its :class:`.Ranks`."""

    def __init__(self, members, ranks_of, table=None):
        self.members, self.count = members, sum(map(len, ranks_of))
        self.all(OPEN)
        info = repr(table) if table else f"bytes.fromhex({members[0]('root_info().hex()')!r})"
        self.all([f"ranks = Ranks({self.count}, {here}, {info})" for here in ranks_of])

    def begin(self, code):
        """Send code to all processes, or to each its own."""
        each = code if isinstance(code, list) else [code] * len(self.members)
        for member, text in zip(self.members, each):
            member.begin(text)

    def all(self, code):
        """Have all processes execute code at the same time, and return their results."""
        self.begin(code)
        return [member.end() for member in self.members]


@contextlib.contextmanager
def group(*ranks_of, table=None, **options):
    """Start a process for each list of ranks; options are those of the processes."""
    with processes(len(ranks_of), **options) as members:
        yield Group(members, ranks_of, table)


def singles(count):
    """Return lists of one rank each."""
    return [[rank] for rank in range(count)]


def begin_join(member, rank, count, info):
    """Have a process join as a rank, and begin to wait for the others."""
    member(f"comm, info = ctypes.c_void_p(), bytes.fromhex({info!r}).ljust(ROOT_INFO, b'\\0')")
    join = f"LIBRARY.HcclCommInitRootInfo({count}, info, {rank}, ctypes.byref(comm))"
    assert member(f"(LIBRARY.HcclGroupStart(), {join})") == [0, 0]
    member.begin("(LIBRARY.HcclGroupEnd(), acl.get_recent_err_msg())")


def begin_joins(members, count):
    """Have processes join as ranks 0, 1 and so on of a communicator of ``count``; return what the others need."""
    for member in members:
        member(OPEN)
    info = members[0]("root_info().hex()")
    for rank, member in enumerate(members):
        begin_join(member, rank, count, info)
    return info


def expect_that_rank_2_is_late(members):
    """Expect the end of joining by ranks 0 and 1 of three."""
    for member in members:
        ret, text = member.end()
        assert ret == 9, text
        assert "EI0015: 2 of 3 ranks have joined the communicator in time" in text and "and rank 2 is" in text


def expect_that_one_is_lost(members):
    """Expect the end of joining after another process has ended."""
    for member in members:
        ret, text = member.end()
        assert ret == 13, text
        assert "EI0015: the process of rank " in text
