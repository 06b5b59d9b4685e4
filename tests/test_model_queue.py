"""Models that queues feed: they run by themselves, and what they make comes out of queues."""

import threading

import numpy
import pytest
from helpers.expect import NULL, refused
from helpers.models import initialise
from helpers.queues import IMPORTS, create, put, take

import acl
from acl._lib import ffi, lib

mdl = acl.mdl

pytestmark = pytest.mark.needs_sim

NUMBER = ffi.new("uint32_t *")


@pytest.fixture(autouse=True)
def process(device):
    initialise()


@pytest.fixture
def queues():
    """Give ``queues(count)``; they are destroyed at the end."""
    made = []

    def several(count):
        made.extend(create() for _ in range(count))
        return made[-count:]

    yield several
    for queue in made:
        lib.acltdtDestroyQueue(queue)


def load(name, inputs, outputs):
    """Load a model between queues; return the code. The id is in NUMBER."""
    return lib.aclmdlLoadFromFileWithQ(name, NUMBER, inputs, len(inputs), outputs, len(outputs))


@pytest.fixture
def line(queues):
    """Give the queues around a model that doubles four numbers and adds one."""
    acl.sim.affine("line.om", [((4,), "f4")], scale=2, offset=1)
    source, target = queues(2)
    assert load(b"line.om", [source], [target]) == 0
    number = NUMBER[0]
    yield number, source, target
    mdl.unload(number)
    acl.sim.model("line.om")(None)


def numbers(*values):
    return numpy.array(values, "f4").tobytes()


def test_what_is_put_comes_out_computed(line):
    _, source, target = line
    for first in range(5):
        assert put(source, numbers(first, 1, 2, 3), user=b"frame %d" % first) == 0
    for first in range(5):
        found, user = take(target, timeout=-1, user=8)
        assert numpy.frombuffer(found, "f4").tolist() == [2 * first + 1, 3, 5, 7]
        assert user == b"frame %d\0" % first


def test_a_run_needs_one_element_of_each_input(queues):
    @acl.sim.model("pair.om", inputs=[((2,), "f4"), ((2,), "f4")], outputs=[((2,), "f4"), ((2,), "f4")])
    def pair(x, y):
        return x + y, x - y

    left, right, sums, differences = queues(4)
    assert load(b"pair.om", [left, right], [sums, differences]) == 0
    number = NUMBER[0]
    assert [put(left, numbers(5, 6)), put(left, numbers(7, 8))] == [0, 0]
    assert [put(right, numbers(1, 2)), put(right, numbers(3, 4))] == [0, 0]
    found = [numpy.frombuffer(take(queue, -1), "f4").tolist() for queue in (sums, sums, differences, differences)]
    assert found == [[6, 8], [10, 12], [4, 4], [4, 4]]
    assert mdl.unload(number) == 0
    acl.sim.model("pair.om")(None)


def test_models_in_a_row(line, queues):
    _, _, middle = line
    (end,) = queues(1)
    assert load(b"line.om", [middle], [end]) == 0
    number = NUMBER[0]
    assert put(line[1], numbers(0, 1, 2, 3)) == 0
    assert numpy.frombuffer(take(end, -1), "f4").tolist() == [3, 7, 11, 15]
    assert mdl.unload(number) == 0


def test_unloading_ends_it(line):
    number, source, target = line
    assert put(source, numbers(0, 0, 0, 0)) == 0
    assert take(target, -1) == numbers(1, 1, 1, 1)
    assert mdl.unload(number) == 0
    refused(mdl.unload(number), 145003, f"modelId is {number}")
    assert put(source, numbers(1, 2, 3, 4)) == 0
    assert [take(target), take(source)] == [207013, numbers(1, 2, 3, 4)]


def test_unloading_waits_for_the_run(queues):
    started, finish = threading.Event(), threading.Event()

    @acl.sim.model("slow.om", inputs=[((1,), "f4")], outputs=[((1,), "f4")])
    def slow(x):
        started.set()
        finish.wait()
        return x

    source, target = queues(2)
    assert load(b"slow.om", [source], [target]) == 0
    number, codes = NUMBER[0], []
    assert put(source, numbers(7)) == 0
    started.wait()
    unloading = threading.Thread(target=lambda: codes.append(mdl.unload(number)))
    unloading.start()
    finish.set()
    unloading.join()
    assert codes == [0]
    assert take(target) == numbers(7)
    acl.sim.model("slow.om")(None)


def test_a_destroyed_queue_ends_it(line):
    number, source, target = line
    assert lib.acltdtDestroyQueue(source) == 0
    assert mdl.unload(number) == 0
    assert take(target) == 207013


def test_programs_do_not_run_it(line):
    empty = mdl.create_dataset()
    refused(mdl.execute(line[0], empty, empty), 145003, "aclmdlExecute", "a model that is fed by queues")
    refused(mdl.execute_async(line[0], empty, empty, 0), 145003, "aclmdlExecuteAsync", "a model that is fed by queues")
    assert mdl.destroy_dataset(empty) == 0


def test_a_run_that_fails_says_so(run_script):
    code = """
import acl
from acl._lib import ffi, lib
from helpers.queues import create, put, take
acl.init()
acl.rt.set_device(0)

@acl.sim.model("picky.om", inputs=[((1,), "f4")], outputs=[((1,), "f4")])
def picky(x):
    if x[0] < 0:
        raise ValueError("below zero")
    return x

number, source, target = ffi.new("uint32_t *"), create(), create()
assert lib.aclmdlLoadFromFileWithQ(b"picky.om", number, [source], 1, [target], 1) == 0
assert [put(source, data, user=b"tag") for data in (bytes(4), b"\\0\\0\\x80\\xbf", b"123", bytes(4))] == [0] * 4
assert [take(target, -1, user=3) for _ in range(4)] == [
    (bytes(4), b"tag"), (b"", b"tag"), (b"", b"tag"), (bytes(4), b"tag")]
"""
    done = run_script(code, IMPORTS)
    assert done.returncode == 0, done.stderr
    assert "below zero" in done.stderr
    assert "came with 3 bytes, expected 4" in done.stderr


def test_queues_fit_the_model(queues):
    acl.sim.affine("line.om", [((4,), "f4")], scale=2, offset=1)
    source, target = queues(2)
    refused(load(b"line.om", [source, source], [target]), 145000, "inputQNum is 2", "expected 1 and 1")
    refused(load(b"line.om", [source], [target, 7]), 145008, "outputQ names queue 7")
    refused(lib.aclmdlLoadFromFileWithQ(b"line.om", NUMBER, NULL, 1, [target], 1), 100000, "inputQ is NULL")
    refused(load(b"nowhere.om", [source], [target]), 145002, 'modelPath is "nowhere.om"')
    acl.sim.model("line.om")(None)


def test_options_load_it_too(queues):
    acl.sim.affine("line.om", [((4,), "f4")], scale=2, offset=1)
    source, target = (ffi.new("uint32_t *", queue) for queue in queues(2))
    handle = mdl.create_config_handle()
    ids = [int(ffi.cast("intptr_t", place)) for place in (source, target)]
    for attribute, value in ((1, 5), (2, "line.om"), (9, 1), (10, ids[0]), (11, 1), (12, ids[1])):
        assert mdl.set_config_opt(handle, attribute, value) == 0
    number, ret = mdl.load_with_config(handle)
    assert ret == 0
    assert put(source[0], numbers(0, 1, 2, 3)) == 0
    assert take(target[0], -1) == numbers(1, 3, 5, 7)
    assert mdl.unload(number) == 0
    acl.sim.model("line.om")(None)


def test_a_reset_ends_it(queues):
    acl.sim.affine("line.om", [((4,), "f4")], scale=2, offset=1)
    source, target = queues(2)
    assert load(b"line.om", [source], [target]) == 0
    acl.sim.reset()
    assert acl.rt.set_device(0) == 0
    assert put(source, numbers(0)) == 100032
