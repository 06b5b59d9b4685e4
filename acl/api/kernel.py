"""Kernel binaries and launches with lists of options."""

from acl._lib import ffi, lib
from acl.api import values


def options_of(options, call, position):
    """Return ``(aclrtBinaryLoadOptions * or NULL, the array it points to)`` from a list of dicts."""
    array = values.fill_array("aclrtBinaryLoadOption", options, call, position)
    if not options:
        return ffi.NULL, array
    return ffi.new("aclrtBinaryLoadOptions *", {"options": array, "numOpt": len(options)}), array


def config(cfg, call, position):
    """Return ``(aclrtLaunchKernelCfg * or NULL, the array it points to)`` from a list of dicts."""
    array = values.fill_array("aclrtLaunchKernelAttr", cfg, call, position)
    if not cfg:
        return ffi.NULL, array
    return ffi.new("aclrtLaunchKernelCfg *", {"attrs": array, "numAttrs": len(cfg)}), array


def binary_load_from_file(path, options):
    """Return ``(binary, ret)``."""
    struct, array = options_of(options, "acl.rt.binary_load_from_file", 2)
    return values.out_pointer(lib.aclrtBinaryLoadFromFile, path.encode(), struct, None)


def binary_load_from_data(data, length, options):
    """Return ``(binary, ret)``."""
    struct, array = options_of(options, "acl.rt.binary_load_from_data", 3)
    return values.out_pointer(lib.aclrtBinaryLoadFromData, values.pointer(data), length, struct, None)


def get_function_name(function, length):
    """Return ``(name, ret)``."""
    if length >= values.KEY_LIMIT:
        raise ValueError(f"acl.rt.get_function_name() argument 2 must be below 1024, not {length}")
    return values.out_text(length, lib.aclrtGetFunctionName, values.pointer(function), length, None)


def register_cpu_func(binary, function, kernel):
    """Return ``(function handle, ret)``; neither name may be empty."""
    for position, name in ((2, function), (3, kernel)):
        if not name:
            raise ValueError(f"acl.rt.register_cpu_func() argument {position} must not be empty")
    return values.out_pointer(
        lib.aclrtRegisterCpuFunc, values.pointer(binary), function.encode(), kernel.encode(), None
    )


def launch_kernel_with_config(function, blocks, stream, cfg, arguments, reserve):
    """Launch with attributes."""
    struct, array = config(cfg, "acl.rt.launch_kernel_with_config", 4)
    return lib.aclrtLaunchKernelWithConfig(
        values.pointer(function),
        blocks & 0xFFFFFFFF,
        values.pointer(stream),
        struct,
        values.pointer(arguments),
        values.pointer(reserve),
    )


def launch_kernel_with_host_args(function, blocks, stream, cfg, arguments, size, holders, count):
    """Launch with arguments in host memory; place holders describe the addresses in them."""
    call = "acl.rt.launch_kernel_with_host_args"
    struct, array = config(cfg, call, 4)
    places = values.fill_array("aclrtPlaceHolderInfo", holders, call, 7)
    if count > len(holders):
        raise ValueError(f"{call}() argument 8 must be at most {len(holders)}, the length of argument 7, not {count}")
    return lib.aclrtLaunchKernelWithHostArgs(
        values.pointer(function),
        blocks & 0xFFFFFFFF,
        values.pointer(stream),
        struct,
        values.pointer(arguments),
        size,
        places if holders else ffi.NULL,
        count,
    )
