"""Versions and attributes of the software."""

from acl._lib import ffi, lib
from acl.api import values


def get_version_str(package):
    """Return ``(version, ret)`` of a package."""
    return values.out_text(lib.ACL_PKG_VERSION_MAX_SIZE, lib.aclsysGetVersionStr, package.encode(), None)


def get_cann_version(package):
    """Return ``(dict of texts, ret)``."""
    return values.out_record("aclCANNPackageVersion", lib.aclsysGetCANNVersion, package, rename=values.snake)


def get_cann_attribute_list():
    """Return ``(attributes, count, ret)``."""
    found = ffi.new("const aclCannAttr **")
    count = ffi.new("size_t *")
    ret = lib.aclGetCannAttributeList(found, count)
    if ret != 0:
        return [], 0, ret
    return [int(found[0][place]) for place in range(count[0])], count[0], ret
