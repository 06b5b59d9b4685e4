"""Control of the simulator: configuration, reset, kernels in NumPy, and latches by which tests hold streams.

Everything here needs the simulator; with the vendor's library each call raises RuntimeError.
"""

from typing import Optional

from acl._hooks import counting_live, simulator_reset, simulator_resetting
from acl._lib import ffi, lib
from acl.data_types import DATA_TYPES
from acl.sim.check import check
from acl.sim.custom import custom_kernel as custom_kernel
from acl.sim.faults import Fault as Fault
from acl.sim.faults import faults as faults
from acl.sim.findings import Finding as Finding
from acl.sim.findings import FindingError as FindingError
from acl.sim.findings import findings as findings
from acl.sim.findings import forget_findings as forget_findings
from acl.sim.findings import name as name
from acl.sim.kernels import kernel as kernel
from acl.sim.models import executor as executor
from acl.sim.models import model as model
from acl.sim.recording import recorded as recorded
from acl.sim.saving import save as save
from acl.sim.stubs import affine as affine
from acl.sim.stubs import identity as identity
from acl.strict import strict as strict


def configure(**settings: object) -> None:
    """Set configuration values, by the names of the ``ACL_SIM_*`` variables in lower case.

    Parameters
    ----------
    **settings
        For example ``devices=2``, ``soc="Ascend910B3"``, ``schedule="eager"``; with ``unsupported="warn"`` a call of a
        function that returns 207000, because the simulator or the CANN version that it simulates does not have it, is
        also reported on stderr, once per function. None restores the value of the environment.

    Raises
    ------
    RuntimeError
        After the first device was opened.
    ValueError
        For a wrong name or value; the message lists the valid ones.
    """
    for setting, value in settings.items():
        text = ffi.NULL if value is None else str(value).encode()
        check(lib.aclsimConfigure(setting.encode(), text), f"acl.sim.configure({setting}={value!r})")
    if "strict" in settings:
        strict(get_config("strict") == "1")
    if "trace" in settings or "faults" in settings:
        lib.acl_backend_trace()


def get_config(name: str) -> str:
    """Return the current value of one setting, as text."""
    value = ffi.new("char[]", 4096)
    check(lib.aclsimGetConfig(name.encode(), value, len(value)), f"acl.sim.get_config({name!r})")
    return ffi.string(value).decode()


def reset() -> None:
    """Discard all work, free all memory, make every handle invalid and restore the configuration of the environment."""
    simulator_resetting()
    check(lib.aclsimReset(), "acl.sim.reset()")
    simulator_reset()


def clock() -> int:
    """Return the time of this thread in nanoseconds, by the clock that the setting ``clock`` names.

    With ``clock="model"`` it is the virtual time up to which the host has waited; it begins at 0. Otherwise it is that
    of the monotonic clock.

    Notes
    -----
    Wraps ``aclsimClock``.
    """
    return int(lib.aclsimClock())


def write_trace() -> None:
    """Write the events of the trace so far into the file that the setting ``trace`` names.

    Raises
    ------
    RuntimeError
        If nothing is traced, or the file cannot be written.

    Notes
    -----
    Wraps ``aclsimWriteTrace``.
    """
    check(lib.aclsimWriteTrace(), "acl.sim.write_trace()")


def hold(stream: int) -> None:
    """Queue a latch: later work on the stream waits for :func:`release`."""
    check(lib.aclsimStreamHold(ffi.cast("void *", stream)), f"acl.sim.hold({stream:#x})")


def release(stream: int) -> None:
    """Open the oldest closed latch of the stream."""
    check(lib.aclsimStreamRelease(ffi.cast("void *", stream)), f"acl.sim.release({stream:#x})")


def missing() -> list[str]:
    """Return the declared functions that have no behaviour in the simulator."""
    return [ffi.string(lib.aclsimMissingName(place)).decode() for place in range(lib.aclsimMissingCount())]


def live(kind: Optional[str] = None) -> int:
    """Return how many handles, blocks of memory and models exist.

    Parameters
    ----------
    kind
        One kind, such as ``"stream"``, ``"memory"`` (blocks of devices and of pinned memory) or ``"model"``; None for
        all. Objects of the runtime itself, such as default streams, are counted too. Memory of closed objects whose
        work is done is released before.

    Raises
    ------
    ValueError
        For an unknown kind; the message lists the known ones.

    Notes
    -----
    Wraps ``aclsimLiveCount``.
    """
    counting_live()
    count = int(lib.aclsimLiveCount(ffi.NULL if kind is None else kind.encode()))
    known = count != 2 ** (8 * ffi.sizeof("size_t")) - 1
    check(0 if known else lib.ACL_ERROR_INVALID_PARAM, f"acl.sim.live({kind!r})")
    return count


def operators(implemented: bool = False) -> int:
    """Return how many operators there are, or how many of them have a kernel."""
    return int(lib.aclsimOperatorCount(implemented))


def kernel_types(name: str) -> Optional[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Return the data types that the kernel of an operator takes and returns, or None if it has no kernel.

    Parameters
    ----------
    name
        The operator's name in C, such as ``"aclnnAdd"``.

    Returns
    -------
    tuple of tuples of str, optional
        The names of the types that the first phase accepts for the first tensor that the operator reads, and for the
        first one that it writes. They are found by asking the kernel about small tensors, and empty if some other
        argument of the kernel could not be guessed.

    Raises
    ------
    ValueError
        If there is no operator of this name.

    Notes
    -----
    Wraps ``aclsimOperatorKernel``.
    """
    implemented, sets = ffi.new("int32_t *"), ffi.new("uint64_t[2]")
    ret = lib.aclsimOperatorKernel(name.encode(), implemented, sets, sets + 1)
    check(ret, f"acl.sim.kernel_types({name!r})")
    order = sorted((kind.name.rstrip("0123456789"), kind.bits, code) for code, kind in DATA_TYPES.items() if code >= 0)
    takes, gives = (tuple(DATA_TYPES[code].name for *_, code in order if types >> code & 1) for types in sets)
    return (takes, gives) if implemented[0] else None
