"""Communicators: the ranks of a group of devices, which exchange arrays.

Each rank has a communicator and a device. The ranks of one process are created together by :meth:`Communicator.all`.
Otherwise one rank calls :meth:`Communicator.root_info`, the program passes these bytes to the others, and each creates
its own: ``acl.Communicator(rank, size, root_info)``.

Every rank calls the same operations of a group in the same order, with arrays of one shape and type. An operation is
queued on a stream and starts when the streams of all ranks have reached it. Without a stream, the call waits for the
result, and so each rank needs a thread; where one thread calls for several ranks, it passes streams, or calls in
``with acl.Communicator.group():``, which waits at its end.

An array with a block for each rank has the number of ranks as its first dimension.
"""

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Optional, Union

from acl._lib import ffi, lib
from acl.errors import AclError, ContextError
from acl.objects.array import DeviceArray
from acl.objects.device import Device
from acl.objects.hccl_group import await_ranks, created, group
from acl.objects.hccl_library import check, open_library, reduction_of, type_of
from acl.objects.hccl_rank import NULL, VOID, Rank, place
from acl.objects.memory_block import Block, refuse
from acl.objects.resource import NO_CONTEXT, current_opening, integer, opening_of, openings
from acl.objects.stream import Stream

if TYPE_CHECKING:
    from collections.abc import Iterable

ROOT_INFO: int = lib.HCCL_ROOT_INFO_BYTES
MOST_RANKS = 2**32 - 1


class Communicator(Rank):
    """One rank of a group of devices, on the thread's current device.

    Creating it waits until all ranks have been created; Ctrl-C ends the wait.

    Parameters
    ----------
    rank
        The number of this rank, from 0.
    size
        The number of ranks.
    root_info
        The bytes that :meth:`root_info` returned on one rank.

    Raises
    ------
    InvalidArgumentError
        The rank is not less than the size, or ``root_info`` was used before.
    TimedOutError
        A rank was not created in time (``HCCL_CONNECT_TIMEOUT``).
    NotSupportedError
        The toolkit has no HCCL.

    Notes
    -----
    Wraps ``HcclCommInitRootInfo``. Operations that are queued when it is closed (``HcclCommDestroy``) fail, here and on
    the other ranks: synchronise their streams first. Graphs with its operations are closed before it.

    Examples
    --------
    ::

        with acl.Device(rank), acl.Communicator(rank, size, root_info) as comm:
            total = comm.all_reduce(acl.DeviceArray.from_numpy(gradient))
    """

    __slots__ = ()

    def __init__(self, rank: int, size: int, root_info: bytes) -> None:
        open_library()
        size = integer(size, "acl.Communicator: size", 1, MOST_RANKS)
        rank = integer(rank, "acl.Communicator: rank", 0, size - 1)
        if not isinstance(root_info, (bytes, bytearray, memoryview)):
            raise TypeError(f"acl.Communicator: root_info is a {type(root_info).__name__}, expected bytes")
        raw = bytes(root_info)
        if len(raw) != ROOT_INFO:
            reason = f"root_info has {len(raw)} bytes, expected {ROOT_INFO}"
            raise refuse("Communicator", reason, "pass what acl.Communicator.root_info() returned on one rank")
        info, slot = ffi.new("HcclRootInfo *"), ffi.new("HcclComm *")
        ffi.memmove(info, raw, ROOT_INFO)
        self._expect(current_opening())
        await_ranks(
            lambda: check(lib.HcclCommInitRootInfo(size, info, rank, slot), "HcclCommInitRootInfo"),
            lambda: lib.HcclCommDestroy(slot[0]),
        )
        created(lambda: self._begin(slot[0]))

    @staticmethod
    def root_info() -> bytes:
        """Return the bytes from which the ranks of a new group are created.

        One rank calls it, with a current device, and passes the bytes on to the others. They are for one group. Wraps
        ``HcclGetRootInfo``.
        """
        open_library()
        info = ffi.new("HcclRootInfo *")
        check(lib.HcclGetRootInfo(info), "HcclGetRootInfo")
        return bytes(ffi.buffer(info))

    @classmethod
    def all(cls, devices: "Optional[Iterable[Union[Device, int]]]" = None) -> "list[Communicator]":
        """Create the communicators of all ranks, in this process.

        Parameters
        ----------
        devices
            Open devices or their numbers, each once; None takes all devices. Rank ``r`` is on the device at index
            ``r``.

        Returns
        -------
        list of Communicator
            They are in the order of the ranks.

        Raises
        ------
        ContextError
            If a device is not open.
        InvalidArgumentError
            If ``devices`` is empty, or contains a device more than once.

        Notes
        -----
        Wraps ``HcclCommInitAll``. The operations of a rank are called while its device is current.

        Examples
        --------
        ::

            devices = [acl.Device(number).use() for number in range(2)]
            first, second = acl.Communicator.all(devices)
        """
        open_library()
        if devices is not None and (isinstance(devices, (str, bytes)) or not hasattr(devices, "__iter__")):
            raise TypeError(f"acl.Communicator.all: devices is {devices!r}, expected a list of devices or numbers")
        numbers = [Device._number_of(device) for device in (range(Device.count()) if devices is None else devices)]
        for number in numbers:
            opening = openings.get(number)
            # Versions without aclrtGetPrimaryCtxState know only of devices that the objects have opened.
            if (opening is None or not opening.context) and not Device(number).is_open:
                text = f"acl.Communicator.all: device {number} is not open"
                raise ContextError(NO_CONTEXT, "acl.Communicator.all", text, f"open it: acl.Device({number}).use()")
        slots = ffi.new("HcclComm[]", len(numbers) + 1)
        check(lib.HcclCommInitAll(len(numbers), ffi.new("int32_t[]", [*numbers, 0]), slots), "HcclCommInitAll")
        made = [cls.__new__(cls) for _ in numbers]
        for one, number, pointer in zip(made, numbers, slots):
            one._expect(opening_of(number))
            one._begin(pointer)
        return made

    @classmethod
    def from_handle(cls, handle: int) -> "Communicator":
        """Return an object for a communicator of the current device that it does not own: it never destroys it."""
        open_library()
        self = cls.__new__(cls)
        self._expect(current_opening())
        self._borrow(handle)
        self._ask(ffi.cast(VOID, self._handle))
        return self

    @staticmethod
    def group() -> "AbstractContextManager[None]":
        """Return a context manager, in whose block the calls of this thread are one unit.

        Messages of a group do not wait for each other: two ranks may both send before they receive. A call without a
        stream returns at once, and the end of the block waits for it. Communicators that are created in a group exist
        after it. Groups nest; only the outermost one does anything.

        Notes
        -----
        Wraps ``HcclGroupStart`` and ``HcclGroupEnd``.

        Examples
        --------
        ::

            with acl.Communicator.group():
                comm.send(mine, (comm.rank + 1) % comm.size)
                comm.receive(theirs, (comm.rank - 1) % comm.size)
        """
        return group()

    # --- What it is

    @property
    def rank(self) -> int:
        """Its number among the ranks, from 0 (``HcclGetRankId``)."""
        return self._rank

    @property
    def size(self) -> int:
        """The number of ranks (``HcclGetRankSize``)."""
        return self._size

    @property
    def device(self) -> Device:
        """Its device."""
        return Device(self._home.device_id)

    @property
    def name(self) -> str:
        """The name of the group (``HcclGetCommName``)."""
        self.handle  # noqa: B018  # raises if it is closed
        text = ffi.new(f"char[{lib.COMM_NAME_MAX_LENGTH}]")
        check(lib.HcclGetCommName(self._pointer, text), "HcclGetCommName")
        return str(ffi.string(text).decode(errors="replace"))

    def check(self) -> None:
        """Raise an error if an operation has failed because of another rank; never wait.

        The streams of such operations raise errors of their own. Wraps ``HcclGetCommAsyncError``.
        """
        self.handle  # noqa: B018  # raises if it is closed
        slot = ffi.new("HcclResult *")
        check(lib.HcclGetCommAsyncError(self._pointer, slot), "HcclGetCommAsyncError")
        if slot[0] != 0:
            text = f"acl.Communicator.check: an operation of rank {self._rank} has failed because of another rank"
            raise AclError(int(slot[0]), "HcclGetCommAsyncError", text, "close it, and create a new group")

    # --- Operations

    def all_reduce(
        self, array: DeviceArray, *, op: str = "sum", out: Optional[DeviceArray] = None, stream: Optional[Stream] = None
    ) -> DeviceArray:
        """Reduce the arrays of all ranks element by element, with the result on all of them.

        Parameters
        ----------
        array
            A contiguous array of the device, of the same shape and type on all ranks.
        op
            ``"sum"``, ``"prod"``, ``"max"`` or ``"min"``.
        out
            The array for the result, which may be ``array``; None allocates one.
        stream
            The stream on which it is queued or captured. Without one, it runs after the work that is registered with
            its memory, and the call waits for it; in a :meth:`group`, the end of the group waits.

        Returns
        -------
        DeviceArray
            The result: ``out``, or a new array.

        Raises
        ------
        InvalidArgumentError
            If an array has the wrong shape or type, is not contiguous, or is on another device. If shapes or types
            differ between ranks, the next synchronise raises this.
        NotSupportedError
            If the chip does not reduce the type.

        Notes
        -----
        Wraps ``HcclAllReduce``. Booleans are reduced as by NumPy: their sum is "or", and their product "and".
        """
        function = "Communicator.all_reduce"
        opening = self._ready(function)
        blocks = [self._block_of(array, "array", function, opening)]
        kind, number = reduction_of(array.dtype, op, function)
        out = self._out(out, array.shape, array.dtype, function, opening, blocks)
        self._queue("HcclAllReduce", blocks, stream, place(array), place(out), array.size, kind, number)
        return out

    def reduce(
        self,
        array: DeviceArray,
        *,
        op: str = "sum",
        root: int = 0,
        out: Optional[DeviceArray] = None,
        stream: Optional[Stream] = None,
    ) -> Optional[DeviceArray]:
        """Reduce the arrays of all ranks element by element, with the result on one of them.

        Parameters
        ----------
        array, op, stream
            As for :meth:`all_reduce`.
        root
            The rank with the result.
        out
            As for :meth:`all_reduce`; only the root uses it.

        Returns
        -------
        DeviceArray or None
            The result on the root; None on other ranks.

        Raises
        ------
        AclError
            As for :meth:`all_reduce`.

        Notes
        -----
        Wraps ``HcclReduce``.
        """
        function = "Communicator.reduce"
        opening = self._ready(function)
        root = self._peer(root, function, "root")
        blocks = [self._block_of(array, "array", function, opening)]
        kind, number = reduction_of(array.dtype, op, function)
        result = None
        if root == self._rank:
            result = self._out(out, array.shape, array.dtype, function, opening, blocks)
        to = NULL if result is None else place(result)
        self._queue("HcclReduce", blocks, stream, place(array), to, array.size, kind, number, root)
        return result

    def reduce_scatter(
        self, array: DeviceArray, *, op: str = "sum", out: Optional[DeviceArray] = None, stream: Optional[Stream] = None
    ) -> DeviceArray:
        """Reduce the arrays of all ranks element by element, with block ``r`` of the result on rank ``r``.

        Parameters
        ----------
        array
            As for :meth:`all_reduce`, of the shape ``(size, *block)``.
        op, out, stream
            As for :meth:`all_reduce`. ``out`` has the shape of a block.

        Returns
        -------
        DeviceArray
            The block of this rank: ``out``, or a new array.

        Raises
        ------
        AclError
            As for :meth:`all_reduce`.

        Notes
        -----
        Wraps ``HcclReduceScatter``.
        """
        function = "Communicator.reduce_scatter"
        opening = self._ready(function)
        blocks = [self._block_of(array, "array", function, opening)]
        shape = self._split(array, function)
        kind, number = reduction_of(array.dtype, op, function)
        out = self._out(out, shape, array.dtype, function, opening, blocks)
        self._queue("HcclReduceScatter", blocks, stream, place(array), place(out), out.size, kind, number)
        return out

    def broadcast(self, array: DeviceArray, *, root: int = 0, stream: Optional[Stream] = None) -> DeviceArray:
        """Copy the array of one rank into the arrays of the others.

        Parameters
        ----------
        array
            The array that is copied on the root, and overwritten on the others; see :meth:`all_reduce`.
        root
            The rank whose array is copied.
        stream
            As for :meth:`all_reduce`.

        Returns
        -------
        DeviceArray
            ``array``.

        Raises
        ------
        AclError
            As for :meth:`all_reduce`.

        Notes
        -----
        Wraps ``HcclBroadcast``.
        """
        function = "Communicator.broadcast"
        opening = self._ready(function)
        root = self._peer(root, function, "root")
        blocks = [self._block_of(array, "array", function, opening)]
        kind = type_of(array.dtype, function, "array")
        self._queue("HcclBroadcast", blocks, stream, place(array), array.size, kind, root)
        return array

    def all_gather(
        self, array: DeviceArray, *, out: Optional[DeviceArray] = None, stream: Optional[Stream] = None
    ) -> DeviceArray:
        """Copy the arrays of all ranks to all of them, in the order of the ranks.

        Parameters
        ----------
        array
            As for :meth:`all_reduce`. It may be the row of ``out`` for this rank.
        out, stream
            As for :meth:`all_reduce`. ``out`` has the shape ``(size, *array.shape)``.

        Returns
        -------
        DeviceArray
            The arrays of all ranks: ``out``, or a new array.

        Raises
        ------
        AclError
            As for :meth:`all_reduce`.

        Notes
        -----
        Wraps ``HcclAllGather``.
        """
        function = "Communicator.all_gather"
        opening = self._ready(function)
        blocks = [self._block_of(array, "array", function, opening)]
        kind = type_of(array.dtype, function, "array")
        out = self._out(out, (self._size, *array.shape), array.dtype, function, opening, blocks)
        self._queue("HcclAllGather", blocks, stream, place(array), place(out), array.size, kind)
        return out

    def scatter(
        self,
        array: Optional[DeviceArray] = None,
        *,
        root: int = 0,
        out: Optional[DeviceArray] = None,
        stream: Optional[Stream] = None,
    ) -> DeviceArray:
        """Copy block ``r`` of the array of one rank to rank ``r``.

        Parameters
        ----------
        array
            On the root, the array that is split, of the shape ``(size, *block)``. On other ranks it is not read: pass
            one of this shape and type, or None with ``out=``.
        root
            The rank whose array is split.
        out, stream
            As for :meth:`all_reduce`. ``out`` has the shape of a block.

        Returns
        -------
        DeviceArray
            The block of this rank: ``out``, or a new array.

        Raises
        ------
        InvalidArgumentError
            As for :meth:`all_reduce`; also if the root has no array, or another rank neither ``array`` nor ``out``.

        Notes
        -----
        Wraps ``HcclScatter``.
        """
        function = "Communicator.scatter"
        opening = self._ready(function)
        root = self._peer(root, function, "root")
        blocks: list[Block] = []
        start = NULL
        if array is not None:
            block = self._block_of(array, "array", function, opening)
            shape, dtype = self._split(array, function), array.dtype
            if root == self._rank:
                blocks, start = [block], place(array)
        elif root == self._rank:
            raise refuse(function, f"array is None on rank {root}, the root", "pass the array whose blocks are sent")
        elif out is None:
            raise refuse(function, "neither array nor out was passed", "pass out=, which has the shape of a block")
        else:
            self._block_of(out, "out", function, opening)
            shape, dtype = out.shape, out.dtype
        out = self._out(out, shape, dtype, function, opening, blocks)
        kind = type_of(dtype, function, "array")
        self._queue("HcclScatter", blocks, stream, start, place(out), out.size, kind, root)
        return out

    def all_to_all(
        self, array: DeviceArray, *, out: Optional[DeviceArray] = None, stream: Optional[Stream] = None
    ) -> DeviceArray:
        """Copy block ``j`` of the array of rank ``i`` to block ``i`` of the result of rank ``j``, for all ranks.

        Parameters
        ----------
        array
            As for :meth:`all_reduce`, of the shape ``(size, *block)``.
        out, stream
            As for :meth:`all_reduce`; ``out`` is not ``array``.

        Returns
        -------
        DeviceArray
            The blocks from all ranks: ``out``, or a new array.

        Raises
        ------
        AclError
            As for :meth:`all_reduce`.

        Notes
        -----
        Wraps ``HcclAlltoAll``.
        """
        function = "Communicator.all_to_all"
        opening = self._ready(function)
        blocks = [self._block_of(array, "array", function, opening)]
        self._split(array, function)
        kind = type_of(array.dtype, function, "array")
        out = self._out(out, array.shape, array.dtype, function, opening, blocks)
        count = array.size // self._size
        self._queue("HcclAlltoAll", blocks, stream, place(array), count, kind, place(out), count, kind)
        return out

    def send(self, array: DeviceArray, dest: int, *, stream: Optional[Stream] = None) -> None:
        """Send an array to a rank, which receives it.

        The messages from one rank to another meet in their order. The stream goes on when the message is across.

        Parameters
        ----------
        array, stream
            As for :meth:`all_reduce`.
        dest
            The rank that receives it.

        Raises
        ------
        AclError
            As for :meth:`all_reduce`.

        Notes
        -----
        Wraps ``HcclSend``.
        """
        function = "Communicator.send"
        opening = self._ready(function)
        blocks = [self._block_of(array, "array", function, opening)]
        dest, kind = self._peer(dest, function, "dest"), type_of(array.dtype, function, "array")
        self._queue("HcclSend", blocks, stream, place(array), array.size, kind, dest)

    def receive(self, out: DeviceArray, source: int, *, stream: Optional[Stream] = None) -> DeviceArray:
        """Receive an array that a rank sends.

        Parameters
        ----------
        out
            The array for the message, of the shape and type of the one that is sent.
        source
            The rank that sends it.
        stream
            As for :meth:`all_reduce`.

        Returns
        -------
        DeviceArray
            ``out``.

        Raises
        ------
        AclError
            As for :meth:`all_reduce`.

        Notes
        -----
        Wraps ``HcclRecv``.
        """
        function = "Communicator.receive"
        opening = self._ready(function)
        blocks = [self._block_of(out, "out", function, opening)]
        source, kind = self._peer(source, function, "source"), type_of(out.dtype, function, "out")
        self._queue("HcclRecv", blocks, stream, place(out), out.size, kind, source)
        return out

    def barrier(self, *, stream: Optional[Stream] = None) -> None:
        """Let a stream wait until the streams of all ranks have come; without a stream, the call waits.

        Parameters
        ----------
        stream
            As for :meth:`all_reduce`.

        Notes
        -----
        Wraps ``HcclBarrier``.
        """
        self._ready("Communicator.barrier")
        self._queue("HcclBarrier", [], stream)
