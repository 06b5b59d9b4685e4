"""From what a model is loaded: its contents, the memory that the program gives for it, and the advice if that fails."""

from typing import Any, Optional, Union

from acl.errors import codes
from acl.objects.array import DeviceArray
from acl.objects.memory import Buffer, Span, span_of
from acl.objects.memory_block import refuse
from acl.objects.resource import Resource

# The advice for each status code of a failed load.
LOADING = {
    codes.ACL_ERROR_GE_PARAM_INVALID: "the file is damaged or for another chip, or the memory passed is too small: "
    "acl.Model.memory_of() returns the sizes needed",
    codes.ACL_ERROR_GE_EXEC_NOT_INIT: "open the device first: `with acl.Device(0):`, or acl.init()",
    codes.ACL_ERROR_GE_EXEC_MODEL_PATH_INVALID: "check the path; a relative path starts at the current directory",
    codes.ACL_ERROR_GE_EXEC_MODEL_DATA_SIZE_INVALID: "the file is damaged or not a model: write or copy it again",
}


def room_of(name: str, memory: Union[Buffer, DeviceArray, None]) -> Optional[Span]:
    """Return the device memory that the program gave for work memory or weights, or None."""
    if memory is None:
        return None
    span = span_of(memory, "Model") if isinstance(memory, Resource) else None
    if span is None or span.kind == "host":
        raise refuse("Model", f"{name} is {memory!r}, expected device memory", "pass an acl.Buffer, or leave it out")
    return span


def content_of(source: Any) -> Span:
    """Return host memory with the contents of a model file; device memory is copied to the host."""
    if isinstance(source, Resource) and span_of(source, "Model").kind == "device":
        source = bytes(source) if isinstance(source, Buffer) else source.to_numpy()  # type: ignore[attr-defined]
    return span_of(source, "Model")
