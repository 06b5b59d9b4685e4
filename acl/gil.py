"""When a call of the compiled module keeps the GIL; ``build_acl.py`` generates the calls accordingly.

Releasing and taking the GIL costs more than a short call. A call may keep it if the call is short, neither waits nor
runs a task, and calls no function of the program. The simulator holds its locks only for moments, and never while a
Python function runs.

This file imports nothing of the package, because the build loads it by its path.
"""

from typing import Any, Optional

# Calls that neither block nor take a lock, in the vendor's library too.
PURE = {"aclDataTypeSize", "aclFloat16ToFloat", "aclFloatToFloat16", "aclrtGetDevice"}

# Calls that keep it with the simulator, each with a C condition. A call that needs a context may open a device, and a
# submission may run tasks: the simulator says beforehand whether they will. A poll keeps it only when its work is done,
# so that a loop lets other threads run. Moving or setting bytes is short up to SHORT of them.
SHORT = 4096
ALWAYS = "1"
NOTHING = "aclsimIsReady(ACLSIM_WAIT_NOTHING, NULL)"
QUEUE = "aclsimIsReady(ACLSIM_WAIT_QUEUE, (void *)(uintptr_t)i_stream)"
DONE = "aclsimIsReady(ACLSIM_WAIT_EVENT, (void *)(uintptr_t)i_event)"
DESCRIPTIONS = ("dataset", "tensordesc")  # groups of calls on descriptions in host memory
QUICK = {
    **dict.fromkeys(("aclGetRecentErrMsg", "aclrtPeekAtLastError", "aclrtGetLastError"), ALWAYS),
    **dict.fromkeys(("aclrtGetCurrentContext", "aclrtGetRunMode"), ALWAYS),
    **dict.fromkeys((f"aclrtCreateEvent{kind}" for kind in ("", "WithFlag", "ExWithFlag")), NOTHING),
    **dict.fromkeys((f"aclrtQueryEvent{kind}" for kind in ("", "Status", "WaitStatus")), DONE),
    **dict.fromkeys(("aclrtEventElapsedTime", "aclrtEventGetTimestamp", "aclrtGetEventId"), NOTHING),
    **dict.fromkeys(("aclrtDestroyEvent", "aclrtFree", "aclrtSetCurrentContext"), NOTHING),
    **dict.fromkeys((f"aclrtMalloc{kind}" for kind in ("", "Align32", "Cached")), NOTHING),
    **dict.fromkeys(("aclrtStreamGetId", "aclrtCtxGetCurrentDefaultStream"), NOTHING),
    **dict.fromkeys(("aclrtMemcpy", "aclrtMemset"), f"i_count <= {SHORT} && {NOTHING}"),
    "aclrtStreamQuery": "aclsimIsReady(ACLSIM_WAIT_STREAM, (void *)(uintptr_t)i_stream)",
    **dict.fromkeys((f"aclrtRecordEvent{kind}" for kind in ("", "WithFlag")), QUEUE),
    **dict.fromkeys((f"aclrtStreamWaitEvent{kind}" for kind in ("", "WithFlag")), QUEUE),
    **dict.fromkeys(("aclrtResetEvent", "aclrtRecordNotify", "aclrtLaunchKernel"), QUEUE),
    **dict.fromkeys(("aclmdlExecuteAsync", "aclmdlRIExecuteAsync"), QUEUE),
    "aclrtMemsetAsync": f"i_count <= {SHORT} && {QUEUE}",
    # A copy in another direction may have a pageable side: then it waits for the stream.
    "aclrtMemcpyAsync": f"i_kind == ACL_MEMCPY_DEVICE_TO_DEVICE && {QUEUE}",
}

# Blocking calls: the type of object that they wait for, the parameter with its handle, the parameter with the time-out.
WAITS = {
    "aclrtSynchronizeStream": ("STREAM", "stream", None),
    "aclrtSynchronizeStreamWithTimeout": ("STREAM", "stream", "timeout"),
    "aclrtSynchronizeEvent": ("EVENT", "event", None),
    "aclrtSynchronizeEventWithTimeout": ("EVENT", "event", "timeout"),
    "aclrtSynchronizeDevice": ("DEVICE", None, None),
    "aclrtSynchronizeDeviceWithTimeout": ("DEVICE", None, "timeout"),
    "aclrtProcessReport": ("REPORT", None, "timeout"),
}


def condition(function: Any) -> Optional[str]:
    """Return the C condition on which a call keeps the GIL with the simulator; None if it always releases it."""
    return ALWAYS if function.group in DESCRIPTIONS else QUICK.get(function.name)
