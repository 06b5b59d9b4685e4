"""The clock model: exact times of operators and programs on several chips, in events, profiles and traces."""

import asyncio
import json
import textwrap

import numpy
import pytest

import acl

pytestmark = pytest.mark.needs_sim

LAUNCH, LINK = 5000, 32
VECTOR, CUBE = 128, {1: 8192, 2: 4096, 4: 1024}
#                    AI cores, cube cores, vector units, bytes per cycle and AI core, MHz
CHIPS = {
    "Ascend910B3": (20, 20, 40, 32, 1800),
    "Ascend910B1": (24, 24, 48, 32, 1850),
    "Ascend310P3": (8, 8, 8, 17, 1060),
    "Ascend910A": (32, 32, 32, 32, 1000),
}
SOC = "Ascend910B3"


def up(value, by):
    """Return the quotient, rounded up."""
    return -(-value // by)


def time_of(size, products=0, elements=0, width=2, link=0, soc=SOC):
    """Return the nanoseconds of a task: bytes in memory, multiply-adds, elements, bytes over the link."""
    ai, cube, vector, ddr, mhz = CHIPS[soc]
    cycles = max(up(size, ai * ddr), up(elements, VECTOR // width * vector))
    if products:
        cycles = max(cycles, up(products, CUBE[width] * cube))
    return LAUNCH + max(up(1000 * cycles, mhz), up(link, LINK))


@pytest.fixture
def clock(request):
    """Give a function that returns the nanoseconds of what it calls, on the chip that the test names."""
    acl.sim.configure(clock="model", soc=getattr(request, "param", SOC))
    with acl.Device(0), acl.Stream() as stream, acl.Event() as start, acl.Event() as end:

        def measure(function):
            stream.record(start)
            function(stream)
            stream.record(end)
            stream.synchronize()
            return round((end - start) * 1e6)

        yield measure
    acl.sim.reset()


def array(*shape, dtype="f2"):
    """Return an array of zeros."""
    return acl.DeviceArray.from_numpy(numpy.zeros(shape, dtype))


def test_an_add(clock):
    one, out = array(512, 512), array(512, 512)
    size = 512 * 512
    assert clock(lambda stream: acl.nn.add(one, one, out=out, stream=stream)) == time_of(6 * size, elements=size)
    row = array(512)
    assert clock(lambda stream: acl.nn.add(one, row, out=out, stream=stream)) == time_of(4 * size + 1024, elements=size)


@pytest.mark.parametrize("clock", CHIPS, indirect=True)
def test_a_product_on_each_chip(clock):
    soc = acl.sim.get_config("soc")
    left, right, out = array(256, 512), array(512, 128), array(256, 128)
    size = 2 * (256 * 512 + 512 * 128 + 256 * 128)
    expected = time_of(size, 256 * 512 * 128, soc=soc)
    assert clock(lambda stream: acl.nn.matmul(left, right, out=out, stream=stream)) == expected


@pytest.mark.parametrize(("dtype", "width"), [("f2", 2), ("f4", 4)])
def test_products_take_the_time_of_their_type(clock, dtype, width):
    left, right, out = array(256, 256, dtype=dtype), array(256, 256, dtype=dtype), array(256, 256, dtype=dtype)
    expected = time_of(3 * width * 256**2, 256**3, width=width)
    assert clock(lambda stream: acl.nn.matmul(left, right, out=out, stream=stream)) == expected
    assert (expected - LAUNCH) == {2: 342, 4: 683}[width]


def test_products_with_batches_transposed_operands_and_a_sum(clock):
    left, right, out = array(4, 64, 512), array(4, 512, 64), array(4, 64, 64)
    products = 4 * 64 * 512 * 64
    size = 2 * (4 * 64 * 512 * 2 + 4 * 64 * 64)
    expected = time_of(size, products)
    assert clock(lambda stream: acl.nn.matmul(left, right, out=out, stream=stream)) == expected
    turned = array(4, 64, 512)
    measured = clock(lambda stream: acl.nn.matmul(left, turned.transpose((0, 2, 1)), out=out, stream=stream))
    assert measured == expected
    bias, rows, columns, result = array(64, 64), array(64, 4096), array(4096, 64), array(64, 64)
    size = 2 * (2 * 64 * 64 + 2 * 64 * 4096)
    measured = clock(lambda stream: acl.nn.addmm(bias, rows, columns, 1, 1, out=result, stream=stream))
    assert measured == time_of(size, 64 * 64 * 4096)


def test_copies_use_the_memory_or_the_link(clock):
    size = 1 << 20
    with acl.Buffer(size) as one, acl.Buffer(size) as two, acl.Buffer(size, kind="host") as host:
        assert clock(lambda stream: two.copy_from(one, stream=stream)) == time_of(2 * size)
        assert clock(lambda stream: two.copy_from(host, stream=stream)) == time_of(size, link=size)
        assert clock(lambda stream: host.copy_from(two, stream=stream)) == time_of(size, link=size)
        assert clock(lambda stream: one.fill(3, stream=stream)) == time_of(size)


def test_a_saved_model_takes_the_time_of_its_steps(clock, tmp_path):
    one, two, out = array(256, 256), array(256, 256), array(256, 256)
    with acl.Stream() as stream, acl.capture(stream) as graph:
        acl.nn.matmul(one, one, out=two, stream=stream)
        acl.nn.add(two, one, out=out, stream=stream)
    with graph:
        graph.save(tmp_path / "two.om", [one], [out])
    expected = time_of(6 * 256**2, 256**3) + time_of(6 * 256**2, elements=256**2)
    with acl.Model(tmp_path / "two.om") as model:
        assert clock(lambda stream: model.submit(one, out=two, stream=stream).result()) == expected


def test_a_convolution(clock):
    image, weight, out = array(2, 16, 32, 32), array(8, 16, 3, 3), array(2, 8, 30, 30)
    products = 2 * 8 * 30 * 30 * 16 * 3 * 3
    size = 2 * (2 * 16 * 32 * 32 + 8 * 16 * 3 * 3 + 2 * 8 * 30 * 30)

    def run(stream):
        acl.nn.convolution(image, weight, None, [1, 1], [0, 0], [1, 1], False, [0, 0], 1, 0, out=out, stream=stream)

    assert clock(run) == time_of(size, products)


def test_the_host(clock):
    with acl.Buffer(1 << 20) as block, acl.Stream() as other:
        before = acl.sim.clock()
        assert acl.sim.clock() == before
        block.fill(1, stream=other)
        assert acl.sim.clock() == before
        other.synchronize()
        assert acl.sim.clock() == before + time_of(1 << 20)


def test_await(clock):
    async def run(block, stream):
        acl.sim.hold(stream.handle)
        block.fill(1, stream=stream)
        with stream.record() as event:
            asyncio.get_running_loop().call_soon(acl.sim.release, stream.handle)
            await event
        return acl.sim.clock()

    with acl.Buffer(1 << 20) as block, acl.Stream() as other:
        before = acl.sim.clock()
        assert asyncio.run(run(block, other)) == before + time_of(1 << 20)


def test_pyacl(clock):
    rt = acl.rt
    stream, start, end = rt.create_stream()[0], rt.create_event()[0], rt.create_event()[0]
    block, ret = rt.malloc(1 << 20, 0)
    assert ret == 0
    assert rt.record_event(start, stream) == 0
    assert rt.memset_async(block, 1 << 20, 1, 1 << 20, stream) == 0
    assert rt.record_event(end, stream) == 0
    assert rt.synchronize_stream(stream) == 0
    milliseconds, ret = rt.event_elapsed_time(start, end)
    assert ret == 0
    assert round(milliseconds * 1e6) == time_of(1 << 20)
    assert rt.free(block) == 0
    assert [rt.destroy_event(start), rt.destroy_event(end), rt.destroy_stream(stream)] == [0, 0, 0]


def test_a_profile_has_the_times_of_the_model(clock, tmp_path):
    prof = acl.prof
    assert prof.init(str(tmp_path)) == 0
    config = prof.create_config([0], 255, 0, 2)
    config = config[0] if isinstance(config, tuple) else config
    assert prof.start(config) == 0
    with acl.Buffer(1 << 20) as block, acl.Buffer(1 << 20) as other:
        clock(lambda stream: (block.fill(1, stream=stream), other.copy_from(block, stream=stream)))
    assert prof.stop(config) == 0
    assert prof.finalize() == 0
    (path,) = tmp_path.glob("PROF_*/trace.json")
    tasks = [event for event in json.loads(path.read_text())["traceEvents"] if event["ph"] == "X"]
    durations = {task["name"]: round(task["dur"] * 1000) for task in tasks}
    assert durations["aclrtMemsetAsync"] == time_of(1 << 20)
    assert durations["aclrtMemcpyAsync"] == time_of(2 << 20)


def test_a_trace_has_the_times_of_the_model(run_script, tmp_path):
    program = """
        import acl
        rt = acl.rt
        assert rt.set_device(0) == 0
        stream, block = rt.create_stream()[0], rt.malloc(1 << 20, 0)[0]
        assert rt.memset_async(block, 1 << 20, 7, 1 << 20, stream) == 0
        assert rt.synchronize_stream(stream) == 0
    """
    path = tmp_path / "trace.json"
    done = run_script(textwrap.dedent(program), {"ACL_SIM_CLOCK": "model", "ACL_SIM_TRACE": path})
    assert done.returncode == 0, done.stderr
    slices = [event for event in json.loads(path.read_text())["traceEvents"] if event["ph"] == "X"]
    times = {event["name"]: [round(1000 * event["ts"]), round(1000 * event["dur"])] for event in slices}
    waits = [time for name, time in times.items() if name in ("aclrtSynchronizeStream", "aclrtSetDevice")]
    assert sorted(waits) == [[0, 0], [0, time_of(1 << 20)]]
    assert [0, time_of(1 << 20)] in [
        [round(1000 * event["ts"]), round(1000 * event["dur"])] for event in slices if event.get("cat") != "api"
    ]


def test_the_wall_clock():
    assert acl.sim.get_config("clock") == "wall"
    with acl.Device(0):
        before = acl.sim.clock()
        assert acl.sim.clock() > before > 0
