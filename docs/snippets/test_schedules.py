import pytest

import acl


@pytest.mark.acl_schedule("lazy", "random", seeds=20)
def test_set(acl_stream):
    block, ret = acl.rt.malloc(4, 0)
    host, ret = acl.rt.malloc_host(4)
    acl.rt.memset_async(block, 4, 7, 4, acl_stream.handle)
    acl.rt.memcpy_async(host, 4, block, 4, 2, acl_stream.handle)
    acl_stream.synchronize()  # without it, the test fails under lazy
    assert acl.util.ptr_to_bytes(host, 4) == b"\7\7\7\7"
    acl.rt.free(block)
    acl.rt.free_host(host)
