"""The references between the units of the simulator, read from the object files of the build for gdb."""

import re
import subprocess
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

# In order: a room may refer only to itself and to the rooms before it.
ROOMS = (
    "core/base", "core/address", "core/share", "core/engine", "core/memory", "core/collective", "core/operator",
    "core/kernel", "core/capture", "core/queue", "core/model", "core/model/format", "core/observe", "ops", "api",
    "extra", "record",
)  # fmt: skip
# May refer to every room, and no room may refer to it; it includes the generated sources.
TABLES = "core/simulator"
# Names that every file uses: the tables behind handles, and the functions of SIM_ARGUMENT.
OTHER_NAMES = {
    "core/base/handle": ("sim_table_",),
    "core/base/fail": ("sim_refuse", "sim_notice"),
}
CYCLE = 12  # the most units of one room that may refer to each other in a circle


class Reference(NamedTuple):
    """One unit, such as ``core/engine/stream``, needs a symbol that another one defines."""

    user: str
    owner: str
    symbol: str

    def __str__(self) -> str:
        return f"{self.user} -> {self.owner}: {self.symbol}"


def room_of(unit: str) -> str:
    return unit.rpartition("/")[0]


def symbols(objects: list[Path]) -> str:
    return subprocess.run(["nm", "-A", *objects], check=True, capture_output=True, text=True).stdout


class Link(NamedTuple):
    """The unit that defines each symbol, and the symbols that each unit needs."""

    owners: dict[str, str]
    needed: list[tuple[str, str]]


def link(build: Path, sources: Path) -> Link:
    """Read the object files of a build, except those whose source no longer exists."""
    made = sorted(build.rglob("*.o"))
    objects = [path for path in made if (sources / path.relative_to(build)).with_suffix(".c").exists()]
    found = Link({}, [])
    for line in symbols(objects).splitlines():
        name, kind, symbol = re.fullmatch(r"(.*?):[0-9a-f ]* (\w) (\S+)", line).groups()
        unit = str(Path(name).relative_to(build).with_suffix(""))
        if kind in "UwW":
            found.needed.append((unit, symbol))
        elif kind.isupper():
            found.owners[symbol] = unit
    return found


def references(found: Link) -> list[Reference]:
    """Return the references between units."""
    owners = found.owners
    return [Reference(unit, owners[name], name) for unit, name in found.needed if owners.get(name, unit) != unit]


def misnamed(found: Link) -> list[str]:
    """Return the external names of the core that do not begin with the first word of their unit's name."""
    wrong = []
    for symbol, unit in found.owners.items():
        group = unit.rpartition("/")[2].partition("_")[0]
        if room_of(unit).startswith("core/") and not symbol.startswith((f"sim_{group}", *OTHER_NAMES.get(unit, ()))):
            wrong.append(f"{unit} defines {symbol}")
    return sorted(wrong)


def upward(found: list[Reference]) -> list[Reference]:
    """Return the references that are not allowed: to a later room, or to the tables."""
    return [
        one for one in found
        if one.user != TABLES
        and (one.owner == TABLES or ROOMS.index(room_of(one.owner)) > ROOMS.index(room_of(one.user)))
    ]  # fmt: skip


def matrix(found: list[Reference]) -> str:
    """Return the number of references from each room to each, as a table; none above the diagonal is allowed."""
    counts: dict[tuple[str, str], int] = defaultdict(int)
    for one in found:
        counts[room_of(one.user), room_of(one.owner)] += 1
    names = [room.rpartition("/")[2] for room in ROOMS]
    lines = [" " * 10 + "".join(f"{name:>9}" for name in names)]
    for name, user in zip(names, ROOMS):
        lines.append(f"{name:10}" + "".join(f"{counts[user, owner] or '.':>9}" for owner in ROOMS))
    return "\n".join(lines)


def cycles(found: list[Reference], room: str) -> list[list[str]]:
    """Return the groups of units of one room that reach each other, largest first."""
    near: dict[str, set[str]] = defaultdict(set)
    for one in found:
        if room_of(one.user) == room_of(one.owner) == room:
            near[one.user].add(one.owner)
    reach = {unit: reachable(near, unit) for unit in list(near)}
    groups = {frozenset(other for other in reach[unit] if unit in reach.get(other, ())) for unit in reach}
    return sorted((sorted(group) for group in groups if len(group) > 1), key=len, reverse=True)


def reachable(near: dict[str, set[str]], start: str) -> set[str]:
    found, open_ = set(), [start]
    while open_:
        for unit in near[open_.pop()] - found:
            found.add(unit)
            open_.append(unit)
    return found


def includes_upward(sources: Path) -> list[str]:
    """Return the includes of headers of a later room."""
    wrong = []
    for path in sorted(sources.rglob("*.[ch]")):
        room = str(path.parent.relative_to(sources))
        if room not in ROOMS:
            continue
        for target in re.findall(r'#include "([\w/]+)/\w+\.h"', path.read_text()):
            if ROOMS.index(f"core/{target}") > ROOMS.index(room):
                wrong.append(f"{path.relative_to(sources)} includes a header of {target}")
    return wrong
