"""Random numbers that a device makes by itself, and updates of such tasks in instances that are built."""

import numpy
import pytest
from helpers.capture import HEAD, building, run
from helpers.expect import NULL, pointer, refused

import acl
from acl._lib import ffi, lib

MASK, UNIFORM, NORMAL, TRUNCATED = range(4)
FLOAT, FLOAT16, INT32, UINT32, INT64, UINT64, BF16 = 0, 1, 3, 8, 9, 10, 27
TYPES = {FLOAT: "f4", FLOAT16: "f2", INT32: "i4", UINT32: "u4", INT64: "i8", UINT64: "u8"}
COUNT = 4000
UPDATE_RANDOM, UPDATE_KERNEL = 1, 2


class Generator:
    """Device memory for results and the offset, and calls that fill the results."""

    def __init__(self, stream):
        self.stream = stream
        self.address, ret = acl.rt.malloc(16 * COUNT, 0)
        assert ret == 0
        self.offset = self.address + 8 * COUNT
        self.clear()

    def clear(self):
        """Set all memory to zero, the offset too."""
        assert acl.rt.memset(self.address, 16 * COUNT, 0, 16 * COUNT) == 0

    def info(self, function, code, values, count=COUNT, seed=1):
        """Return a description with the values in the call."""
        dtype = TYPES.get(code, "f2")
        made = ffi.new("aclrtRandomNumTaskInfo *")
        made.dataType = code
        made.randomNumFuncParaInfo.funcType = function
        paras = ffi.cast("aclrtRandomParaInfo *", ffi.addressof(made.randomNumFuncParaInfo.paramInfo))
        for place, value in enumerate(values):
            self.fill(paras[place], numpy.array([value], dtype))
        made.randomResultAddr = pointer(self.address)
        made.randomCounterAddr = pointer(self.offset)
        self.fill(made.randomSeed, numpy.array([seed], "u8"))
        self.fill(made.randomNum, numpy.array([count], "u8"))
        return made

    def fill(self, para, array):
        """Put one number into a parameter."""
        para.size = array.nbytes
        ffi.memmove(para.valueOrAddr, array.tobytes(), array.nbytes)

    def point(self, para, address, size=8):
        """Let a parameter name device memory."""
        para.isAddr, para.size = 1, size
        ffi.memmove(para.valueOrAddr, int(address).to_bytes(8, "little"), 8)

    def put(self, address, array):
        """Copy an array to device memory."""
        assert acl.rt.memcpy(address, array.nbytes, array.ctypes.data, array.nbytes, 1) == 0

    def read(self, dtype, count=COUNT):
        """Return results."""
        array = numpy.empty(count, dtype)
        assert acl.rt.memcpy(array.ctypes.data, array.nbytes, self.address, array.nbytes, 2) == 0
        return array

    def make(self, info, dtype, count=COUNT):
        """Run the task and return its results."""
        ret = lib.aclrtRandomNumAsync(info, pointer(self.stream), NULL)
        assert ret == 0, acl.get_recent_err_msg()
        assert acl.rt.synchronize_stream(self.stream) == 0, acl.get_recent_err_msg()
        return self.read(dtype, count)


@pytest.fixture
def generator(stream):
    """Make a generator on a stream."""
    generator = Generator(stream)
    yield generator
    acl.rt.free(generator.address)


@pytest.mark.parametrize("code", list(TYPES))
def test_uniform_numbers_lie_between_their_bounds(generator, code):
    low, high = (10, 20) if code in (UINT32, UINT64) else (-10, 10)
    found = generator.make(generator.info(UNIFORM, code, (low, high)), TYPES[code]).astype("f8")
    assert found.min() >= low and found.max() <= high
    assert abs(found.mean() - (low + high) / 2) < 1
    values = set(found.tolist())
    assert len(values) > 1000 if code in (FLOAT, FLOAT16) else values == set(range(low, high))


@pytest.mark.parametrize("code", [FLOAT, FLOAT16])
def test_normal_numbers_have_their_mean_and_deviation(generator, code):
    found = generator.make(generator.info(NORMAL, code, (3, 2)), TYPES[code]).astype("f8")
    assert abs(found.mean() - 3) < 0.15 and abs(found.std() - 2) < 0.1
    assert (abs(found - 3) > 4).sum() > 100
    found = generator.make(generator.info(TRUNCATED, code, (3, 2)), TYPES[code]).astype("f8")
    assert abs(found.mean() - 3) < 0.15
    assert abs(found - 3).max() <= 4.01


def test_bfloat16_numbers_are_rounded_floats(generator):
    info = generator.info(UNIFORM, BF16, (0, 0))
    paras = ffi.cast("aclrtRandomParaInfo *", ffi.addressof(info.randomNumFuncParaInfo.paramInfo))
    generator.fill(paras[1], numpy.array([0x3F80], "u2"))  # 1
    bits = generator.make(info, "u2").astype("u4")
    found = (bits << 16).view("f4")
    assert 0 <= found.min() and found.max() <= 1 and abs(found.mean() - 0.5) < 0.05


def test_masks_drop_their_share(generator):
    info = generator.info(MASK, FLOAT, (0.25,), count=COUNT - 3)
    bits = numpy.unpackbits(generator.make(info, "u1", COUNT // 8 + 8), bitorder="little")
    assert abs(bits[: COUNT - 3].mean() - 0.75) < 0.03
    assert not bits[COUNT - 3 :].any()


def test_the_seed_and_the_offset_choose_the_sequence(generator):
    first = generator.make(generator.info(UNIFORM, FLOAT, (0, 1)), "f4").tolist()
    assert generator.make(generator.info(UNIFORM, FLOAT, (0, 1)), "f4").tolist() == first
    assert generator.make(generator.info(UNIFORM, FLOAT, (0, 1), seed=2), "f4").tolist() != first
    generator.put(generator.offset, numpy.array([100, 0], "u8"))
    moved = generator.make(generator.info(UNIFORM, FLOAT, (0, 1)), "f4").tolist()
    assert moved[:-100] == first[100:]


def test_values_may_stand_in_device_memory(generator):
    plain = generator.make(generator.info(UNIFORM, FLOAT, (0, 1), seed=7), "f4").tolist()
    generator.clear()
    info = generator.info(UNIFORM, FLOAT, (0, 0))
    paras = ffi.cast("aclrtRandomParaInfo *", ffi.addressof(info.randomNumFuncParaInfo.paramInfo))
    generator.put(generator.offset + 64, numpy.array([7, COUNT - 1], "u8"))
    generator.put(generator.offset + 128, numpy.array([1], "f4"))
    generator.point(info.randomSeed, generator.offset + 64)
    generator.point(info.randomNum, generator.offset + 72)
    generator.point(paras[1], generator.offset + 128, 4)
    info.randomParaAddr = pointer(generator.offset + 256)
    found = generator.make(info, "f4").tolist()
    assert found == [*plain[:-1], 0]


def test_a_number_that_is_too_great_when_it_runs(generator):
    info = generator.info(UNIFORM, FLOAT, (0, 1))
    generator.put(generator.offset + 64, numpy.array([2**40], "u8"))
    generator.point(info.randomNum, generator.offset + 64)
    assert lib.aclrtRandomNumAsync(info, pointer(generator.stream), NULL) == 0
    refused(acl.rt.synchronize_stream(generator.stream), 507053, "aclrtRandomNumAsync", "larger than the result buffer")


def test_recorded_tasks_are_updated_from_device_memory(generator, stream, other):
    number = ffi.new("uint32_t *")
    first = generator.make(generator.info(UNIFORM, FLOAT, (0, 1)), "f4", 16).tolist()
    second = generator.make(generator.info(UNIFORM, FLOAT, (0, 1), seed=5), "f4", 16).tolist()
    with building(HEAD) as (instance, (bound,)):
        info = generator.info(UNIFORM, FLOAT, (0, 1), count=16)
        assert lib.aclrtRandomNumAsync(info, pointer(bound), NULL) == 0
        assert lib.aclrtGetThreadLastTaskId(number) == 0
        assert acl.mdl.ri_end_task(instance, bound) == 0
        assert acl.mdl.ri_build_end(instance) == 0
        run(instance, stream)
        assert generator.read("f4", 16).tolist() == first
        place = generator.offset + 512
        fresh = generator.info(UNIFORM, FLOAT, (0, 1), count=8, seed=5)
        generator.put(place, numpy.frombuffer(ffi.buffer(fresh), "u1").copy())
        update = ffi.new("aclrtTaskUpdateInfo *")
        update.id = UPDATE_RANDOM
        update.val.randomTaskAttr.srcAddr = pointer(place)
        update.val.randomTaskAttr.size = ffi.sizeof("aclrtRandomNumTaskInfo")
        for _ in range(2):
            assert lib.aclrtTaskUpdateAsync(pointer(bound), number[0], update, pointer(other)) == 0
        assert acl.rt.synchronize_stream(other) == 0
        run(instance, stream)
        assert generator.read("f4", 16).tolist() == second[:8] + first[8:]
        fresh.randomResultAddr = pointer(64)
        generator.put(place, numpy.frombuffer(ffi.buffer(fresh), "u1").copy())
        assert lib.aclrtTaskUpdateAsync(pointer(bound), number[0], update, pointer(other)) == 0
        refused(acl.rt.synchronize_stream(other), 107000, "aclrtTaskUpdateAsync", "is invalid, or names memory")
        run(instance, stream)


def update_info(generator, **changes):
    update = ffi.new("aclrtTaskUpdateInfo *")
    update.id = changes.get("id", UPDATE_RANDOM)
    update.val.randomTaskAttr.srcAddr = pointer(changes.get("address", generator.offset))
    update.val.randomTaskAttr.size = changes.get("size", 4096)
    return update


def test_updates_are_checked(generator, stream):
    def update(info, bound=stream, task=0):
        return lib.aclrtTaskUpdateAsync(pointer(bound), task, info, pointer(stream))

    name = "aclrtTaskUpdateAsync"
    refused(update(NULL), 100000, name, "info is NULL")
    refused(update(update_info(generator), 0), 100000, name, "taskStream is NULL")
    refused(update(update_info(generator, id=3)), 107000, name, "info->id is 3")
    refused(update(update_info(generator, id=UPDATE_KERNEL)), 207000, name, "for kernels")
    refused(update(update_info(generator, size=8)), 107000, name, "size is 8")
    refused(update(update_info(generator)), 107005, name, "taskStream is not bound")
    with building(HEAD) as (_, (bound,)):
        refused(update(update_info(generator), bound), 107000, name, "taskId is 0")
        assert acl.rt.value_write(generator.address, 1, 0, bound) == 0
        refused(update(update_info(generator), bound), 107000, name, "taskId is 0")
        assert lib.aclrtRandomNumAsync(generator.info(UNIFORM, FLOAT, (0, 1)), pointer(bound), NULL) == 0
        refused(update(update_info(generator, address=64), bound, 1), 107000, name, "srcAddr")


def change(function):
    """Return a function that changes a good description."""

    def make(generator):
        info = generator.info(UNIFORM, FLOAT, (0, 1))
        function(info)
        return info

    return make


@pytest.mark.parametrize(
    ("code", "said", "make"),
    [
        (100000, "randomResultAddr is", change(lambda info: setattr(info, "randomResultAddr", NULL))),
        (100000, "randomCounterAddr", change(lambda info: setattr(info, "randomCounterAddr", NULL))),
        (107000, "dataType is 2", change(lambda info: setattr(info, "dataType", 2))),
        (107000, "funcType is 4", change(lambda info: setattr(info.randomNumFuncParaInfo, "funcType", 4))),
        (107000, "randomSeed.isAddr is 2", change(lambda info: setattr(info.randomSeed, "isAddr", 2))),
        (107000, "randomNum.size is 3", change(lambda info: setattr(info.randomNum, "size", 3))),
        (107000, "first parameter.size is 0", lambda generator: generator.info(UNIFORM, FLOAT, ())),
        (107000, "dataType is 3", lambda generator: generator.info(NORMAL, INT32, (0, 1))),
        (107000, "randomResultAddr is not", change(lambda info: setattr(info, "randomResultAddr", pointer(64)))),
        (107000, "randomCounterAddr is not", change(lambda info: setattr(info, "randomCounterAddr", pointer(64)))),
        (107000, "randomParaAddr is not", change(lambda info: setattr(info, "randomParaAddr", pointer(64)))),
        (107000, "randomResultAddr is not", lambda generator: generator.info(UNIFORM, FLOAT, (0, 1), count=2**62)),
    ],
)
def test_descriptions_are_checked(generator, code, said, make):
    ret = lib.aclrtRandomNumAsync(make(generator), pointer(generator.stream), NULL)
    refused(ret, code, "aclrtRandomNumAsync", said)


def test_reserved_and_null(generator):
    info = generator.info(UNIFORM, FLOAT, (0, 1))
    refused(lib.aclrtRandomNumAsync(NULL, NULL, NULL), 100000, "aclrtRandomNumAsync", "taskInfo is NULL")
    refused(lib.aclrtRandomNumAsync(info, NULL, pointer(1)), 100000, "aclrtRandomNumAsync", "reserve is 0x1")
