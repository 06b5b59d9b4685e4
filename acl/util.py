"""Memory and thread helpers of pyACL."""

from acl.api.util import (
    bytes_to_ptr,
    numpy_contiguous_to_ptr,
    numpy_to_ptr,
    ptr_to_bytes,
    ptr_to_numpy,
    start_thread,
    stop_thread,
)
