"""Stored results: JSON in the form of pytest-benchmark, so that its own tools read it, too.

The samples are seconds per call. ``extra_info`` of each benchmark has the line that says what was timed. If the row has
a twin in C, or in PyTorch, it also has the twin's samples, an empty list if the twin could not run. Older files have no
twins. Collectives also have the number of bytes on the bus.
"""

import datetime
import json
import os
import platform
import statistics
import uuid
from pathlib import Path
from typing import Any, NamedTuple, Optional

import acl
from acl import _lib

EXAMPLE = Path(__file__).with_name("simulator.json")
VERSION = "5.1.0"  # of the form: that of the pytest-benchmark that writes the same


class Unreadable(Exception):
    """A file that cannot be read as a stored result; the text says why."""


class Result(NamedTuple):
    """The samples of one run.

    ``title`` is how tables call it. ``about`` describes the machine and the library. Results of one run on two backends
    have the same ``pairs``: samples with the same index were then taken one after the other. ``twins`` has the samples
    of the twins in C, or in PyTorch for collectives, and an empty list for a twin that could not run. ``bus`` has the
    bytes on the bus of each collective.
    """

    title: str
    about: dict[str, Any]
    samples: dict[str, list[float]]
    groups: dict[str, str]
    labels: dict[str, str]
    skipped: dict[str, str]
    pairs: Optional[str] = None
    twins: dict[str, list[float]] = {}
    bus: dict[str, float] = {}


def cpu_model() -> str:
    """Return the processor's name as Linux gives it."""
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def about() -> dict[str, Any]:
    """Describe the machine, the interpreter and the opened library."""
    version, ret = acl.get_cann_version(_lib.lib.ACL_PKG_NAME_RUNTIME)
    return {
        "cpu": {"brand_raw": cpu_model(), "count": len(os.sched_getaffinity(0))},
        "machine": platform.machine(),
        "python_version": platform.python_version(),
        "python_implementation": platform.python_implementation(),
        "system": platform.system(),
        "release": platform.release(),
        "backend": acl.backend,
        "simulator": acl.is_simulator,
        "library": os.path.basename(acl.library_path),
        "soc": acl.get_soc_name(),
        "cann": version["version"] if ret == 0 else "unknown",
        "load": os.getloadavg()[0],
    }


def new_pairs() -> str:
    """Return a name that two results of one run share."""
    return uuid.uuid4().hex


def _benchmark(result: Result, name: str) -> dict[str, Any]:
    samples = result.samples[name]
    ordered = sorted(samples)
    first, median, third = (
        statistics.quantiles(ordered, n=4, method="inclusive") if len(ordered) > 1 else [ordered[0]] * 3
    )
    low, high = first - 1.5 * (third - first), third + 1.5 * (third - first)
    mean = statistics.fmean(samples)
    spread = statistics.stdev(samples) if len(samples) > 1 else 0.0
    beyond = sum(not low <= each <= high for each in samples)
    far = sum(abs(each - mean) > spread for each in samples)
    stats = {
        "min": ordered[0], "max": ordered[-1], "mean": mean, "stddev": spread, "rounds": len(samples),
        "median": median, "iqr": third - first, "q1": first, "q3": third, "iqr_outliers": beyond,
        "stddev_outliers": far, "outliers": f"{far};{beyond}",
        "ld15iqr": next((each for each in ordered if each >= low), ordered[0]),
        "hd15iqr": next((each for each in reversed(ordered) if each <= high), ordered[-1]),
        "ops": 1 / mean if mean else 0.0, "total": sum(samples), "iterations": 1, "data": samples,
    }  # fmt: skip
    twin = {"twin": result.twins[name]} if name in result.twins else {}
    bus = {"bus": result.bus[name]} if name in result.bus else {}
    return {
        "group": result.groups[name],
        "name": name,
        "fullname": f"{result.groups[name]}/{name}",
        "params": None,
        "param": None,
        "extra_info": {"label": result.labels[name], **twin, **bus},
        "options": {"timer": "perf_counter"},
        "stats": stats,
    }


def save(result: Result, path: Path) -> None:
    """Write a result to a file."""
    content = {
        "machine_info": {**result.about, "pairs": result.pairs, "skipped": result.skipped},
        "commit_info": {},
        "benchmarks": [_benchmark(result, name) for name in result.samples],
        "datetime": datetime.datetime.now(datetime.timezone.utc).isoformat(),
        "version": VERSION,
    }
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def load(name: str) -> Result:
    """Read a file that :func:`save` or pytest-benchmark wrote; ``simulator`` is the one of this package.

    Raises
    ------
    Unreadable
        If it is neither, or has no samples.
    """
    path = EXAMPLE if name == "simulator" else Path(name)
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        rows, info = content["benchmarks"], content["machine_info"]
        samples = {each["name"]: [float(one) for one in each["stats"]["data"]] for each in rows}
        extras = {each["name"]: each.get("extra_info", {}) for each in rows}
        twins = {name: [float(one) for one in extra["twin"]] for name, extra in extras.items() if "twin" in extra}
    except OSError as error:
        raise Unreadable(f"{path}: {error.strerror}") from error
    except KeyError as error:
        advice = "; pytest-benchmark writes samples with --benchmark-save-data" if error.args == ("data",) else ""
        raise Unreadable(f"{path}: it has no {error}{advice}") from error
    except (TypeError, ValueError) as error:
        raise Unreadable(f"{path}: it does not hold a stored result: {error}") from error
    if not samples or not all(samples.values()):
        raise Unreadable(f"{path}: it has no samples")
    return Result(
        title=path.stem,
        about=info,
        samples=samples,
        groups={each["name"]: each.get("group") or "" for each in rows},
        labels={name: extra.get("label", name) for name, extra in extras.items()},
        skipped=info.get("skipped") or {},
        pairs=info.get("pairs"),
        twins=twins,
        bus={name: float(extra["bus"]) for name, extra in extras.items() if "bus" in extra},
    )
