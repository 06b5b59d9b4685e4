"""Access of devices to one another's memory: what it lets copies do, and what its calls refuse."""

import itertools

import pytest
from helpers.expect import NULL, in_thread, pointer, refused

import acl
from acl._lib import ffi, lib

pytestmark = pytest.mark.needs_sim

DEVICES = 8
SIZE = 64
TO_DEVICE, TO_HOST, DEVICE_TO_DEVICE = 1, 2, 3
PA3, P310B = "Ascend910_9392", "Ascend310B1"


@pytest.fixture
def blocks(configure):
    """Open eight devices and give the addresses of one block on each, filled with the number of its device."""
    configure(devices=DEVICES)
    return [fill(device) for device in range(DEVICES)]


def fill(device):
    """Make a device current and return a block on it that holds its number."""
    assert acl.rt.set_device(device) == 0
    block, ret = acl.rt.malloc(SIZE, 0)
    assert ret == 0
    assert acl.rt.memset(block, SIZE, device, SIZE) == 0
    return block


def content(block):
    """Return the bytes of a block."""
    data = bytes(SIZE)
    assert acl.rt.memcpy(acl.util.bytes_to_ptr(data), SIZE, block, SIZE, TO_HOST) == 0
    return data


def copy_async(target, source):
    """Copy in the default stream of the current device and wait for it."""
    ret = acl.rt.memcpy_async(target, SIZE, source, SIZE, DEVICE_TO_DEVICE, 0)
    return ret or acl.rt.synchronize_stream(0)


def copy_rows(target, source):
    rows = pointer(target), 8, pointer(source), 8, 8, SIZE // 8
    return lib.aclrtMemcpy2dAsync(*rows, DEVICE_TO_DEVICE, NULL) or acl.rt.synchronize_stream(0)


def copy(target, source):
    return acl.rt.memcpy(target, SIZE, source, SIZE, DEVICE_TO_DEVICE)


@pytest.mark.parametrize("move", [copy, copy_rows, copy_async])
def test_eight_devices_copy_with_access_and_not_without(blocks, move):
    for target, source in itertools.permutations(range(DEVICES), 2):
        assert acl.rt.set_device(target) == 0
        refused(move(blocks[target], blocks[source]), 107000, f"device {source}", "aclrtDeviceEnablePeerAccess")
        assert content(blocks[target]) == bytes([target]) * SIZE
        assert acl.rt.device_enable_peer_access(source, 0) == 0
        assert move(blocks[target], blocks[source]) == 0
        assert content(blocks[target]) == bytes([source]) * SIZE
        assert acl.rt.memset(blocks[target], SIZE, target, SIZE) == 0
        assert acl.rt.device_disable_peer_access(source) == 0


NOTIFIES = {  # tasks with a notify, in the default stream of the current device
    "aclrtRecordNotify": lambda notify: acl.rt.record_notify(notify, 0),
    "aclrtWaitAndResetNotify": lambda notify: acl.rt.wait_and_reset_notify(notify, 0, 0),
    "aclrtNotifyBatchReset": lambda notify: lib.aclrtNotifyBatchReset(ffi.new("aclrtNotify[]", [pointer(notify)]), 1),
}


@pytest.mark.parametrize("name", NOTIFIES)
def test_a_notify_of_another_device_wants_access(configure, name):
    configure(devices=2)
    assert acl.rt.set_device(1) == 0
    notify, ret = acl.rt.create_notify(0)
    assert ret == 0
    assert acl.rt.record_notify(notify, 0) == acl.rt.synchronize_stream(0) == 0  # a wait would go on
    assert acl.rt.set_device(0) == 0
    refused(NOTIFIES[name](notify) or acl.rt.synchronize_stream(0), 107000, name, "another device",
            "aclrtDeviceEnablePeerAccess")  # fmt: skip
    assert acl.rt.device_enable_peer_access(1, 0) == 0
    assert (NOTIFIES[name](notify) or acl.rt.synchronize_stream(0)) == 0
    assert acl.rt.destroy_notify(notify) == 0


def test_chips_that_share_their_memory_reach_every_notify(configure):
    configure(devices=2, soc=PA3)
    assert acl.rt.set_device(1) == 0
    notify, _ = acl.rt.create_notify(0)
    assert acl.rt.set_device(0) == 0
    assert acl.rt.record_notify(notify, 0) == acl.rt.synchronize_stream(0) == 0
    assert acl.rt.set_device(1) == 0
    assert acl.rt.wait_and_reset_notify(notify, 0, 0) == acl.rt.synchronize_stream(0) == 0


@pytest.mark.parametrize(("dst", "src", "words"), [(1, 0, "dst is"), (0, 1, "src is"), (1, 1, "dst is")])
def test_reductions_stay_on_the_device_of_their_stream(blocks, dst, src, words):
    assert acl.rt.set_device(0) == 0
    assert acl.rt.device_enable_peer_access(1, 0) == 0
    ret = acl.rt.reduce_async(blocks[dst], blocks[src], SIZE, 10, 0, 0, 0)
    refused(ret, 107000, "aclrtReduceAsync", words, "lies on device 1, expected memory of device 0")


def test_access_has_a_direction(blocks):
    """The current device makes the copy, so it is the one that needs access, whichever way the bytes go."""
    assert acl.rt.set_device(1) == 0
    assert acl.rt.device_enable_peer_access(0, 0) == 0
    assert copy(blocks[1], blocks[0]) == 0
    assert copy(blocks[0], blocks[1]) == 0
    assert acl.rt.set_device(0) == 0
    refused(copy(blocks[1], blocks[0]), 107000, "device 0, which is current, to device 1")
    assert acl.rt.device_peer_access_status(1, 0) == (1, 0)
    assert acl.rt.device_peer_access_status(0, 1) == (0, 0)


def test_a_third_device_needs_access_to_both(blocks):
    assert acl.rt.set_device(2) == 0
    assert acl.rt.device_enable_peer_access(0, 0) == 0
    refused(copy(blocks[1], blocks[0]), 107000, "device 2, which is current, to device 1")
    assert acl.rt.device_enable_peer_access(1, 0) == 0
    assert copy(blocks[1], blocks[0]) == 0
    assert content(blocks[1]) == bytes(SIZE)


@pytest.mark.parametrize("reset", [0, 1])
@pytest.mark.finds("leaked-memory")
def test_access_ends_with_either_device(blocks, reset):
    assert acl.rt.set_device(1) == 0
    assert acl.rt.device_enable_peer_access(0, 0) == 0
    assert acl.rt.device_peer_access_status(1, 0) == (1, 0)
    assert acl.rt.reset_device_force(reset) == 0
    assert acl.rt.device_peer_access_status(1, 0) == (0, 0)


def test_enabling_and_disabling_may_be_repeated(blocks):
    for _ in range(2):
        assert acl.rt.device_enable_peer_access(0, 0) == 0
        assert acl.rt.device_peer_access_status(DEVICES - 1, 0) == (1, 0)
    for _ in range(2):
        assert acl.rt.device_disable_peer_access(0) == 0
        assert acl.rt.device_peer_access_status(DEVICES - 1, 0) == (0, 0)


def test_chips_that_share_memory_need_no_access(configure):
    configure(devices=2, soc=PA3)
    source, target = fill(0), fill(1)
    assert copy(target, source) == 0
    assert content(target) == bytes(SIZE)


def test_all_pairs_can_have_access_before_they_are_opened(configure):
    configure(devices=DEVICES)
    for device, peer in itertools.permutations(range(DEVICES), 2):
        assert acl.rt.device_can_access_peer(device, peer) == (1, 0)
        assert acl.rt.device_peer_access_status(device, peer) == (0, 0)


def test_ids_that_no_device_has_have_no_access(configure):
    assert acl.rt.device_peer_access_status(0, 63) == (0, 0)
    assert acl.rt.device_peer_access_status(0, 0) == (0, 0)


def test_p2p_map_wants_access(blocks):
    owned = pointer(blocks[0])
    refused(lib.aclrtMemP2PMap(owned, SIZE, 1, 0), 107000, "dstDevId is 1", "device 0", "aclrtDeviceEnablePeerAccess")
    assert acl.rt.set_device(1) == 0
    assert acl.rt.device_enable_peer_access(0, 0) == 0
    assert lib.aclrtMemP2PMap(owned, SIZE, 1, 0) == 0


def test_no_operation_on_a_peers_memory_is_atomic(configure):
    configure(devices=2)
    operations = ffi.new("aclrtAtomicOperation[]", [0, 12, 30, 44])
    capabilities = ffi.new("uint32_t[]", [7] * 4)
    assert lib.aclrtDeviceGetP2PAtomicCapabilities(capabilities, operations, 4, 0, 1) == 0
    assert list(capabilities) == [0] * 4


ONE, OPERATION = ffi.new("uint32_t *"), ffi.new("aclrtAtomicOperation *")
UNKNOWN = ffi.new("int *", 13)
FLAG = ffi.new("int32_t *")
ERRORS = [  # call on device 0 of two, with one block; code; what the message names
    (lambda block: lib.aclrtDeviceCanAccessPeer(NULL, 1, 1), 100000, "peerDeviceId is 1"),
    (lambda block: lib.aclrtDeviceCanAccessPeer(NULL, 0, 1), 107000, "canAccessPeer is NULL"),
    (lambda block: lib.aclrtDeviceCanAccessPeer(FLAG, -1, 1), 107001, "deviceId is -1"),
    (lambda block: lib.aclrtDeviceCanAccessPeer(FLAG, 0, 2), 107001, "deviceId is 2"),
    (lambda block: acl.rt.device_enable_peer_access(1, 1), 200006, "flags is 1"),
    (lambda block: acl.rt.device_enable_peer_access(0, 0), 100000, "peerDeviceId is 0"),
    (lambda block: acl.rt.device_enable_peer_access(2, 0), 107001, "deviceId is 2"),
    (lambda block: acl.rt.device_enable_peer_access(-1, 0), 107001, "deviceId is -1"),
    (lambda block: in_thread(lambda: lib.aclrtDeviceEnablePeerAccess(1, 0)), 107002, None),
    (lambda block: acl.rt.device_disable_peer_access(0), 100000, "peerDeviceId is 0"),
    (lambda block: acl.rt.device_disable_peer_access(2), 107001, "deviceId is 2"),
    (lambda block: in_thread(lambda: lib.aclrtDeviceDisablePeerAccess(1)), 107002, None),
    (lambda block: lib.aclrtDevicePeerAccessStatus(0, 1, NULL), 100000, "status is NULL"),
    (lambda block: acl.rt.device_peer_access_status(64, 0)[1], 107000, "deviceId is 64"),
    (lambda block: acl.rt.device_peer_access_status(0, 64)[1], 107000, "peerDeviceId is 64"),
    (lambda block: acl.rt.device_peer_access_status(-1, 0)[1], 107000, "deviceId is -1"),
    (lambda block: lib.aclrtMemP2PMap(NULL, SIZE, 1, 0), 100000, "devPtr is NULL"),
    (lambda block: lib.aclrtMemP2PMap(block, 0, 1, 0), 100000, "size is 0"),
    (lambda block: lib.aclrtMemP2PMap(block, SIZE, 1, 1), 100000, "flags is 0x1"),
    (lambda block: lib.aclrtMemP2PMap(block, SIZE, 2, 0), 107001, "deviceId is 2"),
    (lambda block: lib.aclrtMemP2PMap(block, 2**40, 1, 0), 107000, "size"),
    (lambda block: lib.aclrtMemP2PMap(FLAG, 4, 1, 0), 107000, "expected device memory"),
    (lambda block: lib.aclrtMemP2PMap(block, SIZE, 0, 0), 107000, "dstDevId is 0"),
    (lambda block: lib.aclrtDeviceGetP2PAtomicCapabilities(NULL, OPERATION, 1, 0, 1), 107000, "capabilities is NULL"),
    (lambda block: lib.aclrtDeviceGetP2PAtomicCapabilities(ONE, NULL, 1, 0, 1), 107000, "operations is NULL"),
    (lambda block: lib.aclrtDeviceGetP2PAtomicCapabilities(ONE, OPERATION, 0, 0, 1), 107000, "count is 0"),
    (lambda block: lib.aclrtDeviceGetP2PAtomicCapabilities(ONE, OPERATION, 1025, 0, 1), 107000, "count is 1025"),
    (lambda block: lib.aclrtDeviceGetP2PAtomicCapabilities(ONE, OPERATION, 1, 2, 1), 107001, "deviceId is 2"),
    (lambda block: lib.aclrtDeviceGetP2PAtomicCapabilities(ONE, OPERATION, 1, 0, -1), 107001, "deviceId is -1"),
    (
        lambda block: lib.aclrtDeviceGetP2PAtomicCapabilities(ONE, ffi.cast("void *", UNKNOWN), 1, 0, 1),
        107000,
        "operations[0] is 13",
    ),
]


@pytest.mark.parametrize("row", range(len(ERRORS)))
def test_errors(configure, row):
    call, code, words = ERRORS[row]
    configure(devices=2)
    ret = call(pointer(fill(0)))
    if words is None:  # the message is that of another thread
        assert ret == code
    else:
        refused(ret, code, words)


@pytest.mark.parametrize(
    "call",
    [
        lambda block: acl.rt.device_can_access_peer(0, 1)[1],
        lambda block: acl.rt.device_enable_peer_access(1, 0),
        lambda block: acl.rt.device_disable_peer_access(1),
        lambda block: lib.aclrtMemP2PMap(pointer(block), SIZE, 1, 0),
        lambda block: lib.aclrtDeviceGetP2PAtomicCapabilities(ONE, OPERATION, 1, 0, 1),
    ],
)
def test_chips_without_peer_access(configure, call):
    configure(devices=2, soc=P310B)
    refused(call(fill(0)), 207000, P310B)
