"""What the objects raise: an error for a status code that is not 0, in a family that can be caught.

Each error has ``code``, its ``name``, the C ``function`` that answered it, the library's recent ``message``, and
``advice``: what to do about it. The families of codes stand in :data:`FAMILIES`; a code of none is a plain
:class:`AclError`. pyACL calls return their codes and raise nothing of this.
"""

from typing import Optional

import acl
from acl._calls import cause_of, raised
from acl._lib import lib

# Operators have codes of their own, which no header declares.
OPERATOR_NAMES = {
    161001: "ACLNN_ERR_PARAM_NULLPTR",
    161002: "ACLNN_ERR_PARAM_INVALID",
    361001: "ACLNN_ERR_RUNTIME_ERROR",
    561003: "ACLNN_ERR_INNER_FIND_KERNEL_ERROR",
    561103: "ACLNN_ERR_INNER_NULLPTR",
}
_names: dict[int, str] = {}


def name_of(code: int) -> str:
    """Return the name of a status code, such as ``ACL_ERROR_RT_INVALID_HANDLE``; ``"unknown"`` when it has none."""
    if not _names:
        declared = {int(getattr(lib, name)): name for name in dir(lib) if name.startswith("ACL_ERROR_")}
        _names.update({**OPERATOR_NAMES, **declared})
    return _names.get(code, "unknown")


class AclError(RuntimeError):
    """A call of the library that did not succeed.

    Parameters
    ----------
    code
        The status code.
    function
        The C function that answered it.
    message
        What the library says about it.
    advice
        What to do; None takes what is known for the code.
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
        """The name of the code, as the headers have it."""
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
    """A handle of something that was destroyed, or that is of another kind."""

    usual_advice = "it was closed, or its device was reset: make a new one"


class ContextError(AclError):
    """The calling thread has no context, or not the one that the object belongs to."""

    usual_advice = "make its device or context current in this thread: `with acl.Device(0):` or `.use()`"


class OutOfMemoryError(AclError, MemoryError):
    """The device or the host has not as much memory as was asked for."""

    usual_advice = "close buffers and arrays that are not needed; acl.Device.memory_info() says what is free"


class ResourceError(AclError):
    """Streams, events, notifies or queues are used up."""

    usual_advice = "close those that are not needed any more"


class NotSupportedError(AclError, NotImplementedError):
    """The chip, the version or the kind of object does not have this."""


class CaptureError(AclError):
    """What a capture does not allow, or a capture that went wrong."""

    usual_advice = "do this before the capture begins or after it has ended"


class TimedOutError(AclError, TimeoutError):
    """The time given for it is over; what was waited for goes on."""


class AbortedError(AclError):
    """The stream's or the device's work was aborted while this call was under way."""

    usual_advice = "queue the work again once the abort is over"


class TaskError(AclError):
    """Work that was queued earlier failed on the device."""

    usual_advice = "the message names the task; what it was given is wrong, or the device is"


class ModelError(AclError):
    """A model that cannot be loaded or run."""


class OperatorError(AclError):
    """An operator that refuses its arguments or has no kernel."""


FAMILIES: dict[type[AclError], tuple[int, ...]] = {
    InvalidArgumentError: (
        100000, 107000, 107001, 107008, 107009, 107016, 107018, 107039, 107043, 107044, 145000, 200002, 200003, 507027,
    ),
    InvalidHandleError: (107017, 200005),
    ContextError: (107002, 107003, 107004, 507007),
    OutOfMemoryError: (200000, 207001, 207018, 245000),
    ResourceError: (207005, 207007, 207008, 207009, 207010, 207011, 207012, 207014),
    NotSupportedError: (200001, 200006, 200007, 207000, 207019, 207021),
    CaptureError: (
        *range(107024, 107035), 107036, 107038, 107041, 107045, 507903,
    ),
    TimedOutError: (107019, 107020, 207020, 507012, 507046, 507047, 545601),
    AbortedError: (107022, 107023, 107035),
    TaskError: (
        207003, 207016, 207017, 507001, 507010, 507011, *range(507013, 507021), *range(507034, 507037),
        *range(507042, 507046), *range(507048, 507051), *range(507053, 507058), 507914, 507915, 507916,
    ),
    ModelError: (
        *range(100003, 100009), *range(100011, 100020), *range(145001, 145004), *range(145006, 145010),
        *range(145011, 145023), 107005, 107037, 107040, 148053,
        *range(545001, 545010),
    ),
    OperatorError: (*range(100020, 100030), 148050, *OPERATOR_NAMES),
}  # fmt: skip
_family_of = {code: family for family, codes in FAMILIES.items() for code in codes}

ADVICE = {
    100001: "call acl.init() first, or make a device current: acl.Device does it by itself",
    107001: "acl.Device.count() says how many devices there are",
    107002: "make a device current in this thread first: `with acl.Device(0):` or acl.Device(0).use()",
    107003: "make the context it was made in current: `stream.use_context()`, or use a stream of this context",
    107006: "synchronise the event first, and give both events timing=True",
    107011: "one stream cannot have both callbacks and subscribed reports: use another stream",
    107024: "record the event on a stream of the capture, or make what it depends on wait outside of it",
    107025: "let the first stream of the capture wait for the others before it ends",
    107026: "leave the `with acl.capture(...)` block first",
    107027: "a stream is neither synchronised, queried nor closed while it is captured: end the capture first",
    107028: "an event recorded in a capture is neither synchronised nor queried: end the capture first",
    107029: "do this inside a `with acl.capture(stream):` block, on that stream or one that waits for it",
    107030: "a synchronous call is no part of a capture: give it stream=, or do it before",
    107031: "the default stream is not captured, and not used while another is: give both calls a stream of their own",
    107032: "an event belongs to one capture: record another one in this capture; both are lost, capture them again",
    107033: "one group is open at a time, and none when the capture ends: leave `with graph.group():` before",
    107034: "while a group is open only its own stream takes work: leave the group first; capture again",
    107036: "end a capture on the stream that it began on",
    107038: "end a capture in the thread that began it, or capture with mode='relaxed'",
    107041: "memory of a copy in a capture is pinned: acl.Buffer(size, kind='host')",
    107045: "leave the `with body.capture(...)` block before that of the graph",
    507007: "the device is not in use any more: make it current again with acl.Device(0).use()",
    507903: "an earlier call in the capture failed and made it invalid: see to that error, and capture again",
    561003: "acl.sim.kernel registers a kernel for the simulator",
}


def error_of(code: int, function: str, advice: Optional[str] = None) -> AclError:
    """Return the error for a status code, with the message that the library has for this thread.

    Where the message is that of a kernel or a model that is a Python function, what that raised is the ``__cause__``.
    """
    message = acl.get_recent_err_msg() or ""
    error = _family_of.get(code, AclError)(code, function, message.strip(), advice)
    if raised:
        error.__cause__ = cause_of(message)
    return error
