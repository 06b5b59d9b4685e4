"""The exceptions that the objects raise for a status code that is not 0, grouped in families.

Each error has ``code``, its ``name``, the C ``function`` that returned it, the library's recent ``message``, and
``advice``: what to do about it. :data:`FAMILIES` lists the codes of each family; any other code raises a plain
:class:`AclError`. pyACL calls return their codes and raise none of these errors.
``codes`` has every status code under the name that the headers give it: ``codes.ACL_ERROR_RT_INVALID_HANDLE``.
"""

from typing import Optional

import acl
from acl import codes as codes
from acl._calls import cause_of, raised
from acl._lib import ffi

RESULTS: dict[int, str] = ffi.typeof("HcclResult").elements  # of HCCL, whose functions return codes of their own


def name_of(code: int) -> str:
    """Return the name of a status code, such as ``ACL_ERROR_RT_INVALID_HANDLE``; ``"unknown"`` if it has none."""
    return codes.NAMES.get(code) or RESULTS.get(code, "unknown")


class AclError(RuntimeError):
    """A failed call of the library.

    Parameters
    ----------
    code
        The status code.
    function
        The C function that returned it.
    message
        The library's message.
    advice
        What to do; None selects the usual advice for the code.
    """

    usual_advice = ""

    def __init__(self, code: int, function: str, message: str = "", advice: Optional[str] = None) -> None:
        super().__init__(code, function, message)
        self.code = code
        self.function = function
        self.message = message
        self.advice = ADVICE.get(code, self.usual_advice) if advice is None else advice

    @property
    def name(self) -> str:
        """The name of the code in the headers."""
        return name_of(self.code)

    def __str__(self) -> str:
        text = self.message.strip().split("\n")[0]
        if self.function not in text:
            text = f"{self.function} failed" + (f": {text}" if text else "")
        if str(self.code) not in text:
            text += f" ({self.code} {self.name})"
        return f"{text}; {self.advice}" if self.advice else text

    def __reduce__(self) -> tuple[type["AclError"], tuple[int, str, str, str]]:
        return type(self), (self.code, self.function, self.message, self.advice)


class InvalidArgumentError(AclError, ValueError):
    """An argument that the library refuses."""


class InvalidHandleError(AclError):
    """A handle of an object that was destroyed, or of an object of another type."""

    usual_advice = "the object was closed, or its device was reset: make a new one"


class ContextError(AclError):
    """The calling thread has no context, or not the one that the object belongs to."""

    usual_advice = "make its device or context current in this thread: `with acl.Device(0):` or `.use()`"


class OutOfMemoryError(AclError, MemoryError):
    """The device or the host does not have enough free memory."""

    usual_advice = "close buffers and arrays that are not needed; acl.Device.memory_info() returns the free memory"


class ResourceError(AclError):
    """Streams, events, notifies or queues are used up."""

    usual_advice = "close those that are no longer needed"


class NotSupportedError(AclError, NotImplementedError):
    """The chip, the CANN version or the type of object does not support the call."""


class CaptureError(AclError):
    """A call that is not allowed during a capture, or a capture that failed."""

    usual_advice = "do this before the capture begins or after it has ended"


class TimedOutError(AclError, TimeoutError):
    """The call timed out; the work that it waited for continues."""


class AbortedError(AclError):
    """The stream's or the device's work was aborted while this call was under way."""

    usual_advice = "queue the work again once the abort is over"


class TaskError(AclError):
    """Work that was queued earlier failed on the device."""

    usual_advice = "the message names the task: check its arguments, then the device"


class ModelError(AclError):
    """A model that cannot be loaded or run."""


class OperatorError(AclError):
    """An operator that refuses its arguments or has no kernel."""


FAMILIES: dict[type[AclError], tuple[int, ...]] = {
    InvalidArgumentError: (
        codes.ACL_ERROR_INVALID_PARAM,
        codes.ACL_ERROR_RT_PARAM_INVALID,
        codes.ACL_ERROR_RT_INVALID_DEVICEID,
        codes.ACL_ERROR_RT_ADDR_UNALIGNED,
        codes.ACL_ERROR_RT_FILE_OPEN,
        codes.ACL_ERROR_RT_INVALID_MEMORY_TYPE,
        codes.ACL_ERROR_RT_INVALID_MALLOC_TYPE,
        codes.ACL_ERROR_RT_INSUFFICIENT_INPUT_ARRAY,
        codes.ACL_ERROR_RT_INVALID_SYMBOL,
        codes.ACL_ERROR_RT_INVALID_DEVICE_FUNCTION,
        codes.ACL_ERROR_GE_PARAM_INVALID,
        codes.ACL_ERROR_INVALID_DEVICE,
        codes.ACL_ERROR_MEMORY_ADDRESS_UNALIGNED,
        codes.ACL_ERROR_RT_KERNEL_LOOKUP,
    ),
    InvalidHandleError: (
        codes.ACL_ERROR_RT_INVALID_HANDLE,
        codes.ACL_ERROR_INVALID_RESOURCE_HANDLE,
    ),
    ContextError: (
        codes.ACL_ERROR_RT_CONTEXT_NULL,
        codes.ACL_ERROR_RT_STREAM_CONTEXT,
        codes.ACL_ERROR_RT_MODEL_CONTEXT,
        codes.ACL_ERROR_RT_CONTEXT_RELEASE_ERROR,
    ),
    OutOfMemoryError: (
        codes.ACL_ERROR_BAD_ALLOC,
        codes.ACL_ERROR_RT_MEMORY_ALLOCATION,
        codes.ACL_ERROR_RT_DEVICE_OOM,
        codes.ACL_ERROR_GE_MEMORY_ALLOCATION,
    ),
    ResourceError: (
        codes.ACL_ERROR_RT_RESOURCE_ALLOC_FAIL,
        codes.ACL_ERROR_RT_NO_EVENT_RESOURCE,
        codes.ACL_ERROR_RT_NO_STREAM_RESOURCE,
        codes.ACL_ERROR_RT_NO_NOTIFY_RESOURCE,
        codes.ACL_ERROR_RT_NO_MODEL_RESOURCE,
        codes.ACL_ERROR_RT_NO_CDQ_RESOURCE,
        codes.ACL_ERROR_RT_OVER_LIMIT,
        codes.ACL_ERROR_RT_QUEUE_FULL,
    ),
    NotSupportedError: (
        codes.ACL_ERROR_API_NOT_SUPPORT,
        codes.ACL_ERROR_FEATURE_UNSUPPORTED,
        codes.ACL_ERROR_PROF_MODULES_UNSUPPORTED,
        codes.ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
        codes.ACL_ERROR_RT_FEATURE_NOT_SUPPORT_UPDATE_OP,
        codes.ACL_ERROR_RT_LINK_TYPE_NOT_SUPPORTED,
    ),
    CaptureError: (
        codes.ACL_ERROR_RT_CAPTURE_DEPENDENCY,
        codes.ACL_ERROR_RT_STREAM_UNJOINED,
        codes.ACL_ERROR_RT_MODEL_CAPTURED,
        codes.ACL_ERROR_RT_STREAM_CAPTURED,
        codes.ACL_ERROR_RT_EVENT_CAPTURED,
        codes.ACL_ERROR_RT_STREAM_NOT_CAPTURED,
        codes.ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT,
        codes.ACL_ERROR_RT_STREAM_CAPTURE_IMPLICIT,
        codes.ACL_ERROR_STREAM_CAPTURE_CONFLICT,
        codes.ACL_ERROR_STREAM_TASK_GROUP_STATUS,
        codes.ACL_ERROR_STREAM_TASK_GROUP_INTR,
        codes.ACL_ERROR_RT_STREAM_CAPTURE_UNMATCHED,
        codes.ACL_ERROR_RT_STREAM_CAPTURE_WRONG_THREAD,
        codes.ACL_ERROR_RT_CAPTURE_MODE_BLOCK_ASYNC,
        codes.ACL_ERROR_RT_SUB_ACLGRAPH_IS_CAPTURING,
        codes.ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED,
    ),
    TimedOutError: (
        codes.ACL_ERROR_RT_WAIT_TIMEOUT,
        codes.ACL_ERROR_RT_TASK_TIMEOUT,
        codes.ACL_ERROR_RT_TIMEOUT,
        codes.ACL_ERROR_RT_REPORT_TIMEOUT,
        codes.ACL_ERROR_RT_STREAM_SYNC_TIMEOUT,
        codes.ACL_ERROR_RT_EVENT_SYNC_TIMEOUT,
        codes.ACL_ERROR_GE_MODEL_EXECUTE_TIMEOUT,
    ),
    AbortedError: (
        codes.ACL_ERROR_RT_DEVICE_TASK_ABORT,
        codes.ACL_ERROR_RT_STREAM_ABORT,
        codes.ACL_ERROR_RT_TASK_ABORT_STOP,
    ),
    TaskError: (
        codes.ACL_ERROR_RT_AICORE_OVER_FLOW,
        codes.ACL_ERROR_RT_AIVEC_OVER_FLOW,
        codes.ACL_ERROR_RT_OVER_FLOW,
        codes.ACL_ERROR_RT_TS_ERROR,
        codes.ACL_ERROR_RT_LOST_HEARTBEAT,
        codes.ACL_ERROR_RT_MODEL_EXECUTE,
        codes.ACL_ERROR_RT_SYS_DMA,
        codes.ACL_ERROR_RT_AICORE_TIMEOUT,
        codes.ACL_ERROR_RT_AICORE_EXCEPTION,
        codes.ACL_ERROR_RT_AICORE_TRAP_EXCEPTION,
        codes.ACL_ERROR_RT_AICPU_TIMEOUT,
        codes.ACL_ERROR_RT_AICPU_EXCEPTION,
        codes.ACL_ERROR_RT_AICPU_DATADUMP_RSP_ERR,
        codes.ACL_ERROR_RT_AICPU_MODEL_RSP_ERR,
        codes.ACL_ERROR_RT_VECTOR_CORE_TIMEOUT,
        codes.ACL_ERROR_RT_VECTOR_CORE_EXCEPTION,
        codes.ACL_ERROR_RT_VECTOR_CORE_TRAP_EXCEPTION,
        codes.ACL_ERROR_RT_AICORE_TRAP_READ_OVERFLOW,
        codes.ACL_ERROR_RT_AICORE_TRAP_WRITE_OVERFLOW,
        codes.ACL_ERROR_RT_VECTOR_CORE_TRAP_READ_OVERFLOW,
        codes.ACL_ERROR_RT_VECTOR_CORE_TRAP_WRITE_OVERFLOW,
        codes.ACL_ERROR_RT_FFTS_PLUS_TIMEOUT,
        codes.ACL_ERROR_RT_FFTS_PLUS_EXCEPTION,
        codes.ACL_ERROR_RT_FFTS_PLUS_TRAP_EXCEPTION,
        codes.ACL_ERROR_RT_DEVICE_MEM_ERROR,
        codes.ACL_ERROR_RT_HBM_MULTI_BIT_ECC_ERROR,
        codes.ACL_ERROR_RT_SUSPECT_DEVICE_MEM_ERROR,
        codes.ACL_ERROR_RT_LINK_ERROR,
        codes.ACL_ERROR_RT_SUSPECT_REMOTE_ERROR,
        codes.ACL_ERROR_RT_L3_PORT_ERROR,
        codes.ACL_ERROR_RT_CCU_TIMEOUT,
        codes.ACL_ERROR_RT_CCU_EXCEPTION,
    ),
    ModelError: (
        codes.ACL_ERROR_INVALID_FILE,
        codes.ACL_ERROR_WRITE_FILE,
        codes.ACL_ERROR_INVALID_FILE_SIZE,
        codes.ACL_ERROR_PARSE_FILE,
        codes.ACL_ERROR_FILE_MISSING_ATTR,
        codes.ACL_ERROR_FILE_ATTR_INVALID,
        codes.ACL_ERROR_INVALID_MODEL_ID,
        codes.ACL_ERROR_DESERIALIZE_MODEL,
        codes.ACL_ERROR_PARSE_MODEL,
        codes.ACL_ERROR_READ_MODEL_FAILURE,
        codes.ACL_ERROR_MODEL_SIZE_INVALID,
        codes.ACL_ERROR_MODEL_MISSING_ATTR,
        codes.ACL_ERROR_MODEL_INPUT_NOT_MATCH,
        codes.ACL_ERROR_MODEL_OUTPUT_NOT_MATCH,
        codes.ACL_ERROR_MODEL_NOT_DYNAMIC,
        codes.ACL_ERROR_GE_EXEC_NOT_INIT,
        codes.ACL_ERROR_GE_EXEC_MODEL_PATH_INVALID,
        codes.ACL_ERROR_GE_EXEC_MODEL_ID_INVALID,
        codes.ACL_ERROR_GE_EXEC_MODEL_DATA_SIZE_INVALID,
        codes.ACL_ERROR_GE_EXEC_MODEL_ADDR_INVALID,
        codes.ACL_ERROR_GE_EXEC_MODEL_QUEUE_ID_INVALID,
        codes.ACL_ERROR_GE_EXEC_LOAD_MODEL_REPEATED,
        codes.ACL_ERROR_GE_DYNAMIC_INPUT_ADDR_INVALID,
        codes.ACL_ERROR_GE_DYNAMIC_INPUT_LENGTH_INVALID,
        codes.ACL_ERROR_GE_DYNAMIC_BATCH_SIZE_INVALID,
        codes.ACL_ERROR_GE_AIPP_BATCH_EMPTY,
        codes.ACL_ERROR_GE_AIPP_NOT_EXIST,
        codes.ACL_ERROR_GE_AIPP_MODE_INVALID,
        codes.ACL_ERROR_GE_OP_TASK_TYPE_INVALID,
        codes.ACL_ERROR_GE_OP_KERNEL_TYPE_INVALID,
        codes.ACL_ERROR_GE_PLGMGR_PATH_INVALID,
        codes.ACL_ERROR_GE_FORMAT_INVALID,
        codes.ACL_ERROR_GE_SHAPE_INVALID,
        codes.ACL_ERROR_GE_DATATYPE_INVALID,
        codes.ACL_ERROR_RT_STREAM_MODEL,
        codes.ACL_ERROR_RT_MODEL_RUNNING,
        codes.ACL_ERROR_RT_MODEL_UPDATE_FAILED,
        codes.ACL_ERROR_INVALID_BUNDLE_MODEL_ID,
        codes.ACL_ERROR_GE_LOAD_MODEL,
        codes.ACL_ERROR_GE_EXEC_LOAD_MODEL_PARTITION_FAILED,
        codes.ACL_ERROR_GE_EXEC_LOAD_WEIGHT_PARTITION_FAILED,
        codes.ACL_ERROR_GE_EXEC_LOAD_TASK_PARTITION_FAILED,
        codes.ACL_ERROR_GE_EXEC_LOAD_KERNEL_PARTITION_FAILED,
        codes.ACL_ERROR_GE_EXEC_RELEASE_MODEL_DATA,
        codes.ACL_ERROR_GE_COMMAND_HANDLE,
        codes.ACL_ERROR_GE_GET_TENSOR_INFO,
        codes.ACL_ERROR_GE_UNLOAD_MODEL,
    ),
    OperatorError: (
        codes.ACL_ERROR_OP_TYPE_NOT_MATCH,
        codes.ACL_ERROR_OP_INPUT_NOT_MATCH,
        codes.ACL_ERROR_OP_OUTPUT_NOT_MATCH,
        codes.ACL_ERROR_OP_ATTR_NOT_MATCH,
        codes.ACL_ERROR_OP_NOT_FOUND,
        codes.ACL_ERROR_OP_LOAD_FAILED,
        codes.ACL_ERROR_UNSUPPORTED_DATA_TYPE,
        codes.ACL_ERROR_FORMAT_NOT_MATCH,
        codes.ACL_ERROR_BIN_SELECTOR_NOT_REGISTERED,
        codes.ACL_ERROR_KERNEL_NOT_FOUND,
        codes.ACL_ERROR_OP_UNSUPPORTED_DYNAMIC,
        codes.ACLNN_ERR_PARAM_NULLPTR,
        codes.ACLNN_ERR_PARAM_INVALID,
        codes.ACLNN_ERR_RUNTIME_ERROR,
        codes.ACLNN_ERR_INNER,
        codes.ACLNN_ERR_INNER_TILING_ERROR,
        codes.ACLNN_ERR_INNER_FIND_KERNEL_ERROR,
        codes.ACLNN_ERR_INNER_NULLPTR,
    ),
}
_family_of = {code: family for family, codes in FAMILIES.items() for code in codes}

ADVICE = {
    codes.ACL_ERROR_UNINITIALIZE: "call acl.init() first, or make a device current with acl.Device, which calls it",
    codes.ACL_ERROR_RT_INVALID_DEVICEID: "acl.Device.count() returns the number of devices",
    codes.ACL_ERROR_RT_CONTEXT_NULL: (
        "make a device current in this thread first: `with acl.Device(0):` or acl.Device(0).use()"
    ),
    codes.ACL_ERROR_RT_STREAM_CONTEXT: (
        "make the stream's own context current with `stream.use_context()`, or use a stream of the current context"
    ),
    codes.ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID: "synchronise the event first, and create both events with timing=True",
    codes.ACL_ERROR_RT_STREAM_SUBSCRIBE: (
        "one stream cannot have both callbacks and subscribed reports: use another stream"
    ),
    codes.ACL_ERROR_RT_CAPTURE_DEPENDENCY: (
        "record the event on a stream of the capture, or wait for it outside the capture"
    ),
    codes.ACL_ERROR_RT_STREAM_UNJOINED: "let the first stream of the capture wait for the others before it ends",
    codes.ACL_ERROR_RT_MODEL_CAPTURED: "leave the `with acl.capture(...)` block first",
    codes.ACL_ERROR_RT_STREAM_CAPTURED: (
        "a stream cannot be synchronised, queried or closed while it is captured: end the capture first"
    ),
    codes.ACL_ERROR_RT_EVENT_CAPTURED: (
        "an event recorded in a capture cannot be synchronised or queried: end the capture first"
    ),
    codes.ACL_ERROR_RT_STREAM_NOT_CAPTURED: (
        "do this inside a `with acl.capture(stream):` block, on that stream or one that waits for it"
    ),
    codes.ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT: (
        "a synchronous call cannot be captured: pass stream=, or make the call before the capture"
    ),
    codes.ACL_ERROR_RT_STREAM_CAPTURE_IMPLICIT: (
        "the default stream cannot be captured, nor used during a capture: pass an explicit stream to both calls"
    ),
    codes.ACL_ERROR_STREAM_CAPTURE_CONFLICT: (
        "an event belongs to one capture: record another one in this capture; both captures failed, repeat them"
    ),
    codes.ACL_ERROR_STREAM_TASK_GROUP_STATUS: (
        "groups cannot overlap, and must be closed before the capture ends: leave `with graph.group():` first"
    ),
    codes.ACL_ERROR_STREAM_TASK_GROUP_INTR: (
        "while a group is open, only its own stream accepts work: leave the group first, and capture again"
    ),
    codes.ACL_ERROR_RT_STREAM_CAPTURE_UNMATCHED: "end a capture on the stream that it began on",
    codes.ACL_ERROR_RT_STREAM_CAPTURE_WRONG_THREAD: (
        "end a capture in the thread that began it, or capture with mode='relaxed'"
    ),
    codes.ACL_ERROR_RT_CAPTURE_MODE_BLOCK_ASYNC: (
        "a captured copy needs pinned host memory: acl.Buffer(size, kind='host')"
    ),
    codes.ACL_ERROR_RT_SUB_ACLGRAPH_IS_CAPTURING: "leave the `with body.capture(...)` block before that of the graph",
    codes.ACL_ERROR_RT_CONTEXT_RELEASE_ERROR: (
        "the device is no longer in use: make it current again with acl.Device(0).use()"
    ),
    codes.ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED: (
        "an earlier call failed and invalidated the capture: fix that error, then capture again"
    ),
    codes.ACLNN_ERR_INNER_FIND_KERNEL_ERROR: "acl.sim.kernel registers a kernel for the simulator",
}


def error_of(code: int, function: str, advice: Optional[str] = None) -> AclError:
    """Return the error for a status code, with the message that the library has for this thread.

    If the message comes from a kernel or model written in Python, the function's exception is the ``__cause__``.
    """
    message = acl.get_recent_err_msg() or ""
    error = _family_of.get(code, AclError)(code, function, message.strip(), advice)
    if raised:
        error.__cause__ = cause_of(message)
    return error
