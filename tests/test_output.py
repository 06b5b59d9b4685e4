"""Full disks and limits of the size of files: failures are reported, name the target, and end no program."""

import os
import resource
import stat
import subprocess
import sys

import pytest
from helpers.networks import save_classifier

from acl import files

pytestmark = pytest.mark.needs_sim


@pytest.fixture(autouse=True)
def no_bytecode(monkeypatch):
    """Keep the limits off the cache of compiled modules: CPython 3.9 leaves a truncated file there."""
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    monkeypatch.setattr(sys, "dont_write_bytecode", True)


# Makes the system end the program at the limit, as it does for a program in C; Python itself ignores the signal.
LIMITED = """
import os, resource, signal
import acl
from acl._lib import ffi, lib
signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
def limit(size):
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
"""


@pytest.mark.parametrize("last", ["stop(0)", "finalize()"])
def test_a_trace_that_could_not_be_written_is_reported(run_script, tmp_path, last):
    code = f"""{LIMITED}
assert acl.rt.set_device(0) == 0
assert acl.prof.init({str(tmp_path)!r}) == 0 and acl.prof.start(0) == 0
limit(16)
block, _ = acl.rt.malloc(64, 0)
assert acl.rt.memset(block, 64, 1, 64) == 0
assert acl.prof.{last} == 500005
text = acl.get_recent_err_msg()
assert {str(tmp_path)!r} in text and "trace.json could not be written completely: File too large" in text, text
assert {last!r} == "finalize()" or acl.prof.finalize() == 0
limit(-1)
assert acl.prof.init({str(tmp_path)!r}) == 0
assert [acl.prof.start(0), acl.prof.stop(0), acl.prof.finalize()] == [0, 0, 0], acl.get_recent_err_msg()
"""
    done = run_script(code)
    assert done.returncode == 0, done.stderr


def test_a_trace_that_nobody_ends_is_reported_at_exit(run_script, tmp_path):
    code = f"""{LIMITED}
assert acl.rt.set_device(0) == 0
assert acl.prof.init({str(tmp_path)!r}) == 0 and acl.prof.start(0) == 0
limit(16)
"""
    done = run_script(code)
    assert done.returncode == 0, done.stderr
    assert "trace.json could not be written completely: File too large" in done.stderr


def test_dumps_and_pictures_that_could_not_be_written(run_script, tmp_path):
    code = f"""{LIMITED}
import json
path = {str(tmp_path)!r}
with open(path + "/acl.json", "w") as file:
    json.dump({{"dump": {{"dump_path": path, "dump_scene": "aic_err_brief_dump"}}}}, file)
assert acl.init(path + "/acl.json") == 0 and acl.rt.set_device(0) == 0
stream, _ = acl.rt.create_stream()
block, _ = acl.rt.malloc(1 << 20, 0)
assert acl.mdl.ri_capture_begin(stream, 0) == 0
assert acl.rt.memset_async(block, 64, 1, 64, stream) == 0
instance, ret = acl.mdl.ri_capture_end(stream)
assert ret == 0
limit(16)
address = ffi.cast("int64_t *", block)
infos = ffi.new("acldumpTensorInfo[1]", [{{"addrType": 2, "tensorAddr": address, "tensorSize": 1 << 20}}])
assert lib.acldumpSaveExceptionInfo(b"op", ffi.NULL, infos, 1) == 100003
assert "File too large" in acl.get_recent_err_msg()
for target, reason in ((path + "/a.json", "File too large"), ("/dev/full", "No space left on device")):
    assert acl.mdl.ri_debug_json_print(instance, target, 0) == 107000
    text = acl.get_recent_err_msg()
    assert f'path "{{target}}" could not be written completely: {{reason}}' in text, text
os.mkfifo(path + "/fifo")
assert acl.mdl.ri_debug_json_print(instance, path + "/fifo", 0) == 107000
assert "fifo" in acl.get_recent_err_msg()
"""
    done = run_script(code)
    assert done.returncode == 0, done.stderr


def test_device_memory_is_no_file_on_a_disk(run_script):
    code = f"""{LIMITED}
limit(16)
assert acl.rt.set_device(0) == 0, acl.get_recent_err_msg()
assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == 16
block, ret = acl.rt.malloc(1 << 20, 0)
assert ret == 0 and acl.rt.memset(block, 1 << 20, 1, 1 << 20) == 0
"""
    done = run_script(code)
    assert done.returncode == 0, done.stderr


def test_a_limit_that_cannot_be_raised_is_named(run_script):
    code = f"""{LIMITED}
resource.setrlimit(resource.RLIMIT_FSIZE, (16, 16))
assert acl.rt.set_device(0) == 507033
text = acl.get_recent_err_msg()
assert "File too large" in text and "ulimit -f" in text, text
"""
    done = run_script(code)
    assert done.returncode == 0, done.stderr


# --- files that Python writes


@pytest.fixture
def limited():
    """Limit the size of files to 16 bytes."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (16, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_the_old_file_survives(limited, tmp_path):
    path = tmp_path / "model.om"
    files.write(path, b"old")
    with pytest.raises(OSError, match="File too large") as raised:
        files.write(path, bytes(17))
    assert raised.value.filename == str(path)
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["model.om"]


def test_a_file_is_replaced_with_its_mode(tmp_path):
    path = tmp_path / "file"
    files.write(path, "text")
    path.chmod(0o640)
    (tmp_path / "link").symlink_to("file")
    files.write(tmp_path / "link", "other")
    assert (path.read_text(), stat.S_IMODE(path.stat().st_mode)) == ("other", 0o640)
    assert (tmp_path / "link").is_symlink()


def test_what_is_no_file_is_written_to_as_it_is():
    with pytest.raises(OSError, match="No space left"):
        files.write("/dev/full", "text")
    files.write("/dev/null", "text")


def test_a_folder_that_is_not_there_is_the_targets(tmp_path):
    with pytest.raises(FileNotFoundError) as raised:
        files.write(tmp_path / "none" / "file", b"")
    assert raised.value.filename == str(tmp_path / "none" / "file")


SAVE = """
stream, _ = acl.rt.create_stream()
block, _ = acl.rt.malloc(64, 0)
assert acl.rt.set_device(0) == 0 and acl.mdl.ri_capture_begin(stream, 0) == 0
assert acl.rt.memset_async(block, 64, 1, 64, stream) == 0
instance, ret = acl.mdl.ri_capture_end(stream)
port = [(block, (16,), "f4")]
save = lambda: acl.sim.save(instance, path, port, port)
"""


def test_a_saved_instance_replaces_the_old_file_or_leaves_it(run_script, tmp_path):
    path = tmp_path / "saved.om"
    path.write_bytes(b"old")
    code = f"""{LIMITED}
path = {str(path)!r}
acl.rt.set_device(0)
{SAVE}
limit(16)
try:
    save()
except OSError as error:
    assert error.filename == path, error
else:
    raise AssertionError
assert open(path, "rb").read() == b"old" and os.listdir(os.path.dirname(path)) == ["saved.om"]
limit(-1)
save()
assert acl.init() == 0
assert acl.mdl.load_from_file(path)[1] == 0, acl.get_recent_err_msg()
"""
    done = run_script(code.replace("signal.signal(signal.SIGXFSZ, signal.SIG_DFL)\n", ""))
    assert done.returncode == 0, done.stderr


def test_a_toolkit_keeps_what_it_had(run_script, tmp_path):
    code = f"""
import os, resource
from acl import layout
target = {str(tmp_path / "toolkit")!r}
layout.write(target)
names = sorted(os.listdir(target))
resource.setrlimit(resource.RLIMIT_FSIZE, (5000, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
try:
    layout.write(target)
except layout.Refused as error:
    assert str(error).startswith(f"cannot write {{target}}"), error
else:
    raise AssertionError
assert sorted(os.listdir(target)) == names
assert os.path.getsize(target + "/lib64/libacl_sim.so") > 5000
"""
    done = run_script(code)
    assert done.returncode == 0, done.stderr


def test_a_compiled_model_replaces_the_old_file_or_leaves_it(tmp_path):
    path = tmp_path / "model.om"
    path.write_bytes(b"old")
    model = save_classifier(tmp_path)
    command = [sys.executable, "-m", "acl", "atc", "--framework=5", f"--model={model}", f"--output={path}"]
    command.append("--input_shape=x:1,3,8,8")
    limit = (16, resource.getrlimit(resource.RLIMIT_FSIZE)[1])
    done = subprocess.run(
        command, capture_output=True, text=True, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    )
    assert done.returncode != 0
    assert f"cannot write {path}: File too large" in done.stderr, done.stderr
    assert path.read_bytes() == b"old"


def test_a_recording_that_cannot_be_written_harms_no_program(run_script, tmp_path):
    code = f"""
import os, resource
import numpy, acl
from acl.sim import om
folder = {str(tmp_path)!r}
acl.init()
acl.rt.set_device(0)
acl.sim.model(folder + "/double.om", [om.Tensor("x", (2,))], [om.Tensor("y", (2,))])(lambda x: 2 * x)
model, ret = acl.mdl.load_from_file(folder + "/double.om")
assert ret == 0, acl.get_recent_err_msg()
block, _ = acl.rt.malloc(64, 0)
data = []
for _ in range(2):
    data.append(acl.mdl.create_dataset())
    acl.mdl.add_dataset_buffer(data[-1], acl.create_data_buffer(block, 8))
assert acl.mdl.execute(model, *data) == 0
resource.setrlimit(resource.RLIMIT_FSIZE, (16, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
assert acl.mdl.unload(model) == 0
assert os.listdir(folder) == ["record"] and os.listdir(folder + "/record") == []
"""
    done = run_script(code, {"ACL_RECORD": str(tmp_path / "record")})
    assert done.returncode == 0, done.stderr
    assert f"acl: ACL_RECORD cannot write {tmp_path}/record/double.om: File too large" in done.stderr
