"""What is measured: each row prepares a statement, which is then timed.

A function of this module takes an :class:`contextlib.ExitStack`, to which it adds what must be released, and returns a
:class:`Statement`, with its twin in C if it has one. It raises an error of :mod:`acl` where the opened library cannot
do its work; the row is then left out, and the error is the reason.
"""

import functools
import math
import operator
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any, NamedTuple, Optional, Union

import numpy

import acl
from acl._lib import lib
from acl.bench import collectives
from acl.bench.twin import Twin

GROUPS = ("runtime", "memory", "events", "capture", "models", "operators", "collectives", "python", "limits")
LIMITS = GROUPS[-1]  # what the machine itself needs; measured in every run
BURST, TASKS = 50, 1000  # tasks of a burst and of a captured instance
LARGE = 64 << 20
WIDE = 1 << 20  # elements of the large operands
POLICY, MODE = lib.ACL_MEM_MALLOC_HUGE_FIRST, lib.ACL_MODEL_RI_CAPTURE_MODE_RELAXED
TO_DEVICE, TO_HOST = lib.ACL_MEMCPY_HOST_TO_DEVICE, lib.ACL_MEMCPY_DEVICE_TO_HOST
ON_DEVICE = lib.ACL_MEMCPY_DEVICE_TO_DEVICE
SYNC_EVENT, BLOCK = lib.ACL_EVENT_SYNC, lib.ACL_CALLBACK_BLOCK
PROGRAM = "import time, numpy; start = time.perf_counter(); import acl; print(time.perf_counter() - start)"


Names = dict[str, Any]


class Statement(NamedTuple):
    """Python text to time, the names that it uses, how many calls it stands for, and its twin in C."""

    text: str
    names: Names
    calls: int = 1
    twin: Optional[Twin] = None


# What is timed: a statement, or a function that takes a sample itself and returns its seconds, alone or beside gloo's.
Timed = Union[Statement, Callable[[], float], collectives.Samples]
Prepare = Callable[[ExitStack], Timed]


class Row(NamedTuple):
    """One row: its group and name, a line that says what is timed, and the function that prepares it.

    ``bus`` is how many bytes the busiest rank has on the bus; 0 for what is not a collective.
    """

    group: str
    name: str
    label: str
    prepare: Prepare
    bus: float = 0


ROWS: list[Row] = []


def row(group: str) -> Callable[[Prepare], Prepare]:
    """Add a function to :data:`ROWS`: the row has its name, and the first line of its docstring."""

    def add(prepare: Prepare) -> Prepare:
        ROWS.append(Row(group, prepare.__name__, (prepare.__doc__ or "").split("\n")[0].rstrip("."), prepare))
        return prepare

    return add


def done(answer: Any) -> Any:
    """Return the values of a pyACL call without its status; raise :class:`RuntimeError` if that is not 0."""
    values, ret = (answer[:-1], answer[-1]) if isinstance(answer, tuple) else ((), answer)
    if ret != 0:
        raise RuntimeError(f"{ret}: {acl.get_recent_err_msg()}")
    return values[0] if len(values) == 1 else values


def _stream(stack: ExitStack) -> int:
    stream = done(acl.rt.create_stream())
    stack.callback(acl.rt.destroy_stream_force, stream)
    return int(stream)


def _block(stack: ExitStack, size: int) -> int:
    address = done(acl.rt.malloc(size, POLICY))
    stack.callback(acl.rt.free, address)
    return int(address)


def _pinned(stack: ExitStack, size: int) -> int:
    address = done(acl.rt.malloc_host(size))
    stack.callback(acl.rt.free_host, address)
    return int(address)


def _event(stack: ExitStack) -> int:
    event = done(acl.rt.create_event_ex_with_flag(SYNC_EVENT))
    stack.callback(acl.rt.destroy_event, event)
    return int(event)


# --- runtime


@row("runtime")
def synchronize(stack: ExitStack) -> Statement:
    """Synchronise a stream without work."""
    names: Names = {"synchronize": acl.rt.synchronize_stream, "s": _stream(stack)}
    return Statement("synchronize(s)", names, twin=Twin("synchronize_stream", [names["s"]]))


@row("runtime")
def launch_sync(stack: ExitStack) -> Statement:
    """Queue a set of 4 bytes, and synchronise."""
    names: Names = {"memset": acl.rt.memset_async, "synchronize": acl.rt.synchronize_stream}
    names.update(s=_stream(stack), p=_block(stack, 4096))
    twin = Twin("burst", [names["p"], 1, names["s"]])
    return Statement("memset(p, 4, 0, 4, s); synchronize(s)", names, twin=twin)


@row("runtime")
def burst(stack: ExitStack) -> Statement:
    """Queue 50 sets of 4 bytes, and synchronise: each."""
    names: Names = {"memset": acl.rt.memset_async, "synchronize": acl.rt.synchronize_stream, "times": range(BURST)}
    names.update(s=_stream(stack), p=_block(stack, 4096))
    twin = Twin("burst", [names["p"], BURST, names["s"]])
    return Statement("for _ in times: memset(p, 4, 0, 4, s)\nsynchronize(s)", names, BURST, twin)


@row("runtime")
def stream(stack: ExitStack) -> Statement:
    """Create and destroy a stream."""
    names: Names = {"create": acl.rt.create_stream, "destroy": acl.rt.destroy_stream}
    return Statement("s, ret = create(); destroy(s)", names, twin=Twin("create_stream"))


# --- memory


def _malloc_free(size: int) -> Statement:
    names: Names = {"malloc": acl.rt.malloc, "free": acl.rt.free}
    return Statement(f"p, ret = malloc({size}, {POLICY}); free(p)", names, twin=Twin("malloc_free", [size]))


@row("memory")
def malloc_free(stack: ExitStack) -> Statement:
    """Allocate and free 4 KiB."""
    return _malloc_free(4096)


@row("memory")
def malloc_free_large(stack: ExitStack) -> Statement:
    """Allocate and free 64 MiB."""
    return _malloc_free(LARGE)


def _copy(target: int, source: int, size: int, kind: int) -> Statement:
    names: Names = {"memcpy": acl.rt.memcpy, "t": target, "s": source}
    text = f"memcpy(t, {size}, s, {size}, {kind})"
    return Statement(text, names, twin=Twin("memcpy", [target, source, size, kind]))


@row("memory")
def copy_small(stack: ExitStack) -> Statement:
    """Copy 4 bytes to the device."""
    return _copy(_block(stack, 4096), _pinned(stack, 4096), 4, TO_DEVICE)


@row("memory")
def copy_to_device(stack: ExitStack) -> Statement:
    """Copy 64 MiB to the device."""
    return _copy(_block(stack, LARGE), _pinned(stack, LARGE), LARGE, TO_DEVICE)


@row("memory")
def copy_to_host(stack: ExitStack) -> Statement:
    """Copy 64 MiB to the host."""
    return _copy(_pinned(stack, LARGE), _block(stack, LARGE), LARGE, TO_HOST)


@row("memory")
def copy_on_device(stack: ExitStack) -> Statement:
    """Copy 64 MiB on the device."""
    return _copy(_block(stack, LARGE), _block(stack, LARGE), LARGE, ON_DEVICE)


# --- events


@row("events")
def event(stack: ExitStack) -> Statement:
    """Create and destroy an event."""
    names: Names = {"create": acl.rt.create_event_ex_with_flag, "destroy": acl.rt.destroy_event}
    return Statement(f"e, ret = create({SYNC_EVENT}); destroy(e)", names, twin=Twin("create_event", [SYNC_EVENT]))


@row("events")
def record_sync(stack: ExitStack) -> Statement:
    """Record an event, and synchronise it."""
    names: Names = {"record": acl.rt.record_event, "synchronize": acl.rt.synchronize_event}
    names.update(e=_event(stack), s=_stream(stack))
    twin = Twin("record_event_sync", [names["e"], names["s"]])
    return Statement("record(e, s); synchronize(e)", names, twin=twin)


@row("events")
def hop(stack: ExitStack) -> Statement:
    """Queue a task, then one of another stream that waits for it, and synchronise."""
    names: Names = {"memset": acl.rt.memset_async, "record": acl.rt.record_event, "wait": acl.rt.stream_wait_event}
    names.update(synchronize=acl.rt.synchronize_stream, p=_block(stack, 4096), e=_event(stack))
    names.update(s=_stream(stack), t=_stream(stack))
    text = "memset(p, 4, 0, 4, s); record(e, s); wait(t, e); memset(p, 4, 0, 4, t); synchronize(t)"
    return Statement(text, names, twin=Twin("hop", [names[name] for name in "pest"]))


# --- capture


def _captured(stack: ExitStack, tasks: int) -> tuple[int, int]:
    """Capture sets of 4 bytes; return the stream and the instance."""
    stream, address = _stream(stack), _block(stack, 4096)
    done(acl.mdl.ri_capture_begin(stream, MODE))
    for _ in range(tasks):
        done(acl.rt.memset_async(address, 4, 0, 4, stream))
    instance = done(acl.mdl.ri_capture_end(stream))
    stack.callback(acl.mdl.ri_destroy, instance)
    return stream, int(instance)


def _replay(stack: ExitStack, tasks: int) -> Statement:
    stream, instance = _captured(stack, tasks)
    names: Names = {"run": acl.mdl.ri_execute_async, "synchronize": acl.rt.synchronize_stream}
    names.update(s=stream, i=instance)
    return Statement("run(i, s); synchronize(s)", names, max(tasks, 1), Twin("replay_sync", [instance, stream]))


@row("capture")
def replay_empty(stack: ExitStack) -> Statement:
    """Run an instance without tasks, and synchronise."""
    return _replay(stack, 0)


@row("capture")
def replay(stack: ExitStack) -> Statement:
    """Run an instance of 1,000 sets of 4 bytes, and synchronise: each set."""
    return _replay(stack, TASKS)


@row("capture")
def capture(stack: ExitStack) -> Statement:
    """Capture 1,000 sets of 4 bytes, and destroy the instance: each set."""
    names: Names = {"begin": acl.mdl.ri_capture_begin, "end": acl.mdl.ri_capture_end, "destroy": acl.mdl.ri_destroy}
    names.update(memset=acl.rt.memset_async, s=_stream(stack), p=_block(stack, 4096), times=range(TASKS))
    text = f"begin(s, {MODE})\nfor _ in times: memset(p, 4, 0, 4, s)\ni, ret = end(s); destroy(i)"
    return Statement(text, names, TASKS, Twin("capture", [names["p"], TASKS, names["s"]]))


# --- models


def _identity(stack: ExitStack) -> acl.Model:
    """Load a model that answers four zeros; only the simulator can load it."""
    from acl import sim
    from acl.sim import om

    zeros = numpy.zeros(4, "f4")
    content = sim.recorded("identity", [om.Tensor("x", (4,))], [om.Tensor("y", (4,))], [([zeros], [zeros])])
    return stack.enter_context(acl.Model(content))


def _dataset(stack: ExitStack, size: int) -> int:
    """Create a dataset of one block of device memory, which is zero."""
    dataset, address = acl.mdl.create_dataset(), _block(stack, size)
    stack.callback(acl.mdl.destroy_dataset, dataset)
    done(acl.rt.memset(address, size, 0, size))
    buffer = acl.create_data_buffer(address, size)
    stack.callback(acl.destroy_data_buffer, buffer)
    done(acl.mdl.add_dataset_buffer(dataset, buffer))
    return int(dataset)


@row("models")
def model(stack: ExitStack) -> Statement:
    """Call acl.Model on device arrays: an identity of 16 bytes."""
    identity = _identity(stack)
    names: Names = {"model": identity, "x": acl.DeviceArray.zeros(4), "y": acl.DeviceArray.zeros(4)}
    twin = Twin("execute", [identity.handle, _dataset(stack, 16), _dataset(stack, 16)])
    return Statement("model(x, out=y)", names, twin=twin)


@row("models")
def model_submit(stack: ExitStack) -> Statement:
    """Call acl.Model.submit(x).result(): the same identity."""
    identity = _identity(stack)
    names: Names = {"submit": identity.submit, "x": numpy.zeros(4, "f4")}
    twin = Twin("execute_sync", [identity.handle, _dataset(stack, 16), _dataset(stack, 16), _stream(stack)])
    return Statement("submit(x).result()", names, twin=twin)


def _serve_callbacks(stack: ExitStack, stream: int) -> None:
    """Start a thread that makes the callbacks of the stream."""
    context, ended = done(acl.rt.get_context()), threading.Event()

    def serve() -> None:
        acl.rt.set_context(context)
        while not ended.is_set():
            acl.rt.process_report(100)

    thread = threading.Thread(target=serve)
    thread.start()
    stack.callback(thread.join)
    stack.callback(ended.set)
    ident = thread.ident or 0
    done(acl.rt.subscribe_report(ident, stream))
    stack.callback(acl.rt.unsubscribe_report, ident, stream)


@row("models")
def model_callbacks(stack: ExitStack) -> Statement:
    """Queue 1,000 executions of the same identity, each with a callback that blocks, and synchronise: each."""
    stream = _stream(stack)
    names: Names = {"execute": acl.mdl.execute_async, "launch": acl.rt.launch_callback, "call": int}
    names.update(synchronize=acl.rt.synchronize_stream, m=_identity(stack).handle, s=stream, times=range(TASKS))
    names.update(i=_dataset(stack, 16), o=_dataset(stack, 16))
    _serve_callbacks(stack, stream)
    text = f"for n in times: execute(m, i, o, s); launch(call, n, {BLOCK}, s)\nsynchronize(s)"
    twin = Twin("execute_callbacks", [*(names[name] for name in "mio"), TASKS, stream])
    return Statement(text, names, TASKS, twin)


# --- operators


def _tensor(stack: ExitStack, array: acl.DeviceArray) -> int:
    """Create a tensor of a contiguous array, for the twin."""
    shape = list(array.shape)
    strides = [math.prod(shape[place + 1 :]) for place in range(len(shape))]
    kind = {"f4": lib.ACL_FLOAT, "f2": lib.ACL_FLOAT16}[array.dtype.str[1:]]
    tensor = acl.create_tensor(shape, kind, strides, 0, lib.ACL_FORMAT_ND, shape, array.handle)
    stack.callback(acl.destroy_tensor, tensor)
    return int(tensor)


def _operator(stack: ExitStack, name: str, *operands: Any, kind: str = "f4") -> Statement:
    """Run an operator of :mod:`acl.nn` once without ``out=``, and time it with the array that it returned."""
    arguments = [
        stack.enter_context(acl.DeviceArray.from_numpy(each.astype(kind))) if isinstance(each, numpy.ndarray) else each
        for each in operands
    ]
    call = getattr(acl.nn, name)
    out = stack.enter_context(call(*arguments))
    arrays = [each for each in (*arguments, out) if isinstance(each, acl.DeviceArray)]
    twin = Twin(f"nn_{name}", [_tensor(stack, each) for each in arrays])
    return Statement("call(*arguments, out=out)", {"call": call, "arguments": arguments, "out": out}, twin=twin)


def _random(*shape: int) -> numpy.ndarray:
    return numpy.random.default_rng(7).standard_normal(shape)


@row("operators")
def add_small(stack: ExitStack) -> Statement:
    """Add 16 elements."""
    return _operator(stack, "add", _random(4, 4), _random(4, 4))


@row("operators")
def add(stack: ExitStack) -> Statement:
    """Add 1 M elements, float32."""
    return _operator(stack, "add", _random(WIDE), _random(WIDE))


@row("operators")
def gelu(stack: ExitStack) -> Statement:
    """Compute gelu of 1 M elements, float32."""
    return _operator(stack, "gelu", _random(WIDE))


@row("operators")
def softmax(stack: ExitStack) -> Statement:
    """Compute softmax of 1,024 rows of 1,024 elements, float32."""
    return _operator(stack, "softmax", _random(1024, 1024), 1)


@row("operators")
def sums(stack: ExitStack) -> Statement:
    """Add up 1,024 rows of 1,024 elements, float32."""
    return _operator(stack, "reduce_sum", _random(1024, 1024), [1], False, numpy.dtype("f4"))


@row("operators")
def matmul(stack: ExitStack) -> Statement:
    """Multiply 256 x 256 matrices, float32."""
    return _operator(stack, "matmul", _random(256, 256), _random(256, 256), 1)


@row("operators")
def matmul_half(stack: ExitStack) -> Statement:
    """Multiply 256 x 256 matrices, float16."""
    return _operator(stack, "matmul", _random(256, 256), _random(256, 256), 1, kind="f2")


@row("operators")
def matmul_vector(stack: ExitStack) -> Statement:
    """Multiply a vector and a 4,096 x 4,096 matrix, float32."""
    return _operator(stack, "matmul", _random(1, 4096), _random(4096, 4096), 1)


# --- collectives

for _case in collectives.CASES:
    ROWS.append(
        Row(collectives.GROUP, _case.name, _case.label, functools.partial(collectives.prepare, _case), _case.bus)
    )


# --- python


@row("python")
def import_acl(stack: ExitStack) -> Timed:
    """Import acl, after numpy."""
    return lambda: float(subprocess.check_output([sys.executable, "-c", PROGRAM], stderr=subprocess.DEVNULL))


@row("python")
def get_device(stack: ExitStack) -> Statement:
    """Call acl.rt.get_device()."""
    return Statement("get_device()", {"get_device": acl.rt.get_device}, twin=Twin("get_device"))


@row("python")
def event_object(stack: ExitStack) -> Statement:
    """Call acl.Event().close()."""
    return Statement("Event().close()", {"Event": acl.Event}, twin=Twin("create_event", [SYNC_EVENT]))


@row("python")
def buffer_object(stack: ExitStack) -> Statement:
    """Call acl.Buffer(4096).close()."""
    return Statement("Buffer(4096).close()", {"Buffer": acl.Buffer}, twin=Twin("malloc_free", [4096]))


@row("python")
def record_object(stack: ExitStack) -> Statement:
    """Call stream.record(event) and stream.synchronize()."""
    stream, event = stack.enter_context(acl.Stream()), stack.enter_context(acl.Event())
    names: Names = {"record": stream.record, "event": event, "synchronize": stream.synchronize}
    twin = Twin("record_stream_sync", [event.handle, stream.handle])
    return Statement("record(event); synchronize()", names, twin=twin)


# --- limits: what no library can be faster than, from Python; the twins are what no C program can be faster than


@row(LIMITS)
def copy_by_numpy(stack: ExitStack) -> Statement:
    """Copy 64 MiB from host to host by NumPy; in C: memcpy."""
    source, target = (numpy.ones(LARGE, "u1") for _ in range(2))
    names: Names = {"copyto": numpy.copyto, "t": target, "s": source}
    return Statement("copyto(t, s)", names, twin=Twin("host_copy", [target.ctypes.data, source.ctypes.data, LARGE]))


@row(LIMITS)
def lock(stack: ExitStack) -> Statement:
    """Acquire and release a free lock; in C: a mutex."""
    free = threading.Lock()
    return Statement("acquire(); release()", {"acquire": free.acquire, "release": free.release}, twin=Twin("mutex"))


@row(LIMITS)
def wake(stack: ExitStack) -> Statement:
    """Wake another thread, and sleep until it wakes this one; in C: by futexes."""
    ping, pong, ended = threading.Lock(), threading.Lock(), threading.Event()

    def answer() -> None:
        while not ended.is_set():
            ping.acquire()
            pong.release()

    ping.acquire()
    pong.acquire()
    thread = threading.Thread(target=answer)
    thread.start()
    stack.callback(thread.join)
    stack.callback(ping.release)
    stack.callback(ended.set)
    return Statement("ping(); pong()", {"ping": ping.release, "pong": pong.acquire}, twin=Twin("futex_round"))


@row(LIMITS)
def clock(stack: ExitStack) -> Statement:
    """Call time.perf_counter(); in C: clock_gettime."""
    return Statement("clock()", {"clock": time.perf_counter}, twin=Twin("clock_read"))


@row(LIMITS)
def builtin(stack: ExitStack) -> Statement:
    """Call a builtin that does nothing with two arguments: operator.is_."""
    return Statement("call(a, b)", {"call": operator.is_, "a": 1 << 40, "b": 2})
