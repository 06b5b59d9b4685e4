"""The shapes and types of the outputs of operators, where these follow from the arguments.

A rule takes the arguments by name and the arrays among them, and returns a :class:`Spec` for each required output, or a
list of these where the output is a list. The type rules are the documented ones, not NumPy's: the common type of int32
and float32 arrays is float32, and a number never widens an array of its own kind. Arguments that contradict the
rule raise :class:`Refused`; all other checks are left to the library, which checks each call.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Union

import numpy

Arguments = Mapping[str, Any]
BOOL, LONG, FLOAT, DOUBLE = (numpy.dtype(name) for name in ("?", "i8", "f4", "f8"))
ORDER = {"b": 0, "i": 1, "u": 1, "f": 2, "V": 2, "c": 3}  # the wider kind has the higher number; bfloat16 has kind V
SOLE = ("u2", "u4", "u8")  # types that have no common type with any other


class Refused(ValueError):
    """Raised for arguments that an operator cannot take; has the reason and the advice."""

    def __init__(self, reason: str, advice: str = "") -> None:
        super().__init__(reason)
        self.reason, self.advice = reason, advice


class Spec(NamedTuple):
    """The shape and type of an output to be allocated."""

    shape: tuple[int, ...]
    dtype: Any


Specs = list[Union[Spec, list[Spec]]]
Rule = Callable[[Arguments, "list[Any]"], Specs]


# --- Types


def meet(one: Any, other: Any) -> Any:
    """Return the common type of the elements of two arrays."""
    if one == other:
        return one
    low, high = sorted((one, other), key=lambda kind: ORDER[kind.kind])
    ranks = ORDER[low.kind], ORDER[high.kind]
    if any(kind.str[1:] in SOLE for kind in (one, other)):
        raise Refused(f"{one} and {other} have no common type", "convert one of them: acl.nn.cast(array, dtype)")
    if ranks[0] == ranks[1]:
        if ranks[0] == 1 and low.kind != high.kind and low.itemsize == high.itemsize:
            return numpy.dtype("i2")  # of int8 and uint8
        if ranks[0] == 1 and low.kind != high.kind:
            return low if low.kind == "i" else high  # the signed one is wider
        if low.itemsize == high.itemsize:
            return FLOAT  # of float16 and bfloat16
        return low if low.itemsize > high.itemsize else high
    if ranks[1] == 3 and low == DOUBLE:
        return numpy.dtype("c16")
    return high


def type_of_number(value: Any) -> Any:
    """Return the type with which a number is passed to operators."""
    if isinstance(value, numpy.generic):
        return value.dtype
    kinds = {bool: "?", int: "i8", float: "f8", complex: "c16"}
    return numpy.dtype(kinds.get(type(value), "f8"))


def meet_number(kind: Any, value: Any) -> Any:
    """Return the common type of an array's elements and a number."""
    number = type_of_number(value)
    if ORDER[number.kind] <= ORDER[kind.kind]:
        return kind
    if number.kind == "c":
        return numpy.dtype("c16" if kind == DOUBLE else "c8")
    return FLOAT if ORDER[number.kind] == 2 else number


def floating(kind: Any) -> Any:
    """Return the type of fractional results: float32 for integers and bool, otherwise the type itself."""
    return FLOAT if ORDER[kind.kind] < 2 else kind


def met(arrays: Sequence[Any]) -> Any:
    """Return the common type of arrays."""
    kind = arrays[0].dtype
    for array in arrays[1:]:
        kind = meet(kind, array.dtype)
    return kind


def asked(a: Arguments, usual: Any) -> Any:
    """Return the type that ``dtype=`` names."""
    wanted = a.get("dtype")
    return usual if wanted is None else wanted


# --- Shapes


def stretch(arrays: Sequence[Any]) -> tuple[int, ...]:
    """Return the shape to which arrays are broadcast."""
    try:
        return numpy.broadcast_shapes(*(array.shape for array in arrays))
    except ValueError:
        shapes = " and ".join(str(array.shape) for array in arrays)
        raise Refused(f"{shapes} cannot be broadcast together", "reshape them, or use dimensions of 1") from None


def axis_of(value: Any, rank: int, name: str = "dim") -> int:
    """Return the index of a dimension, which may be counted from the end."""
    most = max(rank, 1)
    if not isinstance(value, (int, numpy.integer)) or not -most <= value < most:
        raise Refused(f"{name} is {value!r}, expected {-most} to {most - 1}")
    return int(value) % most


def _dims(a: Arguments) -> Any:
    """Return the value of the parameter that names dimensions, under any of its names."""
    return next((a[name] for name in ("dim", "dims", "axes") if name in a), None)


def reduced(a: Arguments, array: Any) -> tuple[int, ...]:
    """Return the shape after a reduction over the dimensions that are given, or over all."""
    given = _dims(a)
    given = () if given is None else given if isinstance(given, (list, tuple)) else (given,)
    rank = len(array.shape)
    gone = {axis_of(value, rank) for value in given}
    if not gone and not a.get("noop_with_empty_dims") and not a.get("noop_with_empty_axes"):
        gone = set(range(rank))
    keeps = any(a.get(name) for name in ("keep_dim", "keep_dims", "keepdim"))
    return tuple(1 if place in gone else size for place, size in enumerate(array.shape) if keeps or place not in gone)


# --- Rules: `kind` returns the type of an output for the type of an input


def _pointwise(kind: Callable[[Any], Any]) -> Rule:
    """Return a rule for one output with the shape of the first array."""
    return lambda a, arrays: [Spec(arrays[0].shape, kind(arrays[0].dtype))]


def _together(kind: Callable[[Any], Any]) -> Rule:
    """Return a rule for one output with the shape to which all arrays are broadcast."""
    return lambda a, arrays: [Spec(stretch(arrays), kind(met(arrays)))]


def _with_number(kind: Callable[[Any], Any], number: str) -> Rule:
    """Return a rule for an array and a number, the argument called ``number``."""

    def rule(a: Arguments, arrays: list[Any]) -> Specs:
        return [Spec(arrays[0].shape, kind(meet_number(arrays[0].dtype, a[number])))]

    return rule


def _reduction(kind: Callable[[Any], Any], count: int = 1) -> Rule:
    """Return a rule for ``count`` outputs of the reduced shape."""

    def rule(a: Arguments, arrays: list[Any]) -> Specs:
        return [Spec(reduced(a, arrays[0]), asked(a, kind(arrays[0].dtype)))] * count

    return rule


def _extreme(a: Arguments, arrays: list[Any]) -> Specs:
    """Infer the values and the indices that a minimum, maximum or median along a dimension returns."""
    shape = reduced(a, arrays[0])
    return [Spec(shape, arrays[0].dtype), Spec(shape, LONG)]


def _along(*kinds: Any) -> Rule:
    """Return a rule for outputs of these types (None: the array's own) with the shape of the first array."""

    def rule(a: Arguments, arrays: list[Any]) -> Specs:
        axis_of(a["dim"], len(arrays[0].shape))
        return [Spec(arrays[0].shape, arrays[0].dtype if kind is None else kind) for kind in kinds]

    return rule


def _topk(a: Arguments, arrays: list[Any]) -> Specs:
    axis, shape = axis_of(a["dim"], len(arrays[0].shape)), list(arrays[0].shape)
    if shape:
        shape[axis] = a["k"]
    return [Spec(tuple(shape), arrays[0].dtype), Spec(tuple(shape), LONG)]


def _matmul(a: Arguments, arrays: list[Any]) -> Specs:
    one, other = arrays[:2]
    if not one.shape or not other.shape:
        raise Refused(f"{one.shape} and {other.shape} cannot be multiplied", "use arrays of 1 dimension or more")
    left, right = one.shape, other.shape
    inner = right[-2] if len(right) > 1 else right[0]
    if left[-1] != inner:
        raise Refused(f"the last dimension of {left} is {left[-1]}, the matching one of {right} is {inner}")
    try:
        batch = numpy.broadcast_shapes(left[:-2], right[:-2])
    except ValueError:
        raise Refused(
            f"{left[:-2]} and {right[:-2]}, the dimensions before the matrices, cannot be broadcast together"
        ) from None
    shape = (*batch, *left[-2:-1], *(right[-1:] if len(right) > 1 else ()))
    return [Spec(shape, meet(one.dtype, other.dtype))]


def _added_product(a: Arguments, arrays: list[Any]) -> Specs:
    product = _matmul(a, arrays[1:3])[0]
    assert isinstance(product, Spec)
    return [Spec(product.shape, meet(arrays[0].dtype, product.dtype))]


def _cast(a: Arguments, arrays: list[Any]) -> Specs:
    if a["dtype"] is None:
        raise Refused("dtype is None", "pass a type, dtype='f2', or out=")
    return [Spec(arrays[0].shape, a["dtype"])]


def _permute(a: Arguments, arrays: list[Any]) -> Specs:
    shape = arrays[0].shape
    dims = [axis_of(value, len(shape), "dims") for value in a["dims"] or ()]
    if sorted(dims) != list(range(len(shape))):
        raise Refused(f"dims is {a['dims']!r}, expected each dimension of {shape} once")
    return [Spec(tuple(shape[place] for place in dims), arrays[0].dtype)]


def _cat(a: Arguments, arrays: list[Any]) -> Specs:
    if not arrays:
        raise Refused("tensors is empty, expected one array or more")
    first = arrays[0].shape
    axis = axis_of(a["dim"], len(first))
    for array in arrays:
        if len(array.shape) != len(first) or any(
            size != want for place, (size, want) in enumerate(zip(array.shape, first)) if place != axis
        ):
            raise Refused(f"{first} and {array.shape} differ in more than dimension {axis}")
    total = sum(array.shape[axis] for array in arrays) if first else len(arrays)
    return [Spec((*first[:axis], total, *first[axis + 1 :]), met(arrays))]


def _stack(a: Arguments, arrays: list[Any]) -> Specs:
    if not arrays:
        raise Refused("tensors is empty, expected one array or more")
    first = arrays[0].shape
    axis = axis_of(a["dim"], len(first) + 1)
    for array in arrays:
        if array.shape != first:
            raise Refused(f"{first} and {array.shape} differ", "stack arrays of one shape")
    return [Spec((*first[:axis], len(arrays), *first[axis:]), met(arrays))]


def _repeat(a: Arguments, arrays: list[Any]) -> Specs:
    shape, times = arrays[0].shape, tuple(a["repeats"])
    if len(times) < len(shape):
        raise Refused(f"repeats has {len(times)} numbers, expected {len(shape)} or more, as many as {shape}")
    padded = (1,) * (len(times) - len(shape)) + shape
    return [Spec(tuple(size * count for size, count in zip(padded, times)), arrays[0].dtype)]


def _expand(a: Arguments, arrays: list[Any]) -> Specs:
    size = a["size"]
    shape = arrays[0].shape
    padded = (1,) * (len(size) - len(shape)) + shape
    return [Spec(tuple(old if new == -1 else new for new, old in zip(size, padded)), arrays[0].dtype)]


def _flatten(a: Arguments, arrays: list[Any]) -> Specs:
    shape = arrays[0].shape
    axis = axis_of(a["axis"], len(shape) + 1, "axis")
    return [Spec((math.prod(shape[:axis]), math.prod(shape[axis:])), arrays[0].dtype)]


def _slice(a: Arguments, arrays: list[Any]) -> Specs:
    shape = list(arrays[0].shape)
    axis = axis_of(a["dim"], len(shape))
    shape[axis] = len(range(*slice(a["start"], a["end"], a["step"]).indices(shape[axis])))
    return [Spec(tuple(shape), arrays[0].dtype)]


def _slices(a: Arguments, arrays: list[Any]) -> Specs:
    shape = list(arrays[0].shape)
    for axis, start, end, step in zip(a["axes"] or (), a["starts"], a["ends"], a["steps"]):
        place = axis_of(axis, len(shape), "axes")
        shape[place] = len(range(*slice(start, end, step).indices(shape[place])))
    return [Spec(tuple(shape), arrays[0].dtype)]


def _pick(a: Arguments, arrays: list[Any]) -> Specs:
    """Infer a gather: the shape of the indices takes the place of a dimension."""
    shape, index = arrays[0].shape, arrays[1].shape
    axis = axis_of(a["dim"], len(shape))
    return [Spec((*shape[:axis], *index, *shape[axis + 1 :]), arrays[0].dtype)]


def _pick_line(a: Arguments, arrays: list[Any]) -> Specs:
    """Infer a selection along a dimension, which becomes as long as the indices."""
    shape = list(arrays[0].shape)
    shape[axis_of(a["dim"], len(shape))] = math.prod(arrays[1].shape)
    return [Spec(tuple(shape), arrays[0].dtype)]


def _at_index(a: Arguments, arrays: list[Any]) -> Specs:
    """Infer an output with the shape of the indices."""
    return [Spec(arrays[1].shape, arrays[0].dtype)]


def _parts(a: Arguments, arrays: list[Any]) -> Specs:
    """Infer the parts at positions in the first dimensions; the last dimension of the indices holds a position."""
    shape, index = arrays[0].shape, arrays[1].shape
    if not index or index[-1] > len(shape):
        raise Refused(f"{index} is not a shape of positions in {shape}", "use fewer indices per position")
    return [Spec((*index[:-1], *shape[index[-1] :]), arrays[0].dtype)]


def _searched(a: Arguments, arrays: list[Any]) -> Specs:
    """Infer indices into a sorted array, one per value."""
    return [Spec(arrays[1].shape, numpy.dtype("i4") if a["out_int32"] else LONG)]


def _embedding(a: Arguments, arrays: list[Any]) -> Specs:
    return [Spec((*arrays[1].shape, *arrays[0].shape[1:]), arrays[0].dtype)]


def _where(a: Arguments, arrays: list[Any]) -> Specs:
    return [Spec(stretch(arrays), meet(arrays[1].dtype, arrays[2].dtype))]


def _power_of_number(a: Arguments, arrays: list[Any]) -> Specs:
    return [Spec(arrays[0].shape, meet_number(arrays[0].dtype, a["self"]))]


def _range(with_end: bool) -> Rule:
    """Return the rule of a range that includes its end, or of one that does not."""

    def rule(a: Arguments, arrays: list[Any]) -> Specs:
        numbers = [a[name] for name in ("start", "end", "step")]
        start, end, step = numbers
        if step == 0:
            raise Refused("step is 0, expected another number")
        whole = all(type_of_number(number).kind in "iub" for number in numbers)
        steps = (end - start) / step
        length = math.floor(steps) + 1 if with_end else math.ceil(steps)
        return [Spec((max(0, length),), LONG if whole else FLOAT)]

    return rule


def _linspace(a: Arguments, arrays: list[Any]) -> Specs:
    return [Spec((a["steps"],), FLOAT)]


def _mask(shape: Sequence[int]) -> Spec:
    """Return a mask of bits for the elements of an array: 16 bytes for each 128 of them."""
    return Spec((-(-int(math.prod(shape)) // 128) * 16,), numpy.dtype("u1"))


def _dropout(a: Arguments, arrays: list[Any]) -> Specs:
    return [Spec(arrays[0].shape, arrays[0].dtype), _mask(arrays[0].shape)]


def _eye(a: Arguments, arrays: list[Any]) -> Specs:
    return [Spec((a["n"], a["m"]), FLOAT)]


def _padded(a: Arguments, arrays: list[Any]) -> Specs:
    """Infer a padded shape; the pairs of numbers begin with the last dimension."""
    shape = list(arrays[0].shape)
    pads = a["pad"] if "pad" in a else a["padding"]
    if len(pads) % 2 or len(pads) > 2 * len(shape):
        raise Refused(f"{len(pads)} numbers cannot pad {tuple(shape)}", "give two numbers for each padded dimension")
    for place, (before, after) in enumerate(zip(pads[::2], pads[1::2])):
        shape[-1 - place] += before + after
    if min(shape, default=0) < 0:
        raise Refused(f"{pads!r} removes more elements than {arrays[0].shape} has")
    return [Spec(tuple(shape), arrays[0].dtype)]


def _interleaved(a: Arguments, arrays: list[Any]) -> Specs:
    """Infer an array whose elements, or whose slices along a dimension, are repeated."""
    shape, size = arrays[0].shape, a["output_size"]
    if "dim" not in a:
        return [Spec((size,), arrays[0].dtype)]
    axis = axis_of(a["dim"], len(shape))
    return [Spec((*shape[:axis], size, *shape[axis + 1 :]), arrays[0].dtype)]


def _diagonal(flat: bool) -> Rule:
    """Return the rule of Diag, or of DiagFlat, which makes a matrix of an array of any shape."""

    def rule(a: Arguments, arrays: list[Any]) -> Specs:
        shape, diagonal = arrays[0].shape, a["diagonal"]
        if flat or len(shape) == 1:
            size = math.prod(shape) + abs(diagonal)
            return [Spec((size, size), arrays[0].dtype)]
        if len(shape) != 2:
            raise Refused(f"{shape} has {len(shape)} dimensions, expected 1 or 2")
        return [Spec((max(0, min(shape[0] + min(diagonal, 0), shape[1] - max(diagonal, 0))),), arrays[0].dtype)]

    return rule


def _columns(a: Arguments, arrays: list[Any]) -> Specs:
    """Infer the columns that Im2col makes of images."""
    shape = arrays[0].shape
    numbers = [a[name] for name in ("kernel_size", "dilation", "padding", "stride")]
    if len(shape) not in (3, 4) or any(len(pair) != 2 for pair in numbers) or min(numbers[3]) < 1:
        raise Refused(f"{shape} has no windows {numbers!r}", "use 3 or 4 dimensions, and pairs of positive numbers")
    counts = [
        (size + 2 * padding - dilation * (kernel - 1) - 1) // stride + 1
        for size, kernel, dilation, padding, stride in zip(shape[-2:], *numbers)
    ]
    if min(counts) < 1:
        raise Refused(f"{shape} with the padding is smaller than the window")
    return [Spec((*shape[:-3], shape[-3] * math.prod(numbers[0]), math.prod(counts)), arrays[0].dtype)]


def _images(a: Arguments, arrays: list[Any]) -> Specs:
    """Infer the images that Im2colBackward makes of columns."""
    shape, elements = arrays[0].shape, math.prod(a["kernel_size"])
    if len(shape) not in (2, 3) or elements < 1:
        raise Refused(f"{shape} has no columns of windows {a['kernel_size']!r}", "use 2 or 3 dimensions")
    return [Spec((*shape[:-2], shape[-2] // elements, *a["input_size"]), arrays[0].dtype)]


def _sizes(value: Any, dims: int) -> list[int]:
    """Return the numbers of an argument that has one for each dimension of an image, or one for all."""
    numbers = list(value) if isinstance(value, (list, tuple)) else [] if value is None else [value]
    return numbers * dims if len(numbers) == 1 else numbers


def _windows(a: Arguments, array: Any, dims: int) -> tuple[list[int], list[int]]:
    """Return the sizes of the windows of a pool and, in each direction, the number of windows."""
    shape = array.shape
    kernel, stride, pads = (
        _sizes(next(a[name] for name in names.split() if name in a), dims)
        for names in ("kernel_size kernel_shape", "stride strides", "padding paddings pads")
    )
    stride = stride or ([1] * dims if "kernel_shape" in a else kernel)
    pads = pads or [0] * dims
    pads = pads if len(pads) == 2 * dims else pads * 2
    dilation = _sizes(a.get("dilation"), dims) or [1] * dims
    fits = len(kernel) == len(stride) == len(dilation) == dims and len(pads) == 2 * dims
    if not fits or min(*kernel, *stride) < 1 or len(shape) not in (dims + 1, dims + 2):
        raise Refused(f"{shape} has no windows {kernel!r}", f"use {dims + 1} or {dims + 2} dimensions, sizes above 0")
    counts = []
    for size, length, step, apart, before, after in zip(shape[-dims:], kernel, stride, dilation, pads, pads[dims:]):
        span = size + before + after - apart * (length - 1) - 1
        count = (-(-span // step) if a["ceil_mode"] else span // step) + 1
        counts.append(count - 1 if a["ceil_mode"] and (count - 1) * step >= size + before else count)
    if min(counts) < 1:
        raise Refused(f"{shape} with the padding is smaller than the window")
    return kernel, counts


def _pooled(dims: int, index: Any = None) -> Rule:
    """Return the rule of a pool, which also returns indices if a type of these is given."""

    def rule(a: Arguments, arrays: list[Any]) -> Specs:
        shape = (*arrays[0].shape[:-dims], *_windows(a, arrays[0], dims)[1])
        specs: Specs = [Spec(shape, arrays[0].dtype)]
        return specs if index is None else [*specs, Spec(shape, numpy.dtype(index))]

    return rule


def _pooled_with_mask(a: Arguments, arrays: list[Any]) -> Specs:
    """Infer the maxima of windows, and a line of bits per element of the window."""
    lead = arrays[0].shape[:-2]
    kernel, counts = _windows(a, arrays[0], 2)
    mask = (*lead, math.prod(kernel), (-(-math.prod(counts) // 16) + 1) * 32)
    return [Spec((*lead, *counts), arrays[0].dtype), Spec(mask, numpy.dtype("i1"))]


def _resized(*kinds: Any) -> Rule:
    """Return a rule for outputs of these types (None: the array's own) whose images have the size that is given."""

    def rule(a: Arguments, arrays: list[Any]) -> Specs:
        sizes = _sizes(a["output_size"], 1)
        lead = arrays[0].shape[: -len(sizes)]
        if not sizes or not lead:
            raise Refused(f"{arrays[0].shape} has no images of {len(sizes)} dimensions")
        return [Spec((*lead, *sizes), arrays[0].dtype if kind is None else numpy.dtype(kind)) for kind in kinds]

    return rule


def _sampled(a: Arguments, arrays: list[Any]) -> Specs:
    """Infer images whose elements are read at the places of a grid."""
    return [Spec((*arrays[0].shape[:2], *arrays[1].shape[1:-1]), arrays[0].dtype)]


def _lines(array: Any, dims: int) -> tuple[int, ...]:
    """Return the shape of an array with 1 in the place of each of its last ``dims`` dimensions."""
    kept = len(array.shape) - dims
    return tuple(size if place < kept else 1 for place, size in enumerate(array.shape))


def _rms_norm(a: Arguments, arrays: list[Any]) -> Specs:
    x, gamma = arrays[:2]
    return [Spec(x.shape, x.dtype), Spec(_lines(x, len(gamma.shape)), FLOAT)]


def _halves(count: int) -> Rule:
    """Return a rule for ``count`` outputs with half the size along a dimension, the last one if none is given."""

    def rule(a: Arguments, arrays: list[Any]) -> Specs:
        shape = list(arrays[0].shape)
        axis = axis_of(a.get("dim", -1), len(shape))
        if shape:
            shape[axis] //= 2
        return [Spec(tuple(shape), arrays[0].dtype)] * count

    return rule


def _losses(a: Arguments, arrays: list[Any]) -> Specs:
    """Infer a loss of two arrays: one per element, or one for all."""
    return [Spec(stretch(arrays[:2]) if a["reduction"] == 0 else (), met(arrays))]


def _likelihood(a: Arguments, arrays: list[Any]) -> Specs:
    """Infer a loss per target, or one for all, and the sum of the weights."""
    values, targets = arrays[:2]
    return [Spec(targets.shape if a["reduction"] == 0 else (), values.dtype), Spec((1,), values.dtype)]


def _cross_entropy(a: Arguments, arrays: list[Any]) -> Specs:
    """Infer the losses, the logarithms of softmax, and the two outputs of the z-loss."""
    values, targets = arrays[:2]
    shapes = targets.shape if a["reduction_optional"] == "none" else (1,), values.shape, (1,), targets.shape
    return [Spec(shape, values.dtype) for shape in shapes]


def _multilabel(a: Arguments, arrays: list[Any]) -> Specs:
    """Infer a loss per row, or one for all, and the marks of the classes that are targets."""
    values = arrays[0]
    return [Spec(values.shape[:-1] if a["reduction"] == 0 else (), values.dtype), Spec(values.shape, values.dtype)]


def _prelu_gradients(a: Arguments, arrays: list[Any]) -> Specs:
    return [Spec(array.shape, array.dtype) for array in arrays[1:3]]


def _lists(a: Arguments, arrays: list[Any]) -> Specs:
    """Infer a list of outputs like the first list of arrays among the arguments."""
    return [[Spec(array.shape, array.dtype) for array in next(v for v in a.values() if isinstance(v, (list, tuple)))]]


def _split(a: Arguments, arrays: list[Any]) -> Specs:
    shape = arrays[0].shape
    axis = axis_of(a["dim"], len(shape))
    if "split_size" in a:
        sizes: Iterable[int] = a["split_size"]
    else:
        each = a["split_sections"]
        if each <= 0:
            raise Refused(f"split_sections is {each}, expected 1 or more")
        sizes = [min(each, shape[axis] - start) for start in range(0, shape[axis], each)]
    return [[Spec((*shape[:axis], size, *shape[axis + 1 :]), arrays[0].dtype) for size in sizes]]


def _same(kind: Any) -> Any:
    return kind


def _total(kind: Any) -> Any:
    """Return the type of a sum or a product: int64 for integers and bool, otherwise the type itself."""
    return LONG if ORDER[kind.kind] < 2 else kind


def _truth(kind: Any) -> Any:
    return BOOL


def _index(kind: Any) -> Any:
    return LONG


TABLE: dict[Rule, str] = {
    _pointwise(_same): """
        abs bitwise_not ceil celu clamp clamp_max clamp_min elu flip floor frac gelu gelu_v2 hardshrink hardsigmoid
        hardswish hardtanh index_add index_copy index_fill_tensor layer_norm layer_norm_with_impl_mode leaky_relu
        log_sigmoid mish nan_to_num neg prelu relu roll round round_decimals scale scatter scatter_add scatter_nd
        scatter_value selu shrink sign silu softplus softshrink swish threshold tril triu trunc renorm cumsum_v2
        bernoulli bernoulli_tensor normal_tensor_float normal_float_tensor r_relu_with_noise
        dropout_do_mask dropout_backward
        elu_backward hardsigmoid_backward hardswish_backward hardtanh_backward log_sigmoid_backward logit_grad
        selu_backward swish_backward""",
    _pointwise(floating): """
        acos acosh asin asinh atan atanh cos cosh digamma erf erfc erfinv exp exp2 expm1 lgamma log log10 log1p log2
        logit reciprocal rsqrt sigmoid sin sinc sinh sqrt tan tanh""",
    _pointwise(_truth): "is_finite is_inf is_neg_inf is_pos_inf logical_not signbit",
    _together(_same): """
        add sub mul rsub add_relu maximum minimum max_n min_n sum bitwise_and_tensor bitwise_or_tensor
        bitwise_xor_tensor floor_divide normal_tensor_tensor
        fmod_tensor gcd pow_tensor_tensor remainder_tensor_tensor lerp lerps addcmul clamp_tensor clamp_min_tensor
        clamp_max_tensor
        gelu_backward gelu_backward_v2 hardshrink_backward leaky_relu_backward mish_backward sigmoid_backward
        silu_backward softplus_backward softshrink_backward tanh_backward threshold_backward
        l1_loss_backward mse_loss_backward smooth_l1_loss_backward soft_margin_loss_backward""",
    _together(floating): "div addcdiv atan2 log_add_exp log_add_exp2 x_log_y_tensor",
    _together(_truth): """
        eq_tensor ne_tensor gt_tensor ge_tensor lt_tensor le_tensor logical_and logical_or logical_xor is_close""",
    _with_number(_same, "other"): """
        adds subs rsubs muls bitwise_and_scalar bitwise_or_scalar bitwise_xor_scalar floor_divides fmod_scalar
        remainder_tensor_scalar""",
    _with_number(floating, "other"): "divs x_log_y_scalar_other",
    _with_number(floating, "self"): "x_log_y_scalar_self",
    _with_number(_truth, "other"): "eq_scalar ne_scalar gt_scalar ge_scalar lt_scalar le_scalar",
    _with_number(_same, "exponent"): "pow_tensor_scalar",
    _power_of_number: "pow_scalar_tensor remainder_scalar_tensor",
    _where: "s_where",
    _reduction(_truth): "all any",
    _reduction(_same): "amax amin max min max_v2 median nan_median",
    _reduction(_same, 2): "aminmax aminmax_all aminmax_dim",
    _reduction(floating): """
        linalg_vector_norm log_sum_exp mean mean_v2 norm reduce_log_sum std var var_correction""",
    _reduction(floating, 2): "std_mean_correction var_mean",
    _reduction(_total): "reduce_sum reduce_nansum prod prod_dim",
    _reduction(_index): "arg_max arg_min",
    lambda a, arrays: [Spec((), BOOL)]: "equal",
    lambda a, arrays: [Spec((a["bins"],), arrays[0].dtype)]: "histc",
    _extreme: "max_dim min_dim median_dim nan_median_dim kthvalue",
    _along(None): "softmax log_softmax softmax_backward log_softmax_backward",
    _along(None, LONG): "sort cummax cummin",
    _along(LONG): "argsort",
    _topk: "topk",
    lambda a, arrays: [Spec(arrays[0].shape, asked(a, _total(arrays[0].dtype)))]: "cumsum cumprod",
    _matmul: "matmul mm batch_mat_mul mv dot",
    _added_product: "addmm addmv baddbmm",
    _cast: "cast",
    _permute: "permute",
    _cat: "cat",
    _stack: "stack",
    _repeat: "repeat",
    _expand: "expand",
    _flatten: "flatten",
    _slice: "slice",
    _slices: "slice_v2",
    _pick: "gather_v2",
    _pick_line: "index_select",
    _at_index: "gather take",
    _parts: "gather_nd",
    _searched: "search_sorted",
    _embedding: "embedding",
    _range(False): "arange",
    _range(True): "range",
    _eye: "eye",
    lambda a, arrays: [_mask(a["shape"])]: "dropout_gen_mask dropout_gen_mask_v2",
    _dropout: "dropout",
    lambda a, arrays: [Spec((a["n"],), LONG)]: "randperm",
    lambda a, arrays: [Spec((*arrays[0].shape[:-1], a["numsamples"]), LONG)]: "multinomial",
    _padded: """
        constant_pad_nd reflection_pad1d reflection_pad2d reflection_pad3d replication_pad1d replication_pad2d
        replication_pad3d circular_pad2d circular_pad3d""",
    _interleaved: """
        repeat_interleave repeat_interleave_with_dim repeat_interleave_int repeat_interleave_int_with_dim
        repeat_interleave_tensor""",
    _diagonal(False): "diag",
    _diagonal(True): "diag_flat",
    _columns: "im2col",
    _images: "im2col_backward",
    lambda a, arrays: [Spec((*arrays[0].shape[:2], *[1] * (len(arrays[0].shape) - 2)), arrays[0].dtype)]: """
        global_average_pool global_max_pool""",
    _sampled: "grid_sampler2_d grid_sampler3_d",
    lambda a, arrays: [Spec(array.shape, array.dtype) for array in arrays[1:3]]: """
        grid_sampler2_d_backward grid_sampler3_d_backward""",
    _pooled(2): "avg_pool2d max_pool",
    _pooled(3): "avg_pool3d",
    _pooled(2, "i8"): "max_pool2d_with_indices",
    _pooled(3, "i4"): "max_pool3d_with_argmax",
    _pooled_with_mask: "max_pool2d_with_mask",
    _resized(None): """
        adaptive_avg_pool2d adaptive_avg_pool3d max_unpool2d max_unpool3d
        upsample_nearest1d upsample_nearest1d_v2 upsample_nearest2d upsample_nearest2d_v2 upsample_nearest3d
        upsample_nearest_exact1d upsample_nearest_exact2d upsample_nearest_exact3d upsample_linear1d
        upsample_bilinear2d upsample_trilinear3d upsample_bicubic2d upsample_bilinear2d_aa upsample_bicubic2d_aa""",
    lambda a, arrays: [Spec(tuple(a["input_size"]), arrays[0].dtype)]: """
        upsample_nearest1d_backward upsample_nearest2d_backward upsample_nearest3d_backward
        upsample_nearest_exact1d_backward upsample_nearest_exact2d_backward upsample_nearest_exact3d_backward
        upsample_linear1d_backward upsample_bilinear2d_backward upsample_bilinear2d_backward_v2
        upsample_trilinear3d_backward upsample_bicubic2d_backward upsample_bilinear2d_aa_backward
        upsample_bicubic2d_aa_grad""",
    _resized(None, "i8"): "adaptive_max_pool2d",
    _resized(None, "i4"): "adaptive_max_pool3d",
    lambda a, arrays: [Spec(arrays[1].shape, arrays[0].dtype)]: """
        avg_pool2d_backward avg_pool3d_backward adaptive_avg_pool2d_backward adaptive_avg_pool3d_backward
        adaptive_max_pool3d_backward max_pool2d_with_indices_backward max_pool2d_with_mask_backward
        max_pool3d_with_argmax_backward max_unpool2d_backward max_unpool3d_backward""",
    _pointwise(_same): "channel_shuffle",
    _together(_same): "linalg_cross",
    lambda a, arrays: [Spec((), _total(arrays[0].dtype))]: "trace",
    _linspace: "linspace",
    _halves(1): "glu swi_glu gelu_mul fatrelu_mul",
    _halves(2): "ge_glu ge_glu_v3",
    lambda a, arrays: [Spec(arrays[1].shape, arrays[1].dtype)]: """
        glu_backward swi_glu_grad ge_glu_backward ge_glu_v3_backward
        binary_cross_entropy_backward binary_cross_entropy_with_logits_backward
        binary_cross_entropy_with_logits_target_backward cross_entropy_loss_grad ctc_loss_backward kl_div_backward
        nll_loss_backward nll_loss2d_backward""",
    _losses: """
        binary_cross_entropy binary_cross_entropy_with_logits kl_div l1_loss mse_loss mse_loss_out smooth_l1_loss
        soft_margin_loss""",
    _likelihood: "nll_loss nll_loss2d",
    _cross_entropy: "cross_entropy_loss",
    _multilabel: "multilabel_margin_loss",
    _prelu_gradients: "prelu_backward",
    lambda a, arrays: [Spec(arrays[0].shape, arrays[0].dtype)] * 2: "log_sigmoid_forward",
    _rms_norm: "rms_norm gemma_rms_norm",
    _lists: """
        foreach_abs foreach_acos foreach_asin foreach_atan foreach_cos foreach_cosh foreach_erf foreach_erfc foreach_exp
        foreach_expm1 foreach_log foreach_log10 foreach_log1p foreach_log2 foreach_neg foreach_reciprocal
        foreach_sigmoid foreach_sign foreach_sin foreach_sinh foreach_sqrt foreach_tan foreach_tanh foreach_add_list
        foreach_add_list_v2 foreach_add_scalar foreach_add_scalar_v2 foreach_add_scalar_list foreach_sub_list
        foreach_sub_list_v2 foreach_sub_scalar foreach_sub_scalar_v2 foreach_sub_scalar_list foreach_mul_list
        foreach_mul_scalar foreach_mul_scalar_v2 foreach_mul_scalar_list foreach_div_list foreach_div_scalar
        foreach_div_scalar_v2 foreach_div_scalar_list foreach_maximum_list foreach_minimum_list foreach_lerp_list
        foreach_lerp_scalar foreach_pow_list foreach_pow_scalar foreach_pow_scalar_v2 foreach_pow_scalar_list
        foreach_pow_scalar_and_tensor foreach_maximum_scalar foreach_maximum_scalar_v2 foreach_maximum_scalar_list
        foreach_minimum_scalar foreach_minimum_scalar_v2 foreach_minimum_scalar_list foreach_addcmul_scalar
        foreach_addcmul_scalar_v2 foreach_addcmul_list foreach_addcmul_scalar_list foreach_addcdiv_scalar
        foreach_addcdiv_scalar_v2 foreach_addcdiv_list foreach_addcdiv_scalar_list foreach_copy
        foreach_round_off_number foreach_round_off_number_v2""",
    lambda a, arrays: [[Spec((), array.dtype) for array in a["x"]]]: "foreach_norm",
    _split: "split_tensor split_with_size",
}

RULES: dict[str, Rule] = {name: rule for rule, names in TABLE.items() for name in names.split()}
