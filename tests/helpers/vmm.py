"""Physical memory, reserved addresses and their mappings, which are released at the end of a test."""

import contextlib

import acl

from .expect import ffi, lib, pointer

rt = acl.rt
MIB, GIB = 1 << 20, 1 << 30
HUGE = 2 * MIB
HOST, DEVICE, HOST_NUMA = 0, 1, 4
HBM_HUGE, MEM_NORMAL, P2P_HUGE = 4, 12, 16
TO_DEVICE, TO_HOST, BETWEEN = 1, 2, 3


def prop(kind=DEVICE, number=0, attr=HBM_HUGE, **others):
    """Return the properties of physical memory as pyACL takes them."""
    return {"handleType": 0, "allocationType": 0, "memAttr": attr, "location": {"id": number, "type": kind},
            "reserve": 0, **others}  # fmt: skip


def c_prop(**described):
    """Return the properties as C takes them."""
    return ffi.new("aclrtPhysicalMemProp *", prop(**described))


def free_bytes():
    """Return how many bytes of the current device are free."""
    return rt.get_mem_info(1)[0]


def put(address, data):
    """Copy bytes to an address."""
    return rt.memcpy(address, len(data), acl.util.bytes_to_ptr(data), len(data), TO_DEVICE)


def get(address, size):
    """Return bytes from an address."""
    data = bytearray(size)
    ret = lib.aclrtMemcpy(ffi.from_buffer(data), size, pointer(address), size, TO_HOST)
    assert ret == 0, acl.get_recent_err_msg()
    return bytes(data)


def access(address, kind=DEVICE, number=0):
    """Return the access flags of a location at an address, and the code."""
    flag = ffi.new("uint64_t *", 99)
    ret = lib.aclrtMemGetAccess(pointer(address), ffi.new("aclrtMemLocation *", {"id": number, "type": kind}), flag)
    return flag[0], ret


def give_access(address, size, *locations, flags=3):
    """Let (kind, number) locations access a mapping; return the code."""
    descs = ffi.new("aclrtMemAccessDesc[]", max(len(locations), 1))
    for desc, (kind, number) in zip(descs, locations):
        desc.flags, desc.location.type, desc.location.id = flags, kind, number
    return lib.aclrtMemSetAccess(pointer(address), size, descs, len(locations))


def extent(address):
    """Return the start and the size of the range that contains an address, and the code."""
    start, size = ffi.new("void **"), ffi.new("size_t *")
    ret = lib.aclrtMemGetAddressRange(pointer(address), start, size)
    return int(ffi.cast("uintptr_t", start[0])), size[0], ret


def retain(address):
    """Return the handle of the memory that is mapped at an address, and the code."""
    handle = ffi.new("aclrtDrvMemHandle *")
    ret = lib.aclrtMemRetainAllocationHandle(pointer(address), handle)
    return int(ffi.cast("uintptr_t", handle[0])), ret


class Memory:
    """Creates handles, ranges and mappings, and releases those that are left."""

    def __init__(self):
        self.handles, self.ranges, self.mappings = [], [], []

    def physical(self, size=HUGE, **described):
        """Allocate physical memory and return its handle."""
        handle, ret = rt.malloc_physical(size, prop(**described), 0)
        assert ret == 0, acl.get_recent_err_msg()
        self.handles.append(handle)
        return handle

    def reserve(self, size=8 * HUGE, wanted=0):
        """Reserve addresses and return the first."""
        address, ret = rt.reserve_mem_address(size, 0, wanted, 0)
        assert ret == 0, acl.get_recent_err_msg()
        self.ranges.append(address)
        return address

    def map(self, address, handle, size=HUGE):
        """Map a handle to an address, which is returned."""
        assert rt.map_mem(address, size, 0, handle, 0) == 0, acl.get_recent_err_msg()
        self.mappings.append(address)
        return address

    def map_closed(self, address, handle, size=HUGE):
        """Map a handle without access for any location."""
        assert lib.aclrtMemMapNoAccess(pointer(address), size, 0, pointer(handle), 0) == 0, acl.get_recent_err_msg()
        self.mappings.append(address)
        return address

    def mapped(self, size=HUGE, **described):
        """Return a new handle and the address of its mapping in a new range."""
        handle = self.physical(size, **described)
        return handle, self.map(self.reserve(size), handle, size)

    def close(self):
        """Release everything that is left; calls for what the test has already released fail without harm."""
        for address in self.mappings:
            rt.unmap_mem(address)
        for handle in self.handles:
            rt.free_physical(handle)
        for address in self.ranges:
            rt.release_mem_address(address)
        acl.get_recent_err_msg()


@contextlib.contextmanager
def memory():
    """Yield a :class:`Memory` that is closed at the end."""
    made = Memory()
    try:
        yield made
    finally:
        made.close()
