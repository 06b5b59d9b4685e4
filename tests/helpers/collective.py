"""Ranks of one communicator, one device and one stream each, called by one thread."""

import ctypes
import struct
from pathlib import Path

import numpy

import acl
from helpers.tensors import from_bfloat, to_bfloat

# HcclDataType by NumPy's name; "b2" is bfloat16, whose arrays hold bit patterns.
TYPES = {"i1": 0, "i2": 1, "i4": 2, "f2": 3, "f4": 4, "i8": 5, "u8": 6, "u1": 7, "u2": 8, "u4": 9, "f8": 10, "b2": 11}
OPS = {"sum": 0, "prod": 1, "max": 2, "min": 3}
LIBRARY = ctypes.CDLL(str(Path(acl.get_lib()) / "libhccl.so"))
DEVICE = ctypes.c_void_p
ROOT_INFO = 4108  # bytes
CONFIG = struct.pack("QIIQ", 24, 0xF0F0F0F0, 11, 0)  # a HcclCommConfig of defaults alone
NOBODY = ctypes.c_uint64(0xFFFFFFFF)  # how a rank says that it is not in a part


def stored(kind):
    """Return the NumPy type that is in memory."""
    return numpy.dtype("u2" if kind == "b2" else kind)


def reduced(parts, kind, op):
    """Return the reduction of arrays in their order: halves in float32, rounded once."""
    wide = {"b2": from_bfloat, "f2": lambda part: part.astype("f4")}.get(kind, lambda part: part)
    function = {"sum": numpy.add, "prod": numpy.multiply, "max": numpy.maximum, "min": numpy.minimum}[op]
    with numpy.errstate(over="ignore", invalid="ignore"):
        total = wide(parts[0])
        for part in parts[1:]:
            total = function(total, wide(part))
        return to_bfloat(total) if kind == "b2" else total.astype(kind)


def root_info():
    """Return the identification of a new communicator without the zeros at its end; the root's device is current."""
    info = ctypes.create_string_buffer(ROOT_INFO)
    assert LIBRARY.HcclGetRootInfo(info) == 0, acl.get_recent_err_msg()
    return info.raw.rstrip(b"\0")


class Ranks:
    """The ranks ``here`` of 0 to ``count - 1``; a call goes to the library with the context of its rank.

    Without ``info`` all ranks are in this process. With that of :func:`root_info`, or with the path of a rank table,
    others are elsewhere.
    """

    def __init__(self, count, here=None, info=None):
        self.count, self.here = count, list(range(count)) if here is None else here
        self.contexts, self.streams, self.blocks = {}, {}, []
        for device, rank in enumerate(self.here):
            assert acl.rt.set_device(device) == 0
            self.contexts[rank] = acl.rt.get_context()[0]
            self.streams[rank] = acl.rt.create_stream()[0]
        if info is None:
            devices, comms = (ctypes.c_int32 * count)(*range(count)), (ctypes.c_void_p * count)()
            assert LIBRARY.HcclCommInitAll(count, devices, comms) == 0, acl.get_recent_err_msg()
            self.comms = dict(enumerate(comms))
        else:
            self.comms = self.join(info)

    def join(self, info):
        """Create a communicator with all ranks, and return that of each rank of this process."""
        comms = {rank: ctypes.c_void_p() for rank in self.here}
        LIBRARY.HcclGroupStart()
        for rank in self.here:
            self.use(rank)
            if isinstance(info, str):
                ret = LIBRARY.HcclCommInitClusterInfo(info.encode(), rank, ctypes.byref(comms[rank]))
            else:
                given = info.ljust(ROOT_INFO, b"\0")
                ret = LIBRARY.HcclCommInitRootInfo(self.count, given, rank, ctypes.byref(comms[rank]))
            assert ret == 0, acl.get_recent_err_msg()
        assert LIBRARY.HcclGroupEnd() == 0, acl.get_recent_err_msg()
        return {rank: comm.value for rank, comm in comms.items()}

    def part(self, members, number):
        """Create a part of the communicator, with the members in this process; None without any."""
        here = [place for place, rank in enumerate(members) if rank in self.here]
        part = Ranks.__new__(Ranks)
        part.count, part.here, part.blocks = len(members), here, []
        part.contexts = {place: self.contexts[members[place]] for place in here}
        part.streams = {place: self.streams[members[place]] for place in here}
        part.comms = {}
        comms = {rank: (ctypes.c_void_p(self.comms[rank]), ctypes.c_void_p()) for rank in self.here}
        ids, config = (ctypes.c_uint32 * len(members))(*members), ctypes.create_string_buffer(CONFIG, len(CONFIG))
        LIBRARY.HcclGroupStart()
        for rank, (whole, comm) in comms.items():
            self.use(rank)
            place = members.index(rank) if rank in members else NOBODY
            given = (len(members), ids, ctypes.c_uint64(number)) if rank in members else (0, None, NOBODY)
            ret = LIBRARY.HcclCreateSubCommConfig(ctypes.byref(whole), *given, place, config, ctypes.byref(comm))
            assert ret == 0, acl.get_recent_err_msg()
        assert LIBRARY.HcclGroupEnd() == 0, acl.get_recent_err_msg()
        part.comms = {place: comms[members[place]][1].value for place in here}
        return part if here else None

    def use(self, rank):
        """Make the context of a rank current."""
        assert acl.rt.set_context(self.contexts[rank]) == 0

    def put(self, rank, array):
        """Copy an array to new memory of a rank's device and return the address."""
        self.use(rank)
        address, ret = acl.rt.malloc(max(array.nbytes, 1), 0)
        assert ret == 0
        self.blocks.append(address)
        if array.nbytes:
            assert acl.rt.memcpy(address, array.nbytes, array.ctypes.data, array.nbytes, 1) == 0
        return address

    def get(self, rank, address, like):
        """Wait for a rank's stream and return its memory as an array."""
        self.use(rank)
        ret = acl.rt.synchronize_stream(self.streams[rank])
        assert ret == 0, acl.get_recent_err_msg()
        found = numpy.empty_like(like)
        if found.nbytes:
            assert acl.rt.memcpy(found.ctypes.data, found.nbytes, address, found.nbytes, 2) == 0
        return found

    def call(self, rank, name, *arguments):
        """Call ``Hccl<name>`` with the communicator and the stream of a rank at the end."""
        self.use(rank)
        given = [DEVICE(each) if isinstance(each, int) and each >= 1 << 32 else each for each in arguments]
        handles = DEVICE(self.comms[rank]), DEVICE(self.streams[rank])
        code = getattr(LIBRARY, f"Hccl{name}")(*given, *handles)
        assert code == 0, acl.get_recent_err_msg()

    def free(self):
        """Free what :meth:`put` has allocated."""
        for address in self.blocks:
            assert acl.rt.free(address) == 0
        self.blocks.clear()

    def wait(self, rank):
        """Wait for a rank's stream, and return the code and the newest message."""
        self.use(rank)
        ret = acl.rt.synchronize_stream(self.streams[rank])
        return ret, (acl.get_recent_err_msg() or "").split("\n")[0]

    def error(self, rank):
        """Return what HcclGetCommAsyncError reports."""
        code = ctypes.c_int(-1)
        assert LIBRARY.HcclGetCommAsyncError(DEVICE(self.comms[rank]), ctypes.byref(code)) == 0
        return code.value

    def destroy(self, rank):
        """Destroy a rank's communicator, and return the code."""
        return LIBRARY.HcclCommDestroy(DEVICE(self.comms[rank]))
