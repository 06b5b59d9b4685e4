"""Single operators that count, search, repeat and place elements, and those of distances and factors."""

import numpy
import pytest
from helpers.single import Single, kind_of, operands

import acl

RANDOM = numpy.random.default_rng(23)
X = RANDOM.normal(size=(3, 4)).astype("f4")
LINES = RANDOM.normal(size=(2, 3, 5)).astype("f4"), RANDOM.normal(size=(2, 3, 5)).astype("f4")
POINTS = RANDOM.normal(size=(4, 3)).astype("f4")
NUMBERS = numpy.array([4, 1, 4, 0, 1, 4], "i8")
SORTED = numpy.array([0, 1, 1, 3, 6], "f4")
TABLE = RANDOM.normal(size=(5, 2)).astype("f4")
MARKS = X > 0
SCORES = RANDOM.normal(size=(2, 4)).astype("f4")
TARGETS = numpy.array([[3, 0, -1, 1], [1, -1, 0, 2]], "i8")


@pytest.fixture
def single(npu):
    """Give operands of single operators."""
    made = Single(npu)
    yield made
    made.close()


def placed(x, mask, values):
    """Return x with elements replaced in the order of the values."""
    found = x.copy()
    found[mask] = values.ravel()[: mask.sum()]
    return found


def added(x, rows, values):
    """Return x with rows added to."""
    found = x.astype("f8")
    numpy.add.at(found, rows, values)
    return found


def factors(x, p, most):
    """Return the factors that limit the norms of rows."""
    norms = (numpy.abs(x.astype("f8")) ** p).sum(1, keepdims=True) ** (1 / p)
    return numpy.where(norms > most, most / (norms + 1e-7), 1)


def pairs(x):
    """Return the distances of all rows."""
    first, second = numpy.triu_indices(len(x), 1)
    return numpy.sqrt(((x[first] - x[second]) ** 2).sum(-1))


APART = numpy.abs(LINES[0] - LINES[1])

# Type, inputs (lists are constants), result, attributes.
CASES = {
    "RepeatInterleave": ([X, 3], numpy.repeat(X, 3, 1), {"axis": 1}),
    "RepeatInterleave each": ([X, numpy.array([2, 0, 3])], numpy.repeat(X, [2, 0, 3], 0), {"axis": -2}),
    "MaskedScatter": ([X, MARKS, -X], placed(X, MARKS, -X), {}),
    "ScatterNdAdd": (
        [X, numpy.array([[2], [0], [2]], "i4"), 2 * X], added(X, [2, 0, 2], 2 * X), {"use_locking": False}),
    "ScatterNdAdd elements": (
        [NUMBERS, numpy.array([[5], [5], [0]]), numpy.array([1, 2, 3])], NUMBERS + [3, 0, 0, 0, 0, 3], {}),
    "Renorm": ([X], factors(X, 2, 1), {"p": 2.0, "dim": 0, "maxnorm": 1.0}),
    "Renorm columns": ([X.T.copy()], factors(X, 3, 0.5).T, {"p": 3.0, "dim": -1, "maxnorm": 0.5}),
    "SearchSorted": ([SORTED, X], numpy.searchsorted(SORTED, X), {"dtype": 9, "right": False}),
    "SearchSorted right": (
        [SORTED, SORTED], numpy.searchsorted(SORTED, SORTED, "right").astype("i4"), {"dtype": 3, "right": True}),
    "Bincount": ([NUMBERS.astype("i4"), 6, numpy.ones(6, "i8")], numpy.bincount(NUMBERS, minlength=6), {}),
    "Bincount weights": (
        [NUMBERS.astype("i4"), 6, X.ravel()[:6]], numpy.bincount(NUMBERS, X.ravel()[:6], 6).astype("f4"), {}),
    "Histogram": ([X], numpy.histogram(X, 5, (-1, 2))[0].astype("f4"), {"bins": 5, "min": -1.0, "max": 2.0}),
    "LogSpaceD": ([X[0]], numpy.logspace(-1, 2, 4), {"start": -1.0, "end": 2.0, "steps": 4, "base": 10.0, "dtype": 1}),
    "Cdist": ([*LINES], numpy.sqrt((APART**2).sum(-1)), {"p": 2.0}),
    "Cdist differences": ([*LINES], (APART > 0).sum(-1).astype("f4"), {"p": 0.0}),
    "Cdist greatest": ([*LINES], APART.max(-1), {"p": -1.0}),
    "Pdist": ([POINTS], pairs(POINTS), {"p": 2.0}),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_values(name, single):
    inputs, result, values = CASES[name]
    given = [single.constant(one, "i4" if one == 6 else "i8") if isinstance(one, int) else single.give(one)
             for one in inputs]  # fmt: skip
    found = single.run(name.split()[0], given, result.shape, kind_of(result), **values)
    numpy.testing.assert_allclose(found, result, rtol=1e-5, atol=1e-6)


def test_different_numbers_have_places_and_counts(single):
    shapes, values = [(6,), (6,), (6,)], {"sorted": True, "return_inverse": True, "return_counts": True}
    outs = [single.take(shape, "i8") for shape in shapes]
    assert single.call("UniqueWithCountsAndSorting", [single.give(NUMBERS)], outs, **values) == 0
    expected = numpy.unique(NUMBERS, return_inverse=True, return_counts=True)
    for out, result in zip(outs, expected):
        assert acl.get_tensor_desc_dim_v2(out[0], 0)[0] == result.size
        assert numpy.array_equal(out[2]()[: result.size], result.ravel())


def test_runs_of_equal_numbers_are_joined(single):
    runs = numpy.array([3, 3, 1, 1, 1, 3], "i8")
    outs = [single.take((6,), "i8") for _ in range(3)]
    values = {"return_idx": True, "return_counts": True}
    assert single.call("UniqueConsecutive", [single.give(runs)], outs, **values) == 0, acl.get_recent_err_msg()
    for out, result in zip(outs, ([3, 1, 3], [0, 0, 1, 1, 1, 2], [2, 3, 1])):
        assert out[2]()[: len(result)].tolist() == result


@pytest.mark.parametrize(("mode", "function"), [("sum", numpy.sum), ("mean", numpy.mean), ("max", numpy.max)])
def test_bags_are_joined(mode, function, single):
    indices, offsets = numpy.array([4, 0, 2, 2, 1], "i4"), numpy.array([0, 2], "i4")
    given, values = operands(single, [TABLE, indices, offsets]), {"mode": mode, "padding_idx": -1}
    most = (2, 2) if mode == "max" else (2,)
    found = single.run_all("EmbeddingBag", given, [(2, 2), (5,), (2,), most], ["f4", "i4", "i4", "i4"], **values)
    expected = [function(TABLE[indices[:2]], 0), function(TABLE[indices[2:]], 0)]
    numpy.testing.assert_allclose(found[0], expected, rtol=1e-6)


def test_factors_give_the_matrix(single):
    q, r = single.run_all("Qr", [single.give(X.T.copy())], [(4, 3), (3, 3)], ["f4"] * 2, full_matrices=False)
    numpy.testing.assert_allclose(q @ r, X.T, rtol=1e-5, atol=1e-5)
    sizes = single.run_all("Svd", [single.give(X)], [(3,), (3, 3), (4, 3)], ["f4"] * 3, compute_uv=True,
                           full_matrices=False)  # fmt: skip
    numpy.testing.assert_allclose(sizes[0], numpy.linalg.svd(X, compute_uv=False), rtol=1e-5)


def test_a_loss_marks_its_targets(single):
    expected, marks = 0.0, numpy.zeros((2, 4), "i8")
    for row, wanted in enumerate(([3, 0], [1])):
        marks[row, wanted] = 1
        for place in wanted:
            missing = 1 - SCORES[row, place] + SCORES[row][marks[row] == 0] if row else None
            if row == 0:
                missing = 1 - SCORES[0, place] + SCORES[0, [1, 2]]
            expected += numpy.maximum(missing, 0).sum() / 4
    given = operands(single, [SCORES, TARGETS])
    loss, found = single.run_all("MultilabelMarginLoss", given, [(), (2, 4)], ["f4", "i8"], reduction="sum")
    numpy.testing.assert_allclose(loss, expected, rtol=1e-5)
    assert numpy.array_equal(found, marks)


def test_a_known_number_of_places(single):
    """A program that knows how many elements are not 0 may use the call that does not wait."""
    count = int(MARKS.sum())
    (desc, buffer), attr = single.give(MARKS), single.attr()

    def find(rows):
        out = single.take((rows, 2), "i8")
        return acl.op.execute("NonZero", [desc], [buffer], [out[0]], [out[1]], attr, single.npu.stream), out[2]

    ret, read = find(count)
    assert ret == 0 and numpy.array_equal(read(), numpy.argwhere(MARKS))
    for rows in (count - 1, count + 1):
        ret, _ = find(rows)
        assert ret == 0 and acl.rt.synchronize_stream(single.npu.stream) == 507015
        assert f"{count} elements of x are not 0, expected {rows}" in acl.get_recent_err_msg()


def test_too_few_updates_end_the_task(single):
    out = single.take(X.shape, "f4")
    assert single.call("MaskedScatter", operands(single, [X, MARKS, X.ravel()[:1].copy()]), [out]) == 0
    assert acl.rt.synchronize_stream(single.npu.stream) == 507015
    assert "source has 1 elements" in acl.get_recent_err_msg()
