"""The check of the status code of every call to the control interface."""

from acl._lib import ffi, is_simulator, lib


def check(ret: int, call: str) -> None:
    """Raise an error with the simulator's message if a call failed."""
    if ret == 0:
        return
    reason = lib.aclGetRecentErrMsg()
    said = ffi.string(reason).decode(errors="replace").strip() if reason else f"code {ret}"
    if not is_simulator:
        raise RuntimeError(f"{call} needs the simulator: start the program with ACL_BACKEND=sim")
    raise (ValueError if ret == lib.ACL_ERROR_INVALID_PARAM else RuntimeError)(f"{call}: {said}")
