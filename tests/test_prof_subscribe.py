"""Subscriptions: records of a model's operators come through a pipe."""

import json
import os
import time

import numpy
import pytest
from helpers.expect import refused
from helpers.models import Model, affine_bytes, initialise, load_bytes

import acl
from acl._lib import ffi, lib

prof, rt = acl.prof, acl.rt
NONE = 255

pytestmark = pytest.mark.needs_sim


@pytest.fixture
def model(device):
    """Load a model that a function runs."""
    initialise()
    acl.sim.model("affine")(lambda x: 2 * x + 1)
    model_id, ret = load_bytes(affine_bytes())
    assert ret == 0, acl.get_recent_err_msg()
    model = Model(model_id)
    yield model
    model.close()


class Pipe:
    """A subscription of a model with its pipe."""

    def __init__(self, model, times=1):
        self.model = model
        self.reader, self.writer = os.pipe()
        self.config = prof.create_subscribe_config(times, NONE, self.writer)
        assert self.config != 0, acl.get_recent_err_msg()
        self.ret = prof.model_subscribe(model.id, self.config)

    def end(self):
        """End the subscription and return all records, up to the end of the pipe."""
        assert prof.model_unsubscribe(self.model.id) == 0, acl.get_recent_err_msg()
        assert prof.destroy_subscribe_config(self.config) == 0
        with open(self.reader, "rb") as reader:
            return Records(reader.read())


class Records:
    """A buffer of records, read as programs do."""

    def __init__(self, content):
        self.buffer = ffi.from_buffer(content)
        self.at = int(ffi.cast("uintptr_t", self.buffer)), len(content)
        size, ret = prof.get_op_desc_size()
        assert ret == 0 and len(content) % size == 0
        self.count = len(content) // size

    def __getitem__(self, index):
        place = *self.at, index
        assert prof.get_op_num(*self.at) == (self.count, 0)
        type_length, _ = prof.get_op_type_len(*place)
        assert prof.get_op_type(*place, type_length) == prof.get_op_type_v2(*place)
        name_length, _ = prof.get_op_name_len(*place)
        assert prof.get_op_name(*place, name_length) == prof.get_op_name_v2(*place)
        (kind, kind_ret), (name, name_ret) = prof.get_op_type_v2(*place), prof.get_op_name_v2(*place)
        assert (kind_ret, name_ret, type_length, name_length) == (0, 0, len(kind) + 1, len(name) + 1)
        refused(prof.get_op_name(*place, name_length - 1)[1], 100000, "aclprofGetOpName", f"{name_length}")
        start, end = prof.get_op_start(*place), prof.get_op_end(*place)
        assert prof.get_op_duration(*place) == end - start > 0
        return kind, name, start, end, prof.get_model_id(*place)


def test_each_run_is_a_record(model):
    pipe = Pipe(model)
    assert pipe.ret == 0, acl.get_recent_err_msg()
    before = time.monotonic_ns()
    for _ in range(3):
        assert model(numpy.array([1, 2], "f4")).tolist() == [3, 5]
    after = time.monotonic_ns()
    records = pipe.end()
    assert records.count == 3
    times = []
    for index in range(3):
        kind, name, start, end, number = records[index]
        assert (kind, name, number) == ("function", "affine", model.id)
        times += [start, end]
    assert times == sorted(times) and before <= times[0] and times[-1] <= after
    address, size = ffi.cast("void *", records.at[0]), records.at[1]
    assert lib.aclprofGetOpFlag(address, size, 0) == 0
    assert int(ffi.string(lib.aclprofGetOpAttriValue(address, size, 0, 0))) > 0
    assert lib.aclprofGetOpAttriValue(address, size, 0, 1) == ffi.NULL
    refused(0, 0, "aclprofGetOpAttriValue", "attri is 1")


def test_a_saved_instance_has_a_record_for_each_step(device, stream, words, tmp_path):
    initialise()
    acl.mdl.ri_capture_begin(stream, 2)
    assert words.copy(stream, 1, 0) == 0
    assert words.count_up(stream, 1) == 0
    instance, ret = acl.mdl.ri_capture_end(stream)
    assert ret == 0
    inputs, outputs = [(words.at(0), (1,), "i4")], [(words.at(1), (1,), "i4")]
    acl.sim.save(instance, str(tmp_path / "net.om"), inputs=inputs, outputs=outputs)
    model_id, ret = acl.mdl.load_from_file(str(tmp_path / "net.om"))
    assert ret == 0, acl.get_recent_err_msg()
    model = Model(model_id)
    pipe = Pipe(model)
    assert model(numpy.array([41], "i4")).tolist() == [42]
    records = pipe.end()
    assert [records[index][:2] for index in range(records.count)] == [
        ("Memcpy", "Memcpy_0"),
        ("InplaceAdds", "InplaceAdds_1"),
    ]
    model.close()
    assert acl.mdl.ri_destroy(instance) == 0


def test_a_reader_that_waits_holds_up_nothing(model):
    pipe = Pipe(model)
    array = numpy.array([1, 2], "f4")
    model.inputs.put(0, array)
    for _ in range(400):  # more than the pipe holds
        assert model.execute() == 0
    assert pipe.end().count == 400


def test_runs_before_and_after_are_left_out(model):
    array = numpy.array([1, 2], "f4")
    model(array)
    pipe = Pipe(model)
    assert pipe.end().count == 0
    model(array)


def test_times_that_are_switched_off(model):
    pipe = Pipe(model, times=0)
    assert pipe.ret == 0
    model(numpy.array([1, 2], "f4"))
    assert pipe.end().count == 0


def test_a_reader_that_is_gone_is_no_failure(model):
    pipe = Pipe(model)
    os.close(pipe.reader)
    for _ in range(3):
        assert model(numpy.array([1, 2], "f4")).tolist() == [3, 5]
    assert prof.model_un_subscribe(model.id) == 0
    assert prof.destroy_subscribe_config(pipe.config) == 0


def test_a_model_is_subscribed_to_once(model):
    pipe = Pipe(model)
    again = Pipe(model)
    assert again.ret == 148046
    refused(prof.model_subscribe(model.id, again.config), 148046, "aclprofModelSubscribe", f"model {model.id}")
    assert pipe.end().count == 0
    refused(prof.model_unsubscribe(model.id), 100011, "aclprofModelUnSubscribe", "subscribed to")
    assert prof.destroy_subscribe_config(again.config) == 0
    os.close(again.reader)
    os.close(again.writer)


def test_a_model_that_is_not_loaded_leaves_no_reader_waiting(model):
    unknown = type("Unknown", (), {"id": model.id + 1000})
    pipe = Pipe(unknown)
    assert pipe.ret == 100011
    with open(pipe.reader, "rb") as reader:
        assert reader.read() == b""  # the end of the pipe
    refused(prof.model_subscribe(model.id, pipe.config), 100000, "aclprofModelSubscribe", f"is {pipe.writer}, expected")
    refused(prof.model_subscribe(unknown.id, pipe.config), 100011, "aclprofModelSubscribe", f"modelId is {unknown.id}")
    assert prof.destroy_subscribe_config(pipe.config) == 0
    os.close(pipe.writer)  # the program's own, as before


def test_a_pipe_that_another_subscription_writes_to_stays_open(model):
    pipe = Pipe(model)
    refused(prof.model_subscribe(model.id + 1000, pipe.config), 100011, "aclprofModelSubscribe", "id of a loaded model")
    assert model.execute() == 0
    assert pipe.end().count == 1


def test_sessions_and_subscriptions_exclude_each_other(model, tmp_path):
    pipe = Pipe(model)
    for call in (lambda: prof.init(str(tmp_path)), lambda: prof.start(0), lambda: prof.stop(0), prof.finalize):
        refused(call(), 148047, "aclprof", "aclprofModelUnSubscribe before")
    assert pipe.end().count == 0
    assert prof.init(str(tmp_path)) == 0
    other = Pipe(model)
    assert other.ret == 148047
    refused(prof.model_subscribe(model.id, other.config), 148047, "aclprofModelSubscribe", "aclprofFinalize before")
    refused(prof.model_unsubscribe(model.id), 148047, "aclprofModelUnSubscribe")
    assert prof.finalize() == 0
    assert prof.destroy_subscribe_config(other.config) == 0
    os.close(other.reader)
    os.close(other.writer)


def test_descriptors_that_are_no_pipe(model, tmp_path):
    with open(tmp_path / "file", "wb") as file:
        config = prof.create_subscribe_config(1, NONE, file.fileno())
        refused(prof.model_subscribe(model.id, config), 100000, "aclprofModelSubscribe", f"is {file.fileno()}", "pipe")
        assert prof.destroy_subscribe_config(config) == 0


def test_a_program_that_is_profiled_has_no_subscriptions(run_script, tmp_path):
    config, path = tmp_path / "acl.json", tmp_path / "net.om"
    config.write_text(json.dumps({"profiler": {"switch": "on", "output": str(tmp_path / "out")}}))
    path.write_bytes(affine_bytes())
    code = (
        "import os, acl\n"
        f"print(acl.init({str(config)!r}), acl.rt.set_device(0))\n"
        "reader, writer = os.pipe()\n"
        "config = acl.prof.create_subscribe_config(1, 255, writer)\n"
        f"model, ret = acl.mdl.load_from_file({str(path)!r})\n"
        "print(ret, acl.prof.model_subscribe(model, config), acl.prof.model_unsubscribe(model))\n"
    )
    done = run_script(code)
    assert done.stdout.splitlines() == ["0 0", "0 100042 100042"], done.stderr
