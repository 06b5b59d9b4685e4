"""Errors of captures: status codes, and the placeholder for a handle that a capture has not produced."""

from typing import Optional

from acl.errors import ADVICE, AclError, CaptureError, codes, error_of
from acl.objects.resource import Closed

CAPTURING = codes.ACL_ERROR_RT_MODEL_CAPTURED
NOT_CAPTURED = codes.ACL_ERROR_RT_STREAM_NOT_CAPTURED
STATUS = codes.ACL_ERROR_STREAM_TASK_GROUP_STATUS
MISMATCH = codes.ACL_ERROR_RT_INTERNAL_ERROR
IN_CAPTURE = ADVICE[CAPTURING]


def failure(code: int, function: str, advice: Optional[str] = None) -> AclError:
    """Return the error for a status code of a capturing call: CaptureError, unless it has another class."""
    error = error_of(code, function, advice)
    if type(error) is AclError:
        return CaptureError(code, function, error.message, advice)
    return error


def check(code: int, function: str, advice: Optional[str] = None) -> None:
    """Raise the error for a status code that is not 0."""
    if code != 0:
        raise failure(code, function, advice)


class Missing(Closed):
    """A placeholder for a handle that does not exist yet, or no longer; using it raises an error with the reason."""

    __slots__ = ("code", "message", "advice")

    def __init__(self, kind: str, code: int, message: str, advice: str) -> None:
        super().__init__(kind)
        self.code = code
        self.message = message
        self.advice = advice

    def __index__(self) -> int:
        text = f"acl.{self.kind}: {self.message}"
        raise CaptureError(self.code, f"acl.{self.kind}", text, self.advice)
