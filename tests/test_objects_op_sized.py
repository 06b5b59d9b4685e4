"""Functions of acl.nn whose outputs have a size that is known only when the operator has run."""

import numpy
import pytest
from helpers.objects import fresh_stream, held, raises

import acl
from acl.objects import op_table

pytestmark = pytest.mark.usefixtures("opened")
stream = fresh_stream
nn = acl.nn
A = numpy.array([[0, 2, 0], [2, 0, 1]], "f4")
ROWS = numpy.array([[1, 2], [0, 9], [1, 2]], "i4")
LINE = numpy.array([1, 1, 2, 2, 1], "i4")
BOXES = numpy.array([[[0, 0, 4, 4], [0, 0, 4, 5], [9, 9, 5, 5]]], "f4")
SCORES = numpy.array([[[0.5, 0.75, 0.25]]], "f4")
NONE = numpy.zeros(0, "i8")


def put(array):
    return acl.DeviceArray.from_numpy(array)


def ints(*values):
    return numpy.array(values, "i8")


# One row per call: the operator, its arguments (NumPy arrays go to the device), what it returns.
RESULTS = (
    ("nonzero", (A,), [numpy.argwhere(A)]),
    ("nonzero", (A * 0,), [numpy.zeros((0, 2), "i8")]),
    ("nonzero", (A[:0],), [numpy.zeros((0, 2), "i8")]),
    ("nonzero_v2", (A,), [numpy.argwhere(A).T]),
    ("masked_select", (A, A > 0), [A[A > 0]]),
    ("masked_select", (A, A[:1] > 0), [A[:, [1]].reshape(-1)]),
    ("non_max_suppression", (BOXES, SCORES, 2, 0.5, 0.1, 0), [numpy.array([[0, 0, 1], [0, 0, 2]], "i4")]),
    ("unique", (A,), [numpy.unique(A), NONE]),
    ("unique2", (A,), [numpy.unique(A), NONE, NONE]),
    ("unique2", (A, True, True), [numpy.unique(A), ints([0, 2, 0], [2, 0, 1]), NONE]),
    ("unique2", (A, False, False, True), [numpy.unique(A), ints([0, 2, 0], [2, 0, 1]), ints(3, 1, 2)]),
    ("unique_dim", (ROWS, True, True, 0), [ROWS[1:], ints(1, 0, 1), ints(1, 2)]),
    ("unique_dim", (ROWS, True, False, -1), [ROWS, NONE, ints(1, 1)]),
    ("unique_consecutive", (LINE, True, True, 1000), [LINE[[0, 2, 4]], ints(0, 0, 1, 1, 2), ints(2, 2, 1)]),
    ("unique_consecutive", (ROWS, False, False, 0), [ROWS, NONE, NONE]),
)


def call(name, arguments, **options):
    """Return the results of an operator as a list of NumPy arrays."""
    given = [put(value) if isinstance(value, numpy.ndarray) else value for value in arguments]
    found = getattr(nn, name)(*given, **options)
    return [each.to_numpy() for each in (found if isinstance(found, tuple) else [found])]


def same(found, expected):
    assert [(each.shape, each.dtype, each.tolist()) for each in found] == [
        (each.shape, each.dtype, each.tolist()) for each in expected
    ]


@pytest.mark.parametrize("name, arguments, expected", RESULTS)
@pytest.mark.parametrize("queued", [False, True])
def test_results_have_their_size(stream, name, arguments, expected, queued):
    same(call(name, arguments, stream=stream if queued else None), expected)


def test_every_such_operator_has_a_result_here():
    assert {row[0] for row in RESULTS} == set(op_table.SIZED)


def test_the_same_array_again(stream):
    """Each call allocates the largest size again, whatever the last one found."""
    a = put(A)
    for values in (A, A + 1, A * 0, A):
        a.copy_from(values)
        for given in (None, stream):
            same([nn.nonzero(a, stream=given).to_numpy()], [numpy.argwhere(values)])


def test_with_out_it_does_not_wait(stream):
    a, out = put(A), acl.DeviceArray.zeros((6, 2), "i8")
    with held(stream) as latch:
        assert nn.nonzero(a, out=out, stream=stream) is out
        assert out.shape == (6, 2) and not stream.query()
        latch.release()
        stream.synchronize()
    assert out.to_numpy()[:3].tolist() == numpy.argwhere(A).tolist()


def test_other_work_does_not_change_the_size(stream):
    """A call with ``out=`` of the same signature that runs meanwhile has a descriptor of its own."""
    a, out = put(A), acl.DeviceArray((6, 2), "i8")
    for _ in range(2):
        with held(stream) as latch:
            nn.nonzero(a, out=out, stream=stream)
            same([nn.nonzero(put(A + 1)).to_numpy()], [numpy.argwhere(A + 1)])
            latch.release()
            stream.synchronize()


def test_a_capture_asks_for_out(stream):
    a = put(A)
    with acl.capture(stream) as graph:
        for function, many in ((nn.nonzero, "an array"), (nn.unique2, "a tuple of arrays")):
            with raises(acl.InvalidArgumentError, "while the stream is being captured", f"pass {many}: out=acl."):
                function(a, stream=stream)
    graph.close()


def test_a_captured_call_with_out_runs_at_each_replay(stream):
    a, out = put(A), acl.DeviceArray.zeros((6, 2), "i8")
    with acl.capture(stream) as graph:
        nn.nonzero(a, out=out, stream=stream)
    with graph:
        for values in (A, 1 - A):
            a.copy_from(values)
            graph.replay(stream)
            stream.synchronize()
            places = numpy.argwhere(values)
            assert out.to_numpy()[: len(places)].tolist() == places.tolist()


def test_the_functions_say_so():
    for name in op_table.SIZED:
        text = getattr(nn, name).__doc__
        assert "only when the operator has run" in text and "acl.get_view_shape(tensor)" in text
    assert "only when the operator has run" not in nn.add.__doc__
