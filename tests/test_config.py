"""Configuration by environment, by file and by acl.sim.configure."""

import os
from pathlib import Path

import numpy
import pytest
from helpers.expect import RunningTask
from helpers.tensors import Device

import acl
from acl._lib import ffi, lib

pytestmark = pytest.mark.needs_sim

NAMES = [
    "devices", "soc", "memory", "cann", "schedule", "schedule_log", "workers", "vectors", "clock", "limits", "queue",
    "check", "on_finding", "findings", "suppress", "watchdog", "poison", "strict", "faults", "trace", "trace_limit",
    "hccl_time_scale", "python", "unsupported",
]  # fmt: skip
GIB = 1 << 30


@pytest.fixture(autouse=True)
def fresh():
    acl.sim.reset()
    yield
    acl.sim.reset()


def test_defaults(monkeypatch):
    for name in NAMES:
        monkeypatch.delenv(f"ACL_SIM_{name.upper()}", raising=False)
    acl.sim.reset()
    values = {name: acl.sim.get_config(name) for name in NAMES}
    assert values == {
        "devices": "1",
        "soc": "Ascend910B3",
        "memory": str(64 * GIB),
        "cann": "9.1",
        "schedule": "parallel",
        "schedule_log": "none",
        "workers": str(min(max(len(os.sched_getaffinity(0)), 2), 64)),
        "vectors": "64",
        "clock": "wall",
        "limits": "default",
        "queue": "unbounded",
        "check": "none",
        "faults": "none",
        "trace": "none",
        "trace_limit": "256M",
        "hccl_time_scale": "1",
        "python": "python3",
        "unsupported": "error",
        "on_finding": "continue",
        "findings": "stderr",
        "suppress": "none",
        "watchdog": "none",
        "poison": "0",
        "strict": "0",
    }


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("devices", "16"),
        ("soc", "Ascend310P3"),
        ("cann", "8.5"),
        ("schedule", "eager"), ("schedule", "lazy"), ("schedule", "random:7"), ("schedule_log", "order.txt"),
        ("workers", "64"),
        ("vectors", "16"),
        ("limits", "documented"),
        ("queue", "documented"),
        ("unsupported", "warn"),
        ("check", "all"), ("check", "leak,race"), ("on_finding", "abort"), ("findings", "found.json"),
        ("suppress", "known.txt"), ("watchdog", "30s"), ("watchdog", "500ms"), ("poison", "1"), ("strict", "1"),
        ("faults", "malloc:3; task:any@stream2#4"),
        ("python", "/opt/" + 50 * "long/" + "python3"),
    ],
)
def test_each_value_is_taken(name, value):
    acl.sim.configure(**{name: value})
    assert acl.sim.get_config(name) == value
    acl.sim.configure(**{name: None})
    assert acl.sim.get_config(name) != value


@pytest.mark.parametrize(
    ("text", "size"),
    [("2M", 2 << 20), ("64m", 64 << 20), ("1G", GIB), ("3GiB", 3 * GIB), ("4GB", 4 * GIB), ("1T", 1 << 40)]
    + [("4194304", 1 << 22), ("4096KB", 1 << 22), ("profile", 64 * GIB)],
)
def test_memory_units(text, size):
    acl.sim.configure(memory=text)
    assert acl.sim.get_config("memory") == str(size)
    assert acl.rt.get_device_info(0, 301) == (size, 0)


@pytest.mark.parametrize(
    ("name", "value", "right"),
    [
        ("devices", "17", "0 to 16"),
        ("devices", "-1", "0 to 16"),
        ("devices", "two", "0 to 16"),
        ("soc", "Ascend999", "Ascend910B3"),
        ("soc", "Ascend035", "Ascend310P3"),
        ("soc", "x" * 100, "Ascend910B3"),
        ("memory", "12Q", "K, M, G or T"),
        ("memory", "1M", "2M to 1T"),
        ("memory", "99999999999999999999", "2M to 1T"),
        ("memory", "", "profile"),
        ("cann", "7.0", '"8.1", "8.5", "9.0" or "9.1"'),
        ("cann", "9.10", '"9.1"'),
        ("schedule", "random", '"random:<seed>"'),
        ("schedule", "random:-1", '"random:<seed>"'),
        ("schedule", "replay:/no/such/file", '"replay:<file>" with the log of a schedule'),
        ("schedule_log", "", "or a file"),
        ("workers", "0", '"cores" or a number from 1 to 64'),
        ("workers", "65", "1 to 64"),
        ("workers", "many", "1 to 64"),
        ("vectors", "128", '"16", "32" or "64"'),
        ("clock", "virtual", '"wall" or "model"'),
        ("limits", "small", '"default" or "documented"'),
        ("queue", "7", '"unbounded" or "documented"'),
        ("check", "races", '"memory", "race"'),
        ("check", "race,", '"leak" and "deadlock"'),
        ("check", "", '"none", "all"'),
        ("on_finding", "stop", '"continue", "raise" or "abort"'),
        ("findings", "", '"stderr", or a file'),
        ("suppress", "", "a file of suppressions"),
        ("watchdog", "30", "a time such as 30s or 500ms"),
        ("watchdog", "0s", "a time such as 30s or 500ms"),
        ("poison", "yes", '"0" or "1"'),
        ("strict", "yes", '"0" or "1"'),
        ("faults", "all", "such as malloc:3"),
        ("trace_limit", "1", "64K to 1T"),
        ("hccl_time_scale", "0", "a number above 0, up to 1"),
        ("hccl_time_scale", "1.5", "a number above 0, up to 1"),
        ("python", "", "path of a Python"),
        ("unsupported", "raise", '"error" or "warn"'),
    ],
)
def test_wrong_values_are_refused_with_the_right_ones(name, value, right):
    before = acl.sim.get_config(name)
    with pytest.raises(ValueError) as caught:
        acl.sim.configure(**{name: value})
    assert right in str(caught.value)
    assert f"{name} is" in str(caught.value)
    assert acl.sim.get_config(name) == before


@pytest.mark.parametrize("workers", [1, 5])
def test_as_many_tasks_run_at_once_as_there_are_workers(configure, workers):
    configure(workers=workers)
    assert acl.rt.set_device(0) == 0
    streams = [acl.rt.create_stream()[0] for _ in range(workers)]
    tasks = [RunningTask(stream) for stream in streams]  # each has started before the first one ends
    names = [(task / "comm").read_text() for task in Path("/proc/self/task").iterdir()]
    assert names.count("acl-worker\n") == workers
    for task in tasks:
        task.finish()
    assert [acl.rt.destroy_stream(stream) for stream in streams] == workers * [0]


@pytest.mark.parametrize("vectors", [16, 32, 64])
def test_operators_compute_with_vectors_of_each_width(configure, vectors):
    """The processor that runs this test may lack the wider ones."""
    configure(vectors=vectors)
    generator = numpy.random.default_rng(3)
    left, right = (generator.standard_normal((70, 70)).astype("f4") for _ in range(2))
    npu = Device()
    product, curve = (npu.tensor(numpy.zeros((70, 70), "f4")) for _ in range(2))
    assert npu.call("matmul", npu.tensor(left), npu.tensor(right), product, 0) == 0
    assert npu.call("sigmoid", npu.tensor(left), curve) == 0
    assert numpy.allclose(npu.get(product), left.astype("f8") @ right, atol=1e-4)
    assert numpy.allclose(npu.get(curve), 1 / (1 + numpy.exp(-left.astype("f8"))), rtol=1e-6)
    npu.close()


def test_workers_follow_the_cores(run_script):
    code = "import os\ncpus = os.sched_getaffinity(0)\nos.sched_setaffinity(0, {min(cpus)})\nimport acl\n"
    done = run_script(code + "print(acl.sim.get_config('workers'))", env={"ACL_SIM_WORKERS": "cores"})
    assert done.stdout == "2\n", done.stderr  # one core: two all the same


def test_live_counts_memory_and_models_and_refuses_unknown_kinds(configure):
    device = acl.rt.set_device(0)
    before = acl.sim.live(), acl.sim.live("memory")
    blocks = [acl.rt.malloc(size, 0)[0] for size in (1, 40_000, 100_000, 5 << 20)]  # small, middle, and large ones
    blocks += [acl.rt.malloc(64, 0)[0] for _ in range(200)]
    pinned, ret = acl.rt.malloc_host(64)
    assert (device, ret) == (0, 0) and acl.sim.live("memory") - before[1] == 205 == acl.sim.live() - before[0]
    assert [acl.rt.free(block) for block in blocks] == [0] * 204 and acl.rt.free_host(pinned) == 0
    assert (acl.sim.live(), acl.sim.live("memory")) == before
    for kind in ("stream", "task group", "model"):  # also those that there never was one of
        assert acl.sim.live(kind) >= 0
    with pytest.raises(ValueError, match='kind is "unknown", expected NULL or one of memory, model, context, stream, '):
        acl.sim.live("unknown")


def test_unknown_names_list_the_known():
    with pytest.raises(ValueError) as caught:
        acl.sim.configure(device=2)
    assert ", ".join(NAMES) in str(caught.value)
    with pytest.raises(ValueError):
        acl.sim.get_config("nothing")


def test_null_and_short_buffers():
    value = ffi.new("char[4]")
    assert lib.aclsimConfigure(ffi.NULL, b"1") == 100000
    assert lib.aclsimGetConfig(b"soc", ffi.NULL, 4) == 100000
    assert lib.aclsimGetConfig(b"soc", value, 4) == 100000
    assert "length is 4, expected at least 12" in acl.get_recent_err_msg()
    assert lib.aclsimGetConfig(b"cann", value, 4) == 0


def test_only_before_the_first_device(device):
    with pytest.raises(RuntimeError):
        acl.sim.configure(devices=2)
    assert acl.sim.get_config("devices") == "1"


def test_environment_and_its_order(run_script, tmp_path):
    file = tmp_path / "sim.conf"
    file.write_text("# two chips\ndevices = 2\n\n  soc=Ascend310P3 # small\nmemory = 8G\n")
    code = (
        "import acl\n"
        "print(*(acl.sim.get_config(name) for name in ('devices', 'soc', 'memory', 'cann')))\n"
        "acl.sim.configure(devices=4)\n"
        "print(acl.sim.get_config('devices'), acl.rt.get_device_count())\n"
        "acl.sim.reset()\n"
        "print(acl.sim.get_config('devices'))\n"
    )
    env = {"ACL_SIM_CONFIG": str(file), "ACL_SIM_DEVICES": "3", "ACL_SIM_CANN": "8.1", "ACL_SIM_MEMORY": ""}
    done = run_script(code, env=env)
    assert done.stdout.split("\n")[:3] == ["3 Ascend310P3 8589934592 8.1", "4 (4, 0)", "3"], done.stderr


@pytest.mark.parametrize(
    ("env", "told"),
    [
        ({"ACL_SIM_SOC": "Ascend1"}, 'ACL_SIM_SOC is "Ascend1", expected Ascend310'),
        ({"ACL_SIM_DEVICES": "many"}, 'ACL_SIM_DEVICES is "many", expected a number from 0 to 16'),
        ({"ACL_SIM_SCHEDULE": "late"}, 'ACL_SIM_SCHEDULE is "late", expected "parallel", "eager", "lazy"'),
        (
            {"ACL_SIM_CONFIG": "/dev/zero"},
            'ACL_SIM_CONFIG is "/dev/zero", which cannot be read: it is not a regular file',
        ),
        ({"ACL_SIM_CONFIG": "/no/such/file"}, 'ACL_SIM_CONFIG is "/no/such/file", which cannot be read'),
    ],
)
def test_wrong_environment_stops_the_first_device(run_script, env, told):
    code = "import acl\nprint(acl.rt.set_device(0))\nprint(acl.get_recent_err_msg())"
    done = run_script(code, env=env)
    assert done.stdout.split("\n")[0] == "100000"
    assert told in done.stdout


@pytest.mark.parametrize("line", ["devices 2", "device = 2", "= 2", "soc = Ascend1"])
def test_wrong_file_stops_the_first_device(run_script, tmp_path, line):
    file = tmp_path / "sim.conf"
    file.write_text("cann = 9.0\n" + line + "\n")
    code = "import acl\nprint(acl.rt.set_device(0))\nprint(acl.get_recent_err_msg())"
    done = run_script(code, env={"ACL_SIM_CONFIG": str(file)})
    assert done.stdout.split("\n")[0] == "100000"
    assert f"{file}:2" in done.stdout or 'soc is "Ascend1"' in done.stdout


def test_limits_follow_profile_and_setting(run_script):
    code = "import acl\nacl.rt.set_device(0)\nprint(acl.rt.get_stream_available_num())"
    small = run_script(code, env={"ACL_SIM_LIMITS": "documented", "ACL_SIM_SOC": "Ascend310B1"}).stdout
    large = run_script(code, env={"ACL_SIM_LIMITS": "default"}).stdout
    assert 500 <= eval(small)[0] <= 512
    assert 32000 <= eval(large)[0] <= 32768
