import pytest

import acl


def scratch(sizes):
    """Allocate as many of the buffers as there is memory for."""
    buffers = []
    try:
        for size in sizes:
            buffers.append(acl.Buffer(size))
    except acl.OutOfMemoryError:
        pass
    return buffers


@pytest.mark.acl_fault("malloc:3")
def test_without_memory_there_are_fewer_buffers(acl_device):
    buffers = scratch([64] * 5)
    assert len(buffers) == 2
    for buffer in buffers:
        buffer.close()


@pytest.mark.acl_fault("task:copy")
def test_the_error_of_a_task_comes_from_the_next_synchronisation(acl_stream):
    with acl.Buffer(64) as buffer:
        buffer.fill(0, stream=acl_stream)
        with pytest.raises(acl.TaskError):
            acl_stream.synchronize()


@pytest.mark.acl_every_fault
def test_nothing_is_left_behind(acl_device):
    with acl.Stream() as stream, acl.Buffer(64) as buffer:
        buffer.fill(0, stream=stream)
        stream.synchronize()
