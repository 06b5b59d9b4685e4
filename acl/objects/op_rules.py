"""The shapes and types of the outputs of operators, where these follow from the arguments.

A rule takes the arguments by name and the arrays among them, and returns a :class:`Spec` for each required output, or a
list of these where the output is a list. The type rules are the documented ones, not NumPy's: the common type of int32
and float32 arrays is float32, and a number never widens an array of its own kind. Arguments that contradict the
rule raise :class:`Refused`; all other checks are left to the library, which checks each call.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy

from acl.objects.op_types import (
    BOOL,
    FLOAT,
    LONG,
    ORDER,
    Arguments,
    Refused,
    Rule,
    Spec,
    Specs,
    asked,
    axis_of,
    floating,
    meet,
    meet_number,
    met,
    reduced,
    stretch,
    type_of_number,
)  # fmt: skip

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


def _confuse(a: Arguments, arrays: list[Any]) -> Specs:
    """Infer the given shape, which is permuted if that is the second step."""
    shape = tuple(a["shape"])
    dims = range(len(shape)) if a["transpose_first"] else [axis_of(value, len(shape), "perm") for value in a["perm"]]
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


def _divided(kind: Callable[[Arguments, "list[Any]"], Any]) -> Rule:
    """Return the rule of a quotient that may be rounded: only in mode 0 integers become fractions."""

    def rule(a: Arguments, arrays: list[Any]) -> Specs:
        met_kind = kind(a, arrays)
        return [Spec(stretch(arrays), met_kind if a["mode"] else floating(met_kind))]

    return rule


def _one_hot(a: Arguments, arrays: list[Any]) -> Specs:
    shape, axis = arrays[0].shape, a["axis"]
    if not -1 <= axis <= len(shape):
        raise Refused(f"axis is {axis}, expected -1 to {len(shape)}")
    place = len(shape) if axis == -1 else axis
    return [Spec((*shape[:place], a["num_classes"], *shape[place:]), arrays[1].dtype)]


def _selection(a: Arguments, arrays: list[Any]) -> Specs:
    """Infer the elements that arrays of indices select in the first dimensions."""
    shape, indices = arrays[0].shape, arrays[1:]
    if any(array.dtype == BOOL or not math.prod(array.shape) for array in indices):
        reason = "the shape of out does not follow from masks and empty arrays, which may stand for whole dimensions"
        raise Refused(reason, "pass out=acl.DeviceArray(shape, dtype)")
    if not 0 < len(indices) <= len(shape):
        raise Refused(f"indices has {len(indices)} arrays, expected 1 to {len(shape)}")
    return [Spec((*stretch(indices), *shape[len(indices) :]), arrays[0].dtype)]


def _ctc_loss(a: Arguments, arrays: list[Any]) -> Specs:
    """Infer a loss per sequence, and the logarithms of the probabilities of its states at each time."""
    probs, targets = arrays
    if len(probs.shape) != 3:
        raise Refused(f"{probs.shape} has {len(probs.shape)} dimensions, expected 3")
    times, batch = probs.shape[:2]
    longest = max(a["targetlengths"], default=0)
    return [Spec((batch,), probs.dtype), Spec((batch, times, 2 * longest + 1), probs.dtype)]


def _rows_of_groups(a: Arguments, arrays: list[Any]) -> Specs:
    groups = a["group_idx_optional"]
    return [Spec((*(arrays[0] if groups is None else groups).shape[:1], arrays[0].shape[-1]), arrays[0].dtype)]


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


def _angle(kind: Any) -> Any:
    """Return the type of the angles of numbers: that of its parts for a complex one."""
    return numpy.dtype(f"f{kind.itemsize // 2}") if kind.kind == "c" else floating(kind)


def _pair(kind: Any) -> Any:
    """Return the complex type with parts of a type."""
    return numpy.dtype(f"c{2 * kind.itemsize}")


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
        dropout_do_mask dropout_backward fast_gelu fast_gelu_backward hardswish_backward_v2 index_fill left_shifts
        masked_scale scatter_reduce apply_top_k_top_p scaled_masked_softmax masked_softmax_with_rel_pos_bias
        interleave_rope
        elu_backward hardsigmoid_backward hardswish_backward hardtanh_backward log_sigmoid_backward logit_grad
        selu_backward swish_backward""",
    _pointwise(floating): """
        acos acosh asin asinh atan atanh cos cosh digamma erf erfc erfinv exp exp2 expm1 lgamma log log10 log1p log2
        logit reciprocal rsqrt sigmoid sin sinc sinh sqrt tan tanh""",
    _pointwise(_truth): "is_finite is_inf is_in_tensor_scalar is_neg_inf is_pos_inf logical_not signbit",
    lambda a, arrays: [Spec((), BOOL)]: "is_in_scalar_tensor",
    _pointwise(_angle): "angle_v2",
    _together(_pair): "complex polar",
    _together(_same): """
        add sub mul rsub add_relu maximum minimum max_n min_n sum bitwise_and_tensor bitwise_or_tensor
        bitwise_xor_tensor floor_divide normal_tensor_tensor
        fmod_tensor gcd pow_tensor_tensor remainder_tensor_tensor lerp lerps addcmul clamp_tensor clamp_min_tensor
        clamp_max_tensor left_shift right_shift
        gelu_backward gelu_backward_v2 hardshrink_backward leaky_relu_backward mish_backward sigmoid_backward
        silu_backward softplus_backward softshrink_backward tanh_backward threshold_backward
        l1_loss_backward mse_loss_backward smooth_l1_loss_backward soft_margin_loss_backward""",
    _together(floating): "div addcdiv atan2 log_add_exp log_add_exp2 x_log_y_tensor",
    _together(_truth): """
        eq_tensor ne_tensor gt_tensor ge_tensor lt_tensor le_tensor logical_and logical_or logical_xor is_close""",
    _with_number(_same, "other"): """
        adds subs rsubs muls bitwise_and_scalar bitwise_or_scalar bitwise_xor_scalar floor_divides fmod_scalar
        remainder_tensor_scalar""",
    _divided(lambda a, arrays: met(arrays)): "div_mod",
    _divided(lambda a, arrays: meet_number(arrays[0].dtype, a["other"])): "div_mods",
    _with_number(floating, "other"): "divs x_log_y_scalar_other",
    _with_number(floating, "self"): "x_log_y_scalar_self",
    _with_number(_same, "self"): "add_v3",
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
    lambda a, arrays: [Spec(arrays[0].shape, arrays[0].dtype)]: "scaled_masked_softmax_backward",
    _along(None, LONG): "sort cummax cummin",
    _along(LONG): "argsort",
    _topk: "topk",
    lambda a, arrays: [Spec(arrays[0].shape, asked(a, _total(arrays[0].dtype)))]: "cumsum cumprod",
    _cast: "cast quantize",
    _permute: "permute",
    _confuse: "confusion_transpose",
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
    lambda a, arrays: [Spec((), numpy.dtype("i4") if a["out_int32"] else LONG)]: "search_sorteds",
    _selection: "index",
    _one_hot: "one_hot",
    _embedding: "embedding",
    lambda a, arrays: [Spec((a["num_weights"], arrays[0].shape[-1]), arrays[0].dtype)]: "embedding_dense_backward",
    _rows_of_groups: "grouped_bias_add_grad grouped_bias_add_grad_v2",
    _range(False): "arange",
    _range(True): "range",
    _eye: "eye",
    lambda a, arrays: [_mask(a["shape"])]: "dropout_gen_mask dropout_gen_mask_v2 dropout_gen_mask_v2_tensor",
    _dropout: "dropout",
    lambda a, arrays: [Spec((a["n"],), LONG)]: "randperm",
    lambda a, arrays: [Spec((*arrays[0].shape[:-1], a["numsamples"]), LONG)]: "multinomial multinomial_tensor",
    _padded: """
        constant_pad_nd reflection_pad1d reflection_pad2d reflection_pad3d replication_pad1d replication_pad2d
        replication_pad3d circular_pad2d circular_pad3d""",
    _interleaved: """
        repeat_interleave repeat_interleave_with_dim repeat_interleave_int repeat_interleave_int_with_dim
        repeat_interleave_tensor""",
    _diagonal(False): "diag",
    _diagonal(True): "diag_flat",
    _columns: "im2col",
    _pointwise(_same): "channel_shuffle",
    _together(_same): "linalg_cross",
    lambda a, arrays: [Spec((), _total(arrays[0].dtype))]: "trace",
    _linspace: "linspace log_space",
    lambda a, arrays: [Spec(tuple(a["input_sizes"]), arrays[0].dtype)]: "unfold_grad",
    lambda a, arrays: [Spec(arrays[2].shape, arrays[2].dtype)]: "kl_div_target_backward",
    lambda a, arrays: [Spec(array.shape, array.dtype) for array in arrays[:2]]: "amp_update_scale",
    lambda a, arrays: [Spec(array.shape, array.dtype) for array in (arrays[2], *arrays[2::-2])]: "thnn_fused_lstm_cell",
    _halves(1): "glu swi_glu gelu_mul fatrelu_mul clipped_swiglu",
    _halves(2): "ge_glu ge_glu_v3",
    lambda a, arrays: [Spec(arrays[1].shape, arrays[1].dtype)]: """
        adaptive_max_pool2d_backward glu_backward swi_glu_grad ge_glu_backward ge_glu_v3_backward
        binary_cross_entropy_backward binary_cross_entropy_with_logits_backward
        binary_cross_entropy_with_logits_target_backward cross_entropy_loss_grad ctc_loss_backward kl_div_backward
        nll_loss_backward nll_loss2d_backward
        reflection_pad1d_backward reflection_pad2d_backward reflection_pad3d_backward replication_pad1d_backward
        replication_pad2d_backward replication_pad3d_backward circular_pad2d_backward circular_pad3d_backward""",
    _losses: """
        binary_cross_entropy binary_cross_entropy_with_logits kl_div l1_loss mse_loss mse_loss_out smooth_l1_loss
        soft_margin_loss""",
    _likelihood: "nll_loss nll_loss2d",
    lambda a, arrays: [Spec(arrays[0].shape[:1], arrays[0].dtype), Spec(arrays[0].shape, arrays[0].dtype)]: """
        softmax_cross_entropy_with_logits""",
    _ctc_loss: "ctc_loss",
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
