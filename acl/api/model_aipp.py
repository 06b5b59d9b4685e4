"""Image preprocessing inside a model."""

from acl._lib import ffi, lib
from acl.api import values
from acl.api.model import dims_of

LEFT_OUT = {"matrixR0C2", "matrixR2C0", "matrixR2C1"}


def get_first_aipp_info(model_id, index):
    """Return ``(dict with the C field names, ret)``; None on failure."""
    slot = ffi.new("aclAippInfo *")
    ret = lib.aclmdlGetFirstAippInfo(model_id & 0xFFFFFFFF, index, slot)
    if ret != 0:
        return None, ret
    info = {}
    for name, field in ffi.typeof("aclAippInfo").fields:
        if name not in LEFT_OUT and name != "outDims":
            info[name] = values.value_of(field.type, getattr(slot, name))
    info["outDims"] = [
        {
            "srcDims": dims_of(shape.srcDims),
            "srcSize": shape.srcSize,
            "aippOutdims": dims_of(shape.aippOutdims),
            "aippOutSize": shape.aippOutSize,
        }
        for shape in slot.outDims[0 : min(slot.shapeCount, len(slot.outDims))]
    ]
    return info, ret
