"""Reductions, cumulative forms, softmax, sorting and searching against PyTorch."""

import math

import pytest
import torch
from helpers.torch_peer import FLOATS, INTEGERS, REAL, SINGLE, documented, each, pointwise, same, summed

pytestmark = [pytest.mark.torch, pytest.mark.needs_sim]
F = torch.nn.functional
aten = torch.ops.aten


def some_dims(source, rank):
    """Return random dimensions, some of them counted from the end."""
    count = source.random.randint(1, rank) if rank else 0
    dims = source.random.sample(range(rank), count)
    return [dim - source.one(0, rank) for dim in dims]


def a_dim(source, rank):
    return source.random.randrange(-rank, rank) if rank else source.one(0, -1)


def quiet(source, x):
    """Return the operand of a sum: mostly without NaN and infinities, which would hide all other terms."""
    return source.view(x.nan_to_num(0, 1, -1).clamp(-9, 9), repeats=True) if source.one(True, True, False) else x


# By the operator: the function of the operand in double precision, the dimensions and keepdim; the types; the
# arguments between keepdim and the output, "dtype" for the type of the output.
SUMS = {
    "reduce_sum": (lambda x, d, k: x.sum(d, k), REAL, ("dtype",)),
    "reduce_nansum": (lambda x, d, k: x.nansum(d, k), SINGLE, ("dtype",)),
    "mean": (lambda x, d, k: x.mean(d, k), SINGLE, ("dtype",)),
    "mean_v2": (lambda x, d, k: x.mean(d, k), SINGLE, (False,)),
    "log_sum_exp": (lambda x, d, k: x.logsumexp(d, k), SINGLE, ()),
    "reduce_log_sum": (lambda x, d, k: x.sum(d, k).log(), "f4 f2", (False,)),
}


@pytest.mark.parametrize("name", SUMS)
def test_sums(peer, name):
    function, kinds, further = SUMS[name]
    for kind, source in each(kinds, name):
        with documented(kind):
            shape = source.shape(least=1, empty=name in ("reduce_sum", "reduce_nansum"))
            dims, keep = some_dims(source, len(shape)), source.one(True, False)
            x = quiet(source, source.take(shape, kind, **({"low": 0.1, "high": 3.0} if "log_sum" in name else {})))
            if name == "reduce_log_sum":
                x = source.view(x.abs(), repeats=True)
            floats = x.is_floating_point()
            expected = function(x.double() if floats else x, dims, keep)
            out_kind = x.dtype if floats else expected.dtype
            out = source.like(expected, out_kind)
            found = peer.run(name, x, dims, keep, *(out_kind if f == "dtype" else f for f in further), out)
            size = x.double().abs().nan_to_num(0, 0, 0).sum(dims, keep)
            overflow = expected.to(found.dtype).isinf() if floats else None
            if floats and overflow.any():  # a sum in the other order overflows elsewhere
                found = found.where(~overflow, expected.to(found.dtype))
            summed(found, expected, size if name != "log_sum_exp" else size + 1, (name, kind, dims, keep))


# By the operator: the function of the operand, the dimensions and keepdim; the types; further arguments.
EXACT = {
    "all": (lambda x, d, k: x.bool().all(d[0], k), REAL),
    "any": (lambda x, d, k: x.bool().any(d[0], k), REAL),
    "amax": (lambda x, d, k: x.amax(d, k), REAL),
    "amin": (lambda x, d, k: x.amin(d, k), REAL),
}


@pytest.mark.parametrize("name", EXACT)
def test_exact_reductions(peer, name):
    function, kinds = EXACT[name]
    for kind, source in each(kinds, name):
        with documented(kind):
            shape = source.shape(least=1, empty=False)
            dims, keep = some_dims(source, len(shape)), source.one(True, False)
            dims = dims[:1] if name in ("all", "any") else dims
            x = source.take(shape, kind)
            expected = function(x, dims, keep)
            same(peer.run(name, x, dims, keep, source.like(expected)), expected, (name, kind, dims))


def test_reductions_of_all(peer):
    for name, function in {
        "max": torch.max, "min": torch.min, "median": torch.median, "nan_median": torch.nanmedian,
    }.items():  # fmt: skip
        for kind, source in each(f"{INTEGERS} {FLOATS}", name):
            with documented(kind):
                x = source.take(source.shape(empty=False), kind)
                expected = function(x)
                same(peer.run(name, x, source.like(expected)), expected, (name, kind))
    for kind, source in each(f"{INTEGERS} {FLOATS}", "aminmax"):
        with documented(kind):
            x = source.take(source.shape(empty=False), kind)
            low, high = source.like(x.amin()), source.like(x.amin())
            peer.run("aminmax_all", x, low, high)
            same(low, x.amin(), kind)
            same(high, x.amax(), kind)


def test_extremes_with_indices(peer):
    for name, function in {
        "max_dim": torch.max, "min_dim": torch.min, "median_dim": torch.median, "nan_median_dim": torch.nanmedian,
        "cummax": torch.cummax, "cummin": torch.cummin,
    }.items():  # fmt: skip
        for kind, source in each(f"{INTEGERS} {FLOATS}", name):
            with documented(kind):
                x = source.take(source.shape(empty=False), kind)
                dim, keep = a_dim(source, x.dim()), source.one(True, False)
                further = (dim,) if name.startswith("cum") else (dim, keep)
                # PyTorch's median of a dimension with stride 0 writes to its operand.
                expected, places = function(x.contiguous(), *further)
                values, indices = source.like(expected), source.like(places)
                peer.run(name, x, *further, values, indices)
                same(values, expected, (name, kind, dim))
                if "median" in name:  # of equal elements, any may be the one
                    picked = x.gather(dim, indices if keep or not x.dim() else indices.unsqueeze(dim))
                    same(picked.reshape(expected.shape), expected, (name, kind, dim))
                else:
                    same(indices, places, (name, kind, dim))


def test_arg_extremes(peer):
    for name, function in {"arg_max": torch.argmax, "arg_min": torch.argmin}.items():
        for kind, source in each(f"{INTEGERS} {FLOATS}", name):
            with documented(kind):
                x = source.take(source.shape(empty=False), kind)
                dim, keep = a_dim(source, x.dim()), source.one(True, False)
                expected = function(x, dim, keep)
                same(peer.run(name, x, dim, keep, source.like(expected)), expected, (name, kind, dim))


@pytest.mark.parametrize("name", ["var", "var_correction", "std", "var_mean", "std_mean_correction"])
def test_variances(peer, name):
    for kind, source in each(SINGLE, name, rounds=30):
        shape = source.shape(least=1, empty=False)
        dims, keep = some_dims(source, len(shape)), source.one(True, False)
        correction = source.one(1, 0, 1, 2) if name != "var" else source.one(0, 1)
        x = source.take(shape, kind, wild=False)
        if source.one(True, False):
            x = source.view(x + 100)
        functions = [torch.std if "std" in name else torch.var] + [torch.mean] * name.count("mean")
        outs, expected = [], []
        for function in functions:
            more = {"correction": correction} if function is not torch.mean else {}
            expected.append(function(x.double(), dim=dims, keepdim=keep, **more))
            outs.append(source.like(expected[-1], kind))
        order = (dims, bool(correction), keep) if name == "var" else (dims, correction, keep)
        peer.run(name, x, *order, *outs)
        for place, (found, wanted) in enumerate(zip(outs, expected)):
            size = x.double().abs().mean().item() if place else None
            summed(found, wanted, size, (name, kind, dims, keep, correction))


@pytest.mark.parametrize("name", ["linalg_vector_norm", "norm"])
def test_norms(peer, name):
    for kind, source in each(SINGLE, name, rounds=30):
        shape = source.shape(least=1, empty=False)
        dims, keep = some_dims(source, len(shape)), source.one(True, False)
        order = source.one(2.0, 1.0, 0.0, math.inf, -math.inf, 3.0, 0.5, -1.0)
        x = quiet(source, source.take(shape, kind))
        expected = torch.linalg.vector_norm(x.double(), order, dims, keep)
        further = (x.dtype,) if name == "linalg_vector_norm" else ()
        found = peer.run(name, x, order, dims, keep, *further, source.like(expected, kind))
        single = torch.linalg.vector_norm(x.float(), order, dims, keep).to(x.dtype)
        part = 8 * torch.finfo(x.dtype).eps
        agree = (found.double() - expected.to(x.dtype).double()).abs() <= part * expected.abs()
        agree |= (found == single) | (found.isnan() & single.isnan()) | (found == expected.to(x.dtype))
        assert agree.all(), (kind, order, found[~agree], single[~agree], expected[~agree])


def test_products_of_elements(peer):
    for kind, source in each(f"{INTEGERS} {FLOATS}", "prod"):
        with documented(kind):
            x = source.take(source.shape(), kind, low=-2, high=2, wild=source.one(True, False))
            floats = x.is_floating_point()
            for whole in (True, False):
                dim, keep = a_dim(source, x.dim()), source.one(True, False)
                more = () if whole else (dim, keep)
                expected = torch.prod(x.double() if floats else x, *more)
                out_kind = x.dtype if floats else expected.dtype
                found = peer.run("prod" if whole else "prod_dim", x, *more, out_kind, source.like(expected, out_kind))
                finite = expected.to(found.dtype).double() if floats else expected
                single = torch.prod(x.float(), *more).to(found.dtype) if floats else finite
                if floats:
                    odd = single.isfinite() != finite.isfinite()
                    found = found.where(~odd, finite.to(found.dtype))
                    count = 4 + x.numel()
                    pointwise(found, finite, (kind, more), steps=count if kind in ("f4", "f8") else 4)
                else:
                    same(found, finite, (kind, more))


@pytest.mark.parametrize("name", ["cumsum", "cumprod"])
def test_cumulative(peer, name):
    function = getattr(torch, name)
    for kind, source in each(f"{INTEGERS} {FLOATS}", name):
        with documented(kind):
            x = quiet(source, source.take(source.shape(), kind, low=-2, high=2))
            dim, floats = a_dim(source, x.dim()), x.is_floating_point()
            expected = function(x.double() if floats else x, dim)
            out_kind = x.dtype if floats else expected.dtype
            found = peer.run(name, x, dim, out_kind, source.like(expected, out_kind))
            absolute = function(x.double().abs().nan_to_num(0, 0, 0), dim)
            overflow = (expected.to(found.dtype).isfinite() != found.isfinite()) & (absolute > 1e30)
            found = found.where(~overflow, expected.to(found.dtype))
            summed(found, expected, absolute.clamp(min=0), (name, kind, dim))


def test_cumsum_v2(peer):
    for kind, source in each("f4 i4", "cumsum_v2"):
        x = source.take(source.shape(least=1, empty=False), kind, wild=False)
        dim, exclusive, reverse = a_dim(source, x.dim()), source.one(True, False), source.one(True, False)
        turned = x.double().flip(dim) if reverse else x.double()
        expected = turned.cumsum(dim) - (turned if exclusive else 0)
        expected = expected.flip(dim) if reverse else expected
        found = peer.run("cumsum_v2", x, dim, exclusive, reverse, source.like(x))
        summed(found, expected.to(x.dtype) if kind == "i4" else expected, x.double().abs().sum(), kind)


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_softmax(peer, name):
    function = getattr(F, name)
    for kind, source in each(FLOATS, name):
        with documented(kind):
            x = source.take(source.shape(empty=True), kind, wild=source.one(True, False))
            dim = a_dim(source, x.dim())
            expected = function(x.double(), dim)
            found = peer.run(name, x, dim, source.like(x))
            nan = expected.isnan()
            same(found.isnan(), nan, (name, kind))
            summed(found.where(~nan, 0), expected.where(~nan, 0), expected.where(~nan, 0).abs() + 1e-3, (name, kind))
            g = source.take(x.shape, kind, wild=False)
            y = source.view(function(source.values(x.shape, kind, wild=False).double(), dim).to(x.dtype))
            backward = aten._softmax_backward_data if name == "softmax" else aten._log_softmax_backward_data
            expected = backward(g.double(), y.double(), dim, torch.float64)
            size = (g.double().abs() * (y.double().abs() if name == "softmax" else 1)).sum(dim, True) + g.abs()
            summed(peer.run(f"{name}_backward", g, y, dim, source.like(x)), expected, size, (name, kind))


def test_sort(peer):
    for kind, source in each(f"? {INTEGERS} {SINGLE}", "sort"):
        with documented(kind):
            x = source.take(source.shape(), kind)
            dim, descending = a_dim(source, x.dim()), source.one(True, False)
            expected, places = torch.sort(x, dim=dim, descending=descending, stable=True)
            values, indices = source.like(expected), source.like(places)
            peer.run("sort", x, True, dim, descending, values, indices)
            same(values, expected, (kind, dim, descending))
            same(indices, places, (kind, dim, descending))
            found = peer.run("argsort", x, dim, descending, source.like(places))
            same(found, places, (kind, dim, descending))


def test_topk(peer):
    for kind, source in each(f"{INTEGERS} {FLOATS}", "topk"):
        with documented(kind):
            x = source.take(source.shape(empty=False), kind)
            dim, largest = a_dim(source, x.dim()), source.one(True, False)
            k = source.random.randint(0, x.shape[dim] if x.dim() else 1)
            expected, _ = torch.topk(x, k, dim, largest, True)
            values, indices = source.like(expected), source.blank(expected.shape, "i8")
            peer.run("topk", x, k, dim, largest, True, values, indices)
            same(values, expected, (kind, k, dim, largest))
            same(x.gather(dim, indices), expected, (kind, "indices"))


def test_kthvalue(peer):
    for kind, source in each(f"{INTEGERS} {FLOATS}", "kthvalue"):
        with documented(kind):
            x = source.take(source.shape(empty=False), kind)
            dim, keep = a_dim(source, x.dim()), source.one(True, False)
            k = source.random.randint(1, x.shape[dim] if x.dim() else 1)
            expected, places = torch.kthvalue(x.contiguous(), k, dim, keep)
            values, indices = source.like(expected), source.like(places)
            peer.run("kthvalue", x, k, dim, keep, values, indices)
            same(values, expected, (kind, k, dim))
            picked = x.gather(dim, indices if keep or not x.dim() else indices.unsqueeze(dim))
            same(picked.reshape(expected.shape), expected, (kind, "indices"))


def test_search_sorted(peer):
    for kind, source in each(f"i4 i8 {SINGLE}", "search_sorted"):
        with documented(kind):
            shape = source.shape(least=1, most=3, empty=False)
            edges = source.view(source.values(shape, kind, wild=False).sort(-1).values)
            x = source.take([*shape[:-1], source.random.randint(1, 5)], kind, wild=False)
            right, narrow = source.one(True, False), source.one(True, False)
            expected = torch.searchsorted(edges, x, out_int32=narrow, right=right)
            same(peer.run("search_sorted", edges, x, narrow, right, None, source.like(expected)), expected, kind)


def test_histc(peer):
    for kind, source in each("f4", "histc", rounds=30):
        x = source.take(source.shape(empty=False), kind, wild=False)
        bins, (low, high) = source.random.randint(1, 12), source.one((0.0, 0.0), (-2.0, 3.0))
        expected = torch.histc(x, bins, low, high)
        same(peer.run("histc", x, bins, low, high, source.like(expected)), expected, (kind, bins, low, high))


def test_bincount(peer):
    for kind, source in each("u1 i1 i2 i4 i8", "bincount"):
        x = source.take([source.random.randint(1, 60)], kind, low=0, high=20)
        least = source.random.randint(0, 30)
        expected = torch.bincount(x, minlength=least)
        same(peer.run("bincount", x, None, least, source.like(expected)), expected, kind)
        weights = source.take(x.shape, "f4", wild=False)
        expected = torch.bincount(x, weights.double(), least)
        summed(peer.run("bincount", x, weights, least, source.blank(expected.shape, "f4")), expected, 100, kind)


def test_renorm(peer):
    for kind, source in each(SINGLE, "renorm"):
        x = source.take(source.shape(least=2, empty=False), kind, wild=False)
        p, dim, most = source.one(1.0, 2.0, 3.0), source.random.randrange(x.dim()), source.one(0.5, 3.0)
        expected = torch.renorm(x.double(), p, dim, most)
        found = peer.run("renorm", x, p, dim, most, source.like(x))
        summed(found, expected, x.double().abs().clamp(max=most) + 1e-3, (kind, p, dim, most))


def test_trace_and_triangles(peer):
    for kind, source in each(f"? {INTEGERS} {FLOATS}", "triangles"):
        with documented(kind):
            x = source.take(source.shape(least=2), kind)
            diagonal = source.random.randint(-3, 3)
            for name in ("tril", "triu"):
                expected = getattr(torch, name)(x, diagonal)
                same(peer.run(name, x, diagonal, source.like(x)), expected, (name, kind, diagonal))
            matrix = source.take([source.random.randint(1, 5), source.random.randint(1, 5)], kind, wild=False)
            expected = torch.trace(matrix.double() if matrix.is_floating_point() else matrix)
            out = source.like(expected, matrix.dtype if matrix.is_floating_point() else expected.dtype)
            summed(peer.run("trace", matrix, out), expected, 20.0, ("trace", kind))
