"""What channels, datasets and data items refuse, and what they say."""

import pytest
from helpers.expect import NULL, handle_of, pointer, refused

import acl
from acl._lib import ffi, lib

INVALID, UNSUPPORTED = 100000, 200006
TENSOR, END = 0, 1
SIZE, WORDS = ffi.new("size_t *"), ffi.new("int64_t[4]")


@pytest.fixture
def channel(device):
    """Make a channel that holds two datasets."""
    channel = lib.acltdtCreateChannelWithCapacity(0, b"errors", 2)
    yield channel
    lib.acltdtDestroyChannel(channel)


dataset = handle_of(lib.acltdtCreateDataset, lib.acltdtDestroyDataset)
item = handle_of(lambda: lib.acltdtCreateDataItem(END, NULL, 0, 0, NULL, 0), lib.acltdtDestroyDataItem)


def nothing(value, *words):
    """Assert that a call made nothing, and why."""
    assert value == NULL
    refused(0, 0, *words)


# Calls with a handle alone, or what else they need behind it.
WITH_CHANNEL = {
    "acltdtDestroyChannel": (),
    "acltdtStopChannel": (),
    "acltdtCleanChannel": (),
    "acltdtQueryChannelSize": (SIZE,),
}
WITH_ITEM = {
    "acltdtDestroyDataItem": (),
    "acltdtGetDimsFromItem": (WORDS, 4),
    "acltdtGetSliceInfoFromItem": (SIZE, SIZE),
}


@pytest.mark.parametrize("name", WITH_CHANNEL)
def test_null_channels(name):
    refused(getattr(lib, name)(NULL, *WITH_CHANNEL[name]), INVALID, name, "handle is NULL")


@pytest.mark.parametrize("name", WITH_ITEM)
def test_null_items(name):
    refused(getattr(lib, name)(NULL, *WITH_ITEM[name]), INVALID, name, "dataItem is NULL")


def test_null_is_named(channel, dataset, item):
    for name in ("acltdtSendTensor", "acltdtReceiveTensor"):
        refused(getattr(lib, name)(NULL, dataset, 0), INVALID, name, "handle is NULL")
        refused(getattr(lib, name)(channel, NULL, 0), INVALID, name, "dataset is NULL")
    refused(lib.acltdtQueryChannelSize(channel, NULL), INVALID, "acltdtQueryChannelSize", "size is NULL")
    refused(lib.acltdtDestroyDataset(NULL), INVALID, "acltdtDestroyDataset", "dataset is NULL")
    refused(lib.acltdtAddDataItem(NULL, item), INVALID, "acltdtAddDataItem", "dataset is NULL")
    refused(lib.acltdtAddDataItem(dataset, NULL), INVALID, "acltdtAddDataItem", "dataItem is NULL")
    refused(lib.acltdtGetSliceInfoFromItem(item, NULL, SIZE), INVALID, "sliceNum is NULL")
    refused(lib.acltdtGetSliceInfoFromItem(item, SIZE, NULL), INVALID, "sliceId is NULL")


def test_what_is_said_of_null():
    assert lib.acltdtGetDataItem(NULL, 0) == lib.acltdtGetDatasetName(NULL) == NULL
    assert lib.acltdtGetDatasetSize(NULL) == 0
    assert lib.acltdtGetTensorTypeFromItem(NULL) == lib.acltdtGetDataTypeFromItem(NULL) == -1
    assert lib.acltdtGetDataAddrFromItem(NULL) == NULL
    assert lib.acltdtGetDataSizeFromItem(NULL) == lib.acltdtGetDimNumFromItem(NULL) == 0


def test_names(channel):
    nothing(lib.acltdtCreateChannel(0, NULL), "acltdtCreateChannel", "name is NULL")
    nothing(lib.acltdtCreateChannel(0, b""), "acltdtCreateChannel", "name is empty")
    nothing(lib.acltdtCreateChannel(0, b"n" * 128), "acltdtCreateChannel", "more than 127 characters")
    nothing(lib.acltdtCreateChannel(0, b"errors"), "acltdtCreateChannel", 'name is "errors"', "device 0 has already")
    nothing(lib.acltdtCreateChannelWithCapacity(0, b"errors", 2), "acltdtCreateChannelWithCapacity", "has already")


@pytest.mark.parametrize("device", [1, 64, 2**32 - 1])
def test_devices(device):
    nothing(lib.acltdtCreateChannel(device, b"x"), "acltdtCreateChannel", "evice")


@pytest.mark.parametrize("capacity", [0, 1, 8193, 2**64 - 1])
def test_capacities(capacity):
    name = "acltdtCreateChannelWithCapacity"
    nothing(lib.acltdtCreateChannelWithCapacity(0, b"x", capacity), name, f"capacity is {capacity}, expected 2 to 8192")


def test_channels_without_a_capacity(device):
    channel = lib.acltdtCreateChannel(0, b"plain")
    for name in ("acltdtCleanChannel", "acltdtQueryChannelSize"):
        refused(getattr(lib, name)(channel, *WITH_CHANNEL[name]), UNSUPPORTED, name, '"plain"', "has no capacity")
    assert lib.acltdtDestroyChannel(channel) == 0


def test_time_runs_out(channel, dataset):
    for timeout in (0, 1):
        refused(lib.acltdtReceiveTensor(channel, dataset, timeout), 207013, "is empty", f"{timeout} ms")
        assert acl.rt.get_last_error(0) == 207013
    assert [lib.acltdtSendTensor(channel, dataset, 0) for _ in range(2)] == [0, 0]
    for timeout in (0, 1):
        refused(lib.acltdtSendTensor(channel, dataset, timeout), 207014, "is full", f"{timeout} ms")


@pytest.mark.strict
@pytest.mark.parametrize("timeout", [0, 1, 2**31 - 1])
def test_sending_without_a_capacity_has_no_limit(device, dataset, timeout):
    channel = lib.acltdtCreateChannel(0, b"plain")
    refused(
        lib.acltdtSendTensor(channel, dataset, timeout),
        INVALID,
        "acltdtSendTensor",
        f"timeout is {timeout}, expected -1",
    )
    assert lib.acltdtSendTensor(channel, dataset, -1) == 0
    assert lib.acltdtDestroyChannel(channel) == 0


@pytest.mark.parametrize("timeout", [-2, -(2**31)])
def test_timeouts(channel, dataset, timeout):
    for name in ("acltdtSendTensor", "acltdtReceiveTensor"):
        refused(getattr(lib, name)(channel, dataset, timeout), INVALID, name, f"timeout is {timeout}, expected -1")


def test_stopped_channels(channel, dataset):
    assert lib.acltdtStopChannel(channel) == 0
    for name in ("acltdtSendTensor", "acltdtReceiveTensor"):
        refused(getattr(lib, name)(channel, dataset, -1), 500001, name, '"errors"', "stopped")


@pytest.mark.strict
def test_dead_handles(channel, dataset, item):
    assert lib.acltdtDestroyChannel(channel) == 0
    for name, arguments in WITH_CHANNEL.items():
        refused(getattr(lib, name)(channel, *arguments), INVALID, name, "handle is a destroyed channel")
    refused(lib.acltdtSendTensor(channel, dataset, 0), INVALID, "handle is a destroyed channel")
    refused(lib.acltdtSendTensor(ffi.cast("void *", dataset), dataset, 0), INVALID, "a live dataset of tensors")
    assert lib.acltdtDestroyDataItem(item) == 0
    for name, arguments in WITH_ITEM.items():
        refused(getattr(lib, name)(item, *arguments), INVALID, name, "dataItem is a destroyed data item")
    refused(lib.acltdtAddDataItem(dataset, item), INVALID, "dataItem is a destroyed data item")
    assert lib.acltdtDestroyDataset(dataset) == 0
    refused(lib.acltdtDestroyDataset(dataset), INVALID, "dataset is a destroyed dataset of tensors")
    assert lib.acltdtGetDatasetSize(dataset) == 0


@pytest.mark.strict
def test_items_that_were_destroyed_are_not_sent(channel, dataset, item):
    assert lib.acltdtAddDataItem(dataset, item) == 0
    assert lib.acltdtDestroyDataItem(item) == 0
    refused(lib.acltdtSendTensor(channel, dataset, 0), INVALID, "dataItem is a destroyed data item")


@pytest.mark.parametrize(
    ("kind", "dims", "count", "text"),
    [
        (TENSOR, NULL, 1, "dimNum 1, expected an array"),
        (TENSOR, WORDS, 0, "dimNum 0, expected an array"),
        (TENSOR, ffi.new("int64_t[129]"), 129, "dimNum is 129, expected at most 128"),
        (END, WORDS, 1, "dimNum is 1 and tdtType 1"),
    ],
)
def test_shapes(kind, dims, count, text):
    nothing(lib.acltdtCreateDataItem(kind, dims, count, 0, NULL, 0), "acltdtCreateDataItem", text)


@pytest.mark.strict
@pytest.mark.parametrize("kind", [-2, 5])
def test_kinds(kind):
    made = lib.acltdtCreateDataItem(ffi.cast("acltdtTensorType", kind), NULL, 0, 0, NULL, 0)
    nothing(made, "acltdtCreateDataItem", f"tdtType is {kind}")


def test_dimensions_need_room():
    item = lib.acltdtCreateDataItem(TENSOR, [2, 3], 2, 0, NULL, 0)
    refused(lib.acltdtGetDimsFromItem(item, WORDS, 1), INVALID, "dimNum is 1, expected at least 2")
    refused(lib.acltdtGetDimsFromItem(item, NULL, 2), INVALID, "dims is NULL")
    assert lib.acltdtDestroyDataItem(item) == 0


def test_host_and_device_memory_do_not_mix(device, dataset):
    block, _ = acl.rt.malloc(32, 0)
    items = [lib.acltdtCreateDataItem(TENSOR, [4], 1, 0, data, 16) for data in (WORDS, pointer(block))]
    assert lib.acltdtAddDataItem(dataset, items[0]) == 0
    refused(lib.acltdtAddDataItem(dataset, items[1]), INVALID, "data in device memory", "same kind of memory")
    assert lib.acltdtGetDatasetSize(dataset) == 1
    assert [lib.acltdtDestroyDataItem(each) for each in items] == [0, 0]
    assert acl.rt.free(block) == 0


@pytest.mark.parametrize(
    ("data", "size", "code", "text"), [(NULL, 4, INVALID, "data is NULL"), ("block", 97, 107000, "its size is 97")]
)
def test_data_that_is_not_there(channel, dataset, data, size, code, text):
    block, _ = acl.rt.malloc(64, 0)
    item = lib.acltdtCreateDataItem(TENSOR, [1], 1, 0, pointer(block) if data == "block" else data, size)
    assert lib.acltdtAddDataItem(dataset, item) == 0
    refused(lib.acltdtSendTensor(channel, dataset, 0), code, "acltdtSendTensor", text)
    assert lib.acltdtQueryChannelSize(channel, SIZE) == 0
    assert SIZE[0] == 0
    assert lib.acltdtDestroyDataItem(item) == 0
    assert acl.rt.free(block) == 0


def test_received_datasets(channel, dataset, item):
    assert lib.acltdtAddDataItem(dataset, item) == 0
    assert [lib.acltdtSendTensor(channel, dataset, 0) for _ in range(2)] == [0, 0]
    received = lib.acltdtCreateDataset()
    assert lib.acltdtReceiveTensor(channel, received, 0) == 0
    refused(lib.acltdtAddDataItem(received, item), UNSUPPORTED, "acltdtAddDataItem", "acltdtReceiveTensor")
    assert lib.acltdtDestroyDataset(received) == 0


@pytest.mark.strict
def test_datasets_are_received_into_once(channel, dataset, item):
    assert lib.acltdtAddDataItem(dataset, item) == 0
    refused(lib.acltdtReceiveTensor(channel, dataset, 0), INVALID, "dataset has 1 items", "acltdtCreateDataset")
    assert lib.acltdtSendTensor(channel, dataset, 0) == 0
    received = lib.acltdtCreateDataset()
    assert lib.acltdtReceiveTensor(channel, received, 0) == 0
    refused(lib.acltdtReceiveTensor(channel, received, 0), INVALID, "dataset has 1 items")
    refused(lib.acltdtDestroyDataItem(lib.acltdtGetDataItem(received, 0)), INVALID, "dataItem was received")
    assert lib.acltdtGetDatasetSize(received) == 1
    assert lib.acltdtDestroyDataset(received) == 0
