"""Control of the simulator: configuration, reset, and the latches that tests hold streams with.

Everything here needs the simulator; with the vendor's library each call raises RuntimeError.
"""

from acl._lib import ffi, is_simulator, lib


def _check(ret, call):
    """Raise what the simulator says about a refused call."""
    if ret == 0:
        return
    reason = lib.aclGetRecentErrMsg()
    said = ffi.string(reason).decode(errors="replace").strip() if reason else f"code {ret}"
    if not is_simulator:
        raise RuntimeError(f"{call} needs the simulator: start the program with ACL_BACKEND=sim")
    raise (ValueError if ret == lib.ACL_ERROR_INVALID_PARAM else RuntimeError)(f"{call}: {said}")


def configure(**settings: object) -> None:
    """Set configuration values, by the names of the ``ACL_SIM_*`` variables in lower case.

    Parameters
    ----------
    **settings
        For example ``devices=2``, ``soc="Ascend910B3"``, ``schedule="eager"``. None goes back to the environment.

    Raises
    ------
    RuntimeError
        After the first device was opened.
    ValueError
        For a wrong name or value; the text lists the right ones.
    """
    for name, value in settings.items():
        text = ffi.NULL if value is None else str(value).encode()
        _check(lib.aclsimConfigure(name.encode(), text), f"acl.sim.configure({name}={value!r})")


def get_config(name: str) -> str:
    """Return the value in force of one setting, as text."""
    value = ffi.new("char[]", 4096)
    _check(lib.aclsimGetConfig(name.encode(), value, len(value)), f"acl.sim.get_config({name!r})")
    return ffi.string(value).decode()


def reset() -> None:
    """Discard all work, free all memory, make every handle dead and forget configured values."""
    _check(lib.aclsimReset(), "acl.sim.reset()")


def hold(stream: int) -> None:
    """Queue a latch: what is queued on the stream after it waits for :func:`release`."""
    _check(lib.aclsimStreamHold(ffi.cast("void *", stream)), f"acl.sim.hold({stream:#x})")


def release(stream: int) -> None:
    """Open the oldest closed latch of the stream."""
    _check(lib.aclsimStreamRelease(ffi.cast("void *", stream)), f"acl.sim.release({stream:#x})")


def missing() -> list[str]:
    """Return the declared functions that have no behaviour here."""
    return [ffi.string(lib.aclsimMissingName(place)).decode() for place in range(lib.aclsimMissingCount())]
