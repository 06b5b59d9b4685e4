"""Channels: datasets of tensors that are sent and received; their items."""

import numpy
import pytest
from helpers.expect import NULL, pointer
from helpers.queues import waiter

import acl
from acl._lib import ffi, lib

UNDEFINED, TENSOR, END, ABNORMAL, SLICE, LAST = -1, 0, 1, 2, 3, 4
FLOAT, INT64 = 0, 9
EMPTY, FULL, FAILURE = 207013, 207014, 500001
SIZE = ffi.new("size_t *")


@pytest.fixture
def channel(device):
    """Make a channel that holds two datasets."""
    channel = lib.acltdtCreateChannelWithCapacity(0, b"images", 2)
    assert channel != NULL
    yield channel
    lib.acltdtDestroyChannel(channel)


class Sent:
    """A dataset of the program's, made of arrays; items of another kind than tensors are numbers."""

    def __init__(self, *contents):
        self.handle = lib.acltdtCreateDataset()
        self.contents, self.items = contents, []
        for content in contents:
            if isinstance(content, int):
                item = lib.acltdtCreateDataItem(content, NULL, 0, FLOAT, NULL, 0)
            else:
                kind = FLOAT if content.dtype == "f4" else INT64
                data, dims = ffi.cast("void *", content.ctypes.data), list(content.shape) or NULL
                item = lib.acltdtCreateDataItem(TENSOR, dims, content.ndim, kind, data, content.nbytes)
            assert item != NULL
            assert lib.acltdtAddDataItem(self.handle, item) == 0
            self.items.append(item)

    def close(self):
        assert lib.acltdtDestroyDataset(self.handle) == 0
        assert [lib.acltdtDestroyDataItem(item) for item in self.items] == [0] * len(self.items)


def send(channel, *contents, timeout=0):
    """Send a dataset; return the code."""
    sent = Sent(*contents)
    ret = lib.acltdtSendTensor(channel, sent.handle, timeout)
    sent.close()
    return ret


def content(item):
    """Return an item as it was given to :class:`Sent`."""
    kind = lib.acltdtGetTensorTypeFromItem(item)
    if kind != TENSOR:
        return kind
    rank = lib.acltdtGetDimNumFromItem(item)
    dims = ffi.new("int64_t[]", rank + 1)
    assert lib.acltdtGetDimsFromItem(item, dims, rank) == 0
    size = lib.acltdtGetDataSizeFromItem(item)
    data = ffi.buffer(lib.acltdtGetDataAddrFromItem(item), size)[:] if size else b""
    kind = {FLOAT: "f4", INT64: "i8"}[lib.acltdtGetDataTypeFromItem(item)]
    return numpy.frombuffer(data, kind).reshape(list(dims)[:rank])


def receive(channel, timeout=0):
    """Return the code, or the contents of a dataset when it is 0."""
    dataset = lib.acltdtCreateDataset()
    ret = lib.acltdtReceiveTensor(channel, dataset, timeout)
    if ret == 0:
        count = lib.acltdtGetDatasetSize(dataset)
        ret = [content(lib.acltdtGetDataItem(dataset, index)) for index in range(count)]
    assert lib.acltdtDestroyDataset(dataset) == 0
    return ret


def test_datasets_come_out_in_order(channel):
    image, labels = numpy.arange(6, dtype="f4").reshape(2, 3), numpy.array([5, 7], dtype="i8")
    assert send(channel, image, labels) == 0
    assert send(channel, numpy.array(4, dtype="f4"), END) == 0
    first, second = receive(channel)
    assert numpy.array_equal(first, image) and numpy.array_equal(second, labels)
    scalar, end = receive(channel)
    assert (scalar.shape, scalar.item(), end) == ((), 4, END)
    assert receive(channel) == EMPTY


@pytest.mark.parametrize("kind", [UNDEFINED, END, ABNORMAL, SLICE, LAST])
def test_items_without_data(channel, kind):
    assert send(channel, kind) == 0
    assert receive(channel) == [kind]


def test_what_is_sent_is_a_copy(channel):
    numbers = numpy.zeros(4, dtype="f4")
    assert send(channel, numbers) == 0
    numbers[:] = 1
    assert receive(channel)[0].tolist() == [0, 0, 0, 0]


def test_data_in_device_memory(channel):
    block, _ = acl.rt.malloc(16, 0)
    assert acl.rt.memset(block, 16, 0x40, 16) == 0
    dataset = lib.acltdtCreateDataset()
    item = lib.acltdtCreateDataItem(TENSOR, [4], 1, FLOAT, pointer(block), 16)
    assert lib.acltdtAddDataItem(dataset, item) == 0
    assert lib.acltdtSendTensor(channel, dataset, 0) == 0
    assert receive(channel)[0].tobytes() == bytes([0x40]) * 16
    assert [lib.acltdtDestroyDataset(dataset), lib.acltdtDestroyDataItem(item), acl.rt.free(block)] == [0, 0, 0]


def test_a_channel_holds_its_capacity(channel):
    codes = []
    for number in range(4):
        assert lib.acltdtQueryChannelSize(channel, SIZE) == 0
        codes.append((SIZE[0], send(channel, numpy.array([number]))))
    assert codes == [(0, 0), (1, 0), (2, FULL), (2, FULL)]
    assert send(channel, END, timeout=1) == FULL
    assert lib.acltdtCleanChannel(channel) == 0
    assert lib.acltdtQueryChannelSize(channel, SIZE) == 0
    assert SIZE[0] == 0
    assert receive(channel, timeout=1) == EMPTY


@pytest.mark.parametrize("timeout", [-1, 60000])
def test_receiving_waits(channel, timeout):
    received = waiter(lambda: receive(channel, timeout))
    assert send(channel, numpy.array([3])) == 0
    assert received.result()[0].tolist() == [3]


@pytest.mark.parametrize("timeout", [-1, 60000])
def test_sending_waits(channel, timeout):
    assert [send(channel, END), send(channel, ABNORMAL)] == [0, 0]
    sent = waiter(lambda: send(channel, LAST, timeout=timeout))
    assert [receive(channel, -1) for _ in range(3)] == [[END], [ABNORMAL], [LAST]]
    assert sent.result() == 0


def test_a_channel_without_a_capacity(device):
    channel = lib.acltdtCreateChannel(0, b"plain")
    assert channel != NULL
    assert [send(channel, END, timeout=-1) for _ in range(100)] == [0] * 100
    assert [receive(channel) for _ in range(101)] == [[END]] * 100 + [EMPTY]
    assert lib.acltdtDestroyChannel(channel) == 0


def test_who_waits_is_woken_by_the_end_of_traffic(channel):
    receivers = [waiter(lambda: receive(channel, -1)) for _ in range(3)]
    assert lib.acltdtStopChannel(channel) == 0
    assert [receiver.result() for receiver in receivers] == [FAILURE] * 3


@pytest.mark.strict
def test_who_waits_is_woken_when_the_channel_is_destroyed(channel):
    receivers = [waiter(lambda: receive(channel, -1)) for _ in range(3)]
    assert lib.acltdtDestroyChannel(channel) == 0
    assert {receiver.result() for receiver in receivers} <= {FAILURE, 100000}  # the latter of one that came too late


def test_a_stopped_channel_stays_stopped(channel):
    assert send(channel, END) == 0
    assert lib.acltdtStopChannel(channel) == 0
    assert [receive(channel), send(channel, END), receive(channel, -1)] == [FAILURE] * 3
    assert lib.acltdtStopChannel(channel) == 0


def test_a_received_dataset_says_where_it_came_from(channel):
    dataset = lib.acltdtCreateDataset()
    assert ffi.string(lib.acltdtGetDatasetName(dataset)) == b""
    assert send(channel, END, LAST) == 0
    assert lib.acltdtReceiveTensor(channel, dataset, 0) == 0
    assert ffi.string(lib.acltdtGetDatasetName(dataset)) == b"images"
    assert lib.acltdtGetDatasetSize(dataset) == 2
    assert lib.acltdtGetDataItem(dataset, 2) == NULL
    assert lib.acltdtDestroyDataset(dataset) == 0


def test_datasets_leave_the_items_of_the_program():
    sent = Sent(numpy.arange(3, dtype="f4"))
    assert lib.acltdtDestroyDataset(sent.handle) == 0
    assert content(sent.items[0]).tolist() == [0, 1, 2]
    assert lib.acltdtDestroyDataItem(sent.items[0]) == 0


@pytest.mark.needs_sim
def test_received_items_go_with_their_dataset(channel):
    before = acl.sim.live("data item")
    assert send(channel, END, LAST, numpy.arange(3)) == 0
    dataset = lib.acltdtCreateDataset()
    assert lib.acltdtReceiveTensor(channel, dataset, 0) == 0
    item = lib.acltdtGetDataItem(dataset, 0)
    assert acl.sim.live("data item") == before + 3
    assert lib.acltdtDestroyDataset(dataset) == 0
    assert acl.sim.live("data item") == before
    assert lib.acltdtGetTensorTypeFromItem(item) == UNDEFINED


def test_items_are_as_they_were_made():
    data = ffi.new("float[6]")
    item = lib.acltdtCreateDataItem(TENSOR, [2, 3], 2, FLOAT, data, 24)
    assert lib.acltdtGetDataAddrFromItem(item) == data
    assert (lib.acltdtGetDataSizeFromItem(item), lib.acltdtGetDimNumFromItem(item)) == (24, 2)
    dims, number = ffi.new("int64_t[3]"), ffi.new("size_t *")
    assert lib.acltdtGetDimsFromItem(item, dims, 3) == 0
    assert list(dims) == [2, 3, 0]
    assert lib.acltdtGetSliceInfoFromItem(item, SIZE, number) == 0
    assert (SIZE[0], number[0]) == (0, 0)
    assert lib.acltdtDestroyDataItem(item) == 0


def test_data_of_other_kinds_is_ignored():
    item = lib.acltdtCreateDataItem(END, NULL, 0, INT64, pointer(5), 24)
    assert lib.acltdtGetDataAddrFromItem(item) == NULL
    assert (lib.acltdtGetDataSizeFromItem(item), lib.acltdtGetDataTypeFromItem(item)) == (0, INT64)
    assert lib.acltdtDestroyDataItem(item) == 0


def test_a_name_is_free_again(channel):
    assert lib.acltdtCreateChannel(0, b"images") == NULL
    other = lib.acltdtCreateChannel(0, b"image")
    assert other != NULL
    assert lib.acltdtDestroyChannel(channel) == 0
    again = lib.acltdtCreateChannel(0, b"images")
    assert again != NULL
    assert [lib.acltdtDestroyChannel(each) for each in (other, again)] == [0, 0]


@pytest.mark.needs_sim
def test_oldest_cards_receive_without_a_limit(run_script):
    code = """
import acl
from acl._lib import ffi, lib
acl.rt.set_device(0)
plain, bounded = lib.acltdtCreateChannel(0, b"plain"), lib.acltdtCreateChannelWithCapacity(0, b"bounded", 2)
dataset, empty = lib.acltdtCreateDataset(), lib.acltdtCreateDataset()
for timeout in (0, 5):
    assert lib.acltdtReceiveTensor(plain, empty, timeout) == 100000
    assert f"timeout is {timeout}, expected -1" in acl.get_recent_err_msg()
assert lib.acltdtReceiveTensor(bounded, empty, 0) == 207013
assert lib.acltdtSendTensor(plain, dataset, -1) == 0
assert lib.acltdtReceiveTensor(plain, empty, -1) == 0
"""
    done = run_script(code, {"ACL_SIM_SOC": "Ascend910A"})
    assert done.returncode == 0, done.stderr


@pytest.mark.needs_sim
@pytest.mark.parametrize("soc", ["Ascend310B1", "Ascend310P3"])
def test_cards_that_do_not_train_have_no_channels(run_script, soc):
    code = """
import acl
from acl._lib import ffi, lib
acl.rt.set_device(0)
for name, arguments in [("CreateChannel", (0, b"x")), ("CreateChannelWithCapacity", (0, b"x", 2)),
                        ("CreateDataset", ()), ("CreateDataItem", (0, ffi.NULL, 0, 0, ffi.NULL, 0))]:
    assert getattr(lib, "acltdt" + name)(*arguments) == ffi.NULL
    text = acl.get_recent_err_msg()
    assert name in text and "has no channels" in text and "207000" in text, text
"""
    done = run_script(code, {"ACL_SIM_SOC": soc})
    assert done.returncode == 0, done.stderr
