"""The objects: devices, streams, events, memory and what is built on them. They raise :class:`acl.errors.AclError`.

They use the library only through the pyACL builtins and ``acl._lib``. Each is available as ``acl.<Name>``, and loaded
at its first use: ``HOME`` maps its name to its module. Type checkers find the same names in ``acl/__init__.py``.
"""

_ERRORS = (
    "AbortedError", "AclError", "CaptureError", "ContextError", "InvalidArgumentError", "InvalidHandleError",
    "ModelError", "NotSupportedError", "OperatorError", "OutOfMemoryError", "ResourceError", "TaskError",
    "TimedOutError",
)  # fmt: skip

HOME = {
    **dict.fromkeys(_ERRORS, "acl.errors"),
    "Aipp": "acl.objects.model_aipp",
    "Binary": "acl.objects.kernel",
    "Buffer": "acl.objects.memory",
    "Communicator": "acl.objects.hccl",
    "Context": "acl.objects.context",
    "Device": "acl.objects.device",
    "DeviceArray": "acl.objects.array",
    "Event": "acl.objects.event",
    "Graph": "acl.objects.capture",
    "Kernel": "acl.objects.kernel",
    "MemoryPool": "acl.objects.pool",
    "Model": "acl.objects.model",
    "ModelRun": "acl.objects.model_run",
    "Stream": "acl.objects.stream",
    "capture": "acl.objects.capture",
    "capture_mode": "acl.objects.capture",
}
