"""Floats that overflow: what becomes of them, the status that tells of it, and what its calls refuse."""

import numpy
import pytest
from helpers.expect import NULL, in_thread, pointer, refused
from helpers.single import Single
from helpers.tensors import Device, from_bfloat, to_bfloat

import acl
from acl._lib import ffi, lib

pytestmark = pytest.mark.needs_sim

SATURATION, INFNAN = 0, 1
PA2, PA3, P950 = "Ascend910B3", "Ascend910_9392", "Ascend910_95"
P310B, P310P, P910 = "Ascend310B1", "Ascend310P3", "Ascend910A"
SIZE = 64
CLEAR, SET = bytes(SIZE), bytes([1]) + bytes(SIZE - 1)
READS = {
    "aclrtGetOverflowStatus": lambda block, stream: lib.aclrtGetOverflowStatus(block, SIZE, stream),
    "aclrtGetFloatOverflowStatus": lambda block, stream: lib.aclrtGetFloatOverflowStatus(block, SIZE, stream),
    "aclrtNpuGetFloatOverFlowStatus": lambda block, stream: lib.aclrtNpuGetFloatOverFlowStatus(block, SIZE, 0, stream),
}
CLEARS = {
    "aclrtResetOverflowStatus": lib.aclrtResetOverflowStatus,
    "aclrtResetFloatOverflowStatus": lib.aclrtResetFloatOverflowStatus,
    "aclrtNpuClearFloatOverFlowStatus": lambda stream: lib.aclrtNpuClearFloatOverFlowStatus(0, stream),
}


@pytest.fixture
def make(configure):
    """Give ``make(soc=PA2, mode=None)``, which opens a device whose stream has that mode."""

    def open_device(soc=PA2, mode=None):
        configure(soc=soc)
        if mode is not None:
            assert acl.rt.set_device_sat_mode(mode) == 0
        return Device()

    return open_device


def divide(npu, kind="f4", over=0.0):
    """Divide -1, 0, 1 and 2 by a number and return the quotients as they are in memory."""
    numbers, divisors = (
        to_bfloat(values) if kind == "b2" else numpy.array(values, kind) for values in ([-1, 0, 1, 2], [over] * 4)
    )
    own, other, out = (npu.tensor(array, kind) for array in (numbers, divisors, numpy.zeros_like(numbers)))
    assert npu.call("div", own, other, out) == 0, acl.get_recent_err_msg()
    return npu.get(out)


def content(block):
    data = bytes(SIZE)
    assert acl.rt.memcpy(acl.util.bytes_to_ptr(data), SIZE, block, SIZE, 2) == 0
    return data


def status(npu, read="aclrtGetOverflowStatus"):
    """Return the status as bytes."""
    block, ret = acl.rt.malloc(SIZE, 0)
    assert ret == 0
    assert acl.rt.memset(block, SIZE, 255, SIZE) == 0
    assert READS[read](pointer(block), pointer(npu.stream)) == 0
    assert acl.rt.synchronize_stream(npu.stream) == 0
    data = content(block)
    assert acl.rt.free(block) == 0
    return data


# ---- modes ----


@pytest.mark.parametrize(
    ("soc", "default", "other"),
    [(PA2, INFNAN, 0), (PA3, INFNAN, 0), (P950, INFNAN, 207000)]
    + [(soc, SATURATION, 207000) for soc in (P310B, P310P, P910)],
)
def test_modes_of_the_chips(configure, soc, default, other):
    configure(soc=soc)
    assert acl.rt.get_device_sat_mode() == (default, 0)
    assert acl.rt.set_device_sat_mode(default) == 0
    if other:
        refused(acl.rt.set_device_sat_mode(1 - default), other, soc, f"mode is {1 - default}")
        assert acl.rt.get_device_sat_mode() == (default, 0)
    else:
        assert acl.rt.set_device_sat_mode(1 - default) == 0
        assert in_thread(acl.rt.get_device_sat_mode) == (1 - default, 0)


@pytest.mark.parametrize("kind", ["f2", "b2", "f4", "f8"])
def test_saturated_results_are_the_largest_numbers_and_zero(make, kind):
    npu = make(mode=SATURATION)
    quotients = divide(npu, kind)
    largest = {"f2": 65504.0, "b2": from_bfloat(0x7F7F)}.get(kind) or numpy.finfo(kind).max
    assert (from_bfloat(quotients) if kind == "b2" else quotients).tolist() == [-largest, 0, largest, largest]


def test_infinities_and_nan_stay_in_the_other_mode(make):
    npu = make(mode=INFNAN)
    quotients = divide(npu)
    assert quotients[[0, 2, 3]].tolist() == [-numpy.inf, numpy.inf, numpy.inf]
    assert numpy.isnan(quotients[1])


def test_streams_keep_the_mode_they_were_created_in(make):
    npu = make(mode=INFNAN)
    assert acl.rt.set_device_sat_mode(SATURATION) == 0
    assert numpy.isinf(divide(npu)[0])
    npu.stream, ret = acl.rt.create_stream()
    assert ret == 0
    assert acl.rt.set_device_sat_mode(INFNAN) == 0
    assert numpy.isfinite(divide(npu)).all()


def test_views_are_saturated_and_nothing_between(make):
    npu = make(mode=SATURATION)
    base = numpy.full((3, 4), numpy.inf, "f4")
    out = npu.view(base, base[:, ::2], "f4")
    one = npu.tensor(numpy.ones((3, 2), "f4"))
    assert npu.call("div", one, npu.tensor(numpy.zeros((3, 2), "f4")), out) == 0
    assert numpy.isfinite(npu.get(out)).all()
    after = numpy.empty_like(base)
    assert acl.rt.memcpy(after.ctypes.data, after.nbytes, out.address, after.nbytes, 2) == 0
    assert numpy.isinf(after[:, 1::2]).all()


def test_integers_and_kernels_in_python(make):
    npu = make(mode=SATURATION)

    @acl.sim.kernel("aclnnAbs")
    def fill(self, out):
        out[...] = 0x7F800000 if out.dtype.kind == "i" else numpy.nan

    whole, real = npu.tensor(numpy.zeros(2, "i4")), npu.tensor(numpy.ones(2, "f4"))
    assert npu.call("abs", whole, whole) == 0
    assert npu.get(whole).tolist() == [0x7F800000] * 2
    assert npu.call("abs", real, real) == 0
    assert npu.get(real).tolist() == [0, 0]


REDUCED = [  # chip; mode; type of elements; its code; what the largest becomes; the status
    (PA2, SATURATION, "f2", 1, 65504, SET),
    (PA2, SATURATION, "f4", 0, float(numpy.finfo("f4").max), SET),
    (PA2, INFNAN, "f2", 1, numpy.inf, CLEAR),
    (P950, INFNAN, "f2", 1, numpy.inf, CLEAR),
    (P310P, SATURATION, "f2", 1, 65504, SET),
    (P910, SATURATION, "f4", 0, float(numpy.finfo("f4").max), SET),
]


@pytest.mark.parametrize(("soc", "mode", "kind", "code", "most", "after"), REDUCED)
def test_reductions_follow_the_mode_of_their_stream(make, soc, mode, kind, code, most, after):
    npu = make(soc, mode)
    if soc in (PA2, P950):
        assert acl.rt.set_stream_overflow_switch(npu.stream, 1) == 0
    numbers = numpy.array([numpy.finfo(kind).max, -numpy.finfo(kind).max, 1, 2], kind)
    block = npu.put(numpy.concatenate([numbers, numbers]))
    assert acl.rt.reduce_async(block, block + numbers.nbytes, numbers.nbytes, 10, code, npu.stream, 0) == 0
    assert status(npu) == after
    sums = numpy.empty_like(numbers)
    assert acl.rt.memcpy(sums.ctypes.data, sums.nbytes, block, sums.nbytes, 2) == 0
    assert sums.tolist() == [most, -most, 2, 4]


# ---- the status ----


@pytest.mark.parametrize("read", READS)
@pytest.mark.parametrize("clear", CLEARS)
def test_status_is_set_by_an_overflow_until_it_is_cleared(make, read, clear):
    npu = make(P310P)
    assert status(npu, read) == CLEAR
    divide(npu, over=1.0)
    assert status(npu, read) == CLEAR
    divide(npu)
    assert status(npu, read) == SET
    assert status(npu, read) == SET
    assert CLEARS[clear](pointer(npu.stream)) == 0
    assert status(npu, read) == CLEAR


def by_type(single, op_type, inputs, outputs, kind):
    """Run an operator of the status; return the first element of each tensor, which has zeros behind it."""
    tensors = [single.take((8,), kind) for _ in range(inputs + outputs)]
    assert single.call(op_type, tensors[:inputs], tensors[inputs:]) == 0, acl.get_recent_err_msg()
    found = [tensor[2]() for tensor in tensors]
    assert not any(one[1:].any() for one in found)
    return [one[0] for one in found]


@pytest.mark.parametrize(
    ("read", "clear", "kind"),
    [
        (("NPUGetFloatStatus", 1, 1), ("NPUClearFloatStatus", 1, 1), "f4"),
        (("NPUGetFloatStatusV2", 0, 1), ("NPUClearFloatStatusV2", 0, 0), "i4"),
    ],
)
def test_operators_read_and_clear_the_status(make, read, clear, kind):
    npu = make(P310P)
    single = Single(npu)
    assert by_type(single, "NPUAllocFloatStatus", 0, 1, "f4") == [0]
    assert not any(by_type(single, *read, kind))
    divide(npu)
    assert set(by_type(single, *read, kind)) == {1}
    assert by_type(single, "NPUAllocFloatStatus", 0, 1, "f4") == [0]
    assert not any(by_type(single, *clear, kind))
    assert not any(by_type(single, *read, kind))
    assert status(npu) == CLEAR
    single.close()


def test_what_operators_of_the_status_refuse(make):
    single = Single(make(P310P))
    good, short, wide = single.take((8,), "f4"), single.take((7,), "f4"), single.take((4,), "f8")
    refused(single.call("NPUGetFloatStatus", [], [good]), 100021, "numInputs is 0, expected 1 for NPUGetFloatStatus")
    refused(single.call("NPUGetFloatStatusV2", [], []), 100022, "numOutputs is 0, expected 1")
    refused(single.call("NPUGetFloatStatus", [good], [short]), 100024, "tensor 1 of", "28 bytes, expected 8 numbers")
    refused(single.call("NPUClearFloatStatus", [wide], [good]), 100024, "tensor 0 of", "has data type 11")
    lost = single.desc((8,), "f4"), single.buffer(1 << 40, 32)
    refused(single.call("NPUGetFloatStatusV2", [], [lost]), 107000, "outputs")
    single.close()


def test_the_switch_concerns_what_is_submitted_later(make):
    npu = make(mode=SATURATION)
    assert acl.rt.get_stream_overflow_switch(npu.stream) == (0, 0)
    divide(npu)
    assert status(npu) == CLEAR
    acl.sim.hold(npu.stream)
    one, zero, out = (npu.tensor(numpy.full(2, value, "f4")) for value in (1, 0, 0))
    assert npu.call("div", one, zero, out) == 0
    assert acl.rt.set_stream_overflow_switch(npu.stream, 1) == 0
    assert acl.rt.get_stream_overflow_switch(npu.stream) == (1, 0)
    acl.sim.release(npu.stream)
    assert status(npu) == CLEAR
    divide(npu)
    assert status(npu) == SET
    assert acl.rt.set_stream_overflow_switch(npu.stream, 0) == 0
    assert acl.rt.reset_overflow_status(npu.stream) == 0
    divide(npu)
    assert status(npu) == CLEAR


def test_the_attribute_of_a_stream_is_its_switch(make):
    npu = make(mode=SATURATION)
    value = ffi.new("aclrtStreamAttrValue *", {"overflowSwitch": 1})
    assert lib.aclrtSetStreamAttribute(pointer(npu.stream), 2, value) == 0
    assert acl.rt.get_stream_overflow_switch(npu.stream) == (1, 0)
    divide(npu)
    assert status(npu) == SET
    assert acl.rt.set_stream_overflow_switch(npu.stream, 0) == 0
    assert lib.aclrtGetStreamAttribute(pointer(npu.stream), 2, value) == 0
    assert value.overflowSwitch == 0


@pytest.mark.parametrize("soc", [P310B, P310P, P910])
def test_chips_without_a_switch_take_the_attribute_and_keep_nothing(make, soc):
    npu = make(soc)
    value = ffi.new("aclrtStreamAttrValue *", {"overflowSwitch": 1})
    assert lib.aclrtSetStreamAttribute(pointer(npu.stream), 2, value) == 0
    assert lib.aclrtGetStreamAttribute(pointer(npu.stream), 2, value) == 0
    assert value.overflowSwitch == 0


@pytest.mark.parametrize(("soc", "elsewhere"), [(PA2, SET), (P310P, CLEAR)])
def test_status_is_the_process_or_one_of_each_context(make, soc, elsewhere):
    npu = make(soc, SATURATION)
    if soc == PA2:
        assert acl.rt.set_stream_overflow_switch(npu.stream, 1) == 0
    divide(npu)
    assert status(npu) == SET
    context, ret = acl.rt.create_context(0)
    assert ret == 0
    npu.stream = 0
    assert status(npu) == elsewhere
    assert acl.rt.destroy_context(context) == 0


@pytest.mark.finds("use-after-free")
def test_the_address_of_a_context_follows_the_status(make):
    npu = make(P910)
    address = ffi.new("void **")
    assert lib.aclrtCtxGetFloatOverflowAddr(address) == 0
    block = int(ffi.cast("uintptr_t", address[0]))
    assert content(block) == CLEAR
    divide(npu)
    assert content(block) == SET
    assert lib.aclrtCtxGetFloatOverflowAddr(address) == 0
    assert int(ffi.cast("uintptr_t", address[0])) == block
    assert acl.rt.reset_overflow_status(npu.stream) == 0
    assert acl.rt.synchronize_stream(npu.stream) == 0
    assert content(block) == CLEAR
    context, _ = acl.rt.create_context(0)
    assert lib.aclrtCtxGetFloatOverflowAddr(address) == 0
    other = int(ffi.cast("uintptr_t", address[0]))
    assert other != block
    assert acl.rt.destroy_context(context) == 0
    assert acl.rt.set_device(0) == 0
    assert acl.rt.memset(other, SIZE, 0, SIZE) == 107000  # it went with its context


def test_an_address_that_was_freed_is_made_anew(make):
    npu = make(P910)
    address = ffi.new("void **")
    assert lib.aclrtCtxGetFloatOverflowAddr(address) == 0
    assert lib.aclrtFree(address[0]) == 0
    divide(npu)
    assert lib.aclrtCtxGetFloatOverflowAddr(address) == 0
    assert lib.aclrtFree(address[0]) == 0


# ---- what is refused ----

WORD, GARBAGE = ffi.new("uint32_t *"), pointer(0x1234567)
ERRORS = [  # call with 64 bytes of device memory; code; what the message names
    (lambda block: acl.rt.set_device_sat_mode(2), 107000, "mode is 2"),
    (lambda block: acl.rt.set_device_sat_mode(-1), 107000, "mode is -1"),
    (lambda block: lib.aclrtGetDeviceSatMode(NULL), 100000, "mode is NULL"),
    (lambda block: acl.rt.set_stream_overflow_switch(0, 2), 100000, "flag is 2"),
    (lambda block: lib.aclrtSetStreamOverflowSwitch(GARBAGE, 1), 107017, "0x1234567"),
    (lambda block: lib.aclrtGetStreamOverflowSwitch(NULL, NULL), 100000, "flag is NULL"),
    (lambda block: lib.aclrtGetStreamOverflowSwitch(GARBAGE, WORD), 107017, "0x1234567"),
    (lambda block: lib.aclrtGetOverflowStatus(NULL, SIZE, NULL), 100000, "outputAddr is NULL"),
    (lambda block: lib.aclrtGetOverflowStatus(block, 63, NULL), 107000, "outputSize is 63, expected 64"),
    (lambda block: lib.aclrtGetOverflowStatus(block + 1, SIZE, NULL), 107000, "outputAddr"),
    (lambda block: lib.aclrtGetOverflowStatus(block, SIZE, GARBAGE), 107017, "0x1234567"),
    (lambda block: lib.aclrtGetFloatOverflowStatus(NULL, SIZE, NULL), 107000, "outputAddr is NULL"),
    (lambda block: lib.aclrtGetFloatOverflowStatus(block, 65, NULL), 107000, "outputSize is 65, expected 64"),
    (lambda block: lib.aclrtGetFloatOverflowStatus(block, SIZE, GARBAGE), 107017, "0x1234567"),
    (lambda block: lib.aclrtResetOverflowStatus(GARBAGE), 107017, "0x1234567"),
    (lambda block: lib.aclrtResetFloatOverflowStatus(GARBAGE), 107017, "0x1234567"),
    (lambda block: lib.aclrtNpuClearFloatOverFlowStatus(0, GARBAGE), 107017, "0x1234567"),
    (lambda block: lib.aclrtCtxGetFloatOverflowAddr(NULL), 107000, "overflowAddr is NULL"),
]


@pytest.mark.parametrize("row", range(len(ERRORS)))
def test_errors(make, row):
    call, code, words = ERRORS[row]
    make()
    block, ret = acl.rt.malloc(SIZE - 32, 0)  # padded by 32 bytes: all of it can be written
    assert ret == 0
    refused(call(ffi.cast("char *", block)), code, words)


ADDRESS = ffi.new("void **")
PLACED = {  # calls on a stream, with some memory
    **READS,
    **{name: lambda block, stream, call=call: call(stream) for name, call in CLEARS.items()},
    "aclrtSetStreamOverflowSwitch": lambda block, stream: lib.aclrtSetStreamOverflowSwitch(stream, 1),
}


@pytest.mark.parametrize("name", PLACED)
def test_where_the_stream_belongs(make, name):
    npu = make()
    block = ffi.cast("void *", acl.rt.malloc(SIZE, 0)[0])
    assert in_thread(lambda: PLACED[name](block, NULL)) == 107002
    assert acl.mdl.ri_capture_begin(npu.stream, 2) == 0
    refused(PLACED[name](block, pointer(npu.stream)), 107027, name)
    assert acl.mdl.ri_capture_end(npu.stream)[1] == 0
    context, _ = acl.rt.create_context(0)
    refused(PLACED[name](block, pointer(npu.stream)), 107003, name)
    assert acl.rt.destroy_context(context) == 0


def test_getters_without_a_context(configure):
    assert in_thread(lambda: lib.aclrtCtxGetFloatOverflowAddr(ADDRESS)) == 107002
    assert in_thread(lambda: lib.aclrtGetStreamOverflowSwitch(NULL, WORD)) == 107002


@pytest.mark.parametrize("soc", [P310B, P310P, P910])
def test_chips_without_a_switch_take_it_without_effect(make, soc):
    npu = make(soc)
    assert acl.rt.set_stream_overflow_switch(npu.stream, 1) == 0
    assert acl.rt.get_stream_overflow_switch(npu.stream) == (0, 0)
    refused(acl.rt.set_stream_overflow_switch(npu.stream, 2), 100000, "flag is 2")
    refused(lib.aclrtSetStreamOverflowSwitch(GARBAGE, 1), 107017, "0x1234567")
    refused(lib.aclrtGetStreamOverflowSwitch(GARBAGE, WORD), 107017, "0x1234567")
    assert in_thread(lambda: acl.rt.get_stream_overflow_switch(0)) == (0, 107002)
