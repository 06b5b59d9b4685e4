"""Status codes under the names of the headers: ``codes.ACL_ERROR_RT_INVALID_HANDLE`` is 107017.

They are the constants of the compiled module; the build writes their names for type checkers. ``NAMES`` maps
codes to names.
"""

from acl._lib import lib

_declared = {name: int(getattr(lib, name)) for name in dir(lib) if name.startswith(("ACL_ERROR_", "ACLNN_ERR_"))}
NAMES = {code: name for name, code in _declared.items()}
globals().update(_declared)
