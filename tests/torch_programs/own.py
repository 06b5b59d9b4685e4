"""Compares the operators of torch_npu itself with formulas of PyTorch on the CPU.

``python own.py [NAME...]`` needs torch and torch_npu, and a toolkit of the simulator. It prints one JSON object per
operator and type: ``wrong`` is None, or what is not equal.
"""

import json
import sys

import torch
import torch_npu
from torch.nn import functional

HALF, BRAIN, FLOAT, INT = torch.float16, torch.bfloat16, torch.float32, torch.int32
# The distance of two numbers of a type, relative to the largest number.
ERRORS = {FLOAT: 1e-5, HALF: 2**-9, BRAIN: 2**-6}
CASES = {}


def case(*kinds):
    """Register a function of a type: it returns tensors of the NPU, and those that they should equal."""

    def put(function):
        CASES[function.__name__] = function, kinds
        return function

    return put


def numbers(*shape, kind=FLOAT):
    """Return random numbers as they are after rounding to a type."""
    return torch.randn(shape).to(kind)


def npu(*tensors):
    """Return the tensors on the NPU."""
    return [tensor.npu() for tensor in tensors]


def softmax(x):
    """Return the softmax of rows."""
    return functional.softmax(x, -1)


def normal(x, gamma, epsilon=1e-6):
    """Return the rows of x divided by the roots of their mean squares."""
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + epsilon) * gamma


def halves(x):
    """Return the halves of the last dimension."""
    return x.chunk(2, -1)


def dynamic(values):
    """Return rows as int8, and their scales."""
    scales = values.abs().amax(-1) / 127
    return torch.round(values / scales[..., None]), scales


@case(HALF, BRAIN, FLOAT)
def scaled_masked_softmax(kind):
    x, mask = numbers(2, 3, 8, 32, kind=kind), torch.rand(2, 1, 8, 32) > 0.5
    a, b = x.npu().requires_grad_(), x.float().requires_grad_()
    slopes = numbers(2, 3, 8, 32, kind=kind)
    y = torch_npu.npu_scaled_masked_softmax(a, mask.npu(), 0.5, False)
    wanted = softmax((b * 0.5).masked_fill(mask, -10000))
    y.backward(slopes.npu())
    wanted.backward(slopes.float())
    return [y, a.grad], [wanted, b.grad]


@case(HALF, FLOAT)
def masked_softmax_with_rel_pos_bias(kind):
    x, mask, bias = numbers(2, 3, 2, 4, 16, kind=kind), numbers(3, 4, 16, kind=kind), numbers(2, 4, 16, kind=kind)
    y = torch_npu.npu_masked_softmax_with_rel_pos_bias(*npu(x, mask, bias), 0.5)
    return [y], [softmax(x.float() * 0.5 + mask.float()[:, None] + bias.float())]


@case(HALF, FLOAT, INT)
def confusion_transpose(kind):
    x, slopes = numbers(2, 3, 4, 6, kind=FLOAT).to(kind), torch.arange(144.0).reshape(2, 4, 18).to(kind)
    if kind == INT:
        y = torch_npu.npu_confusion_transpose(x.npu(), (0, 2, 1, 3), (2, 4, 18), True)
        return [y], [x.permute(0, 2, 1, 3).reshape(2, 4, 18)]
    found, wanted = [], []
    for first in (True, False):
        a, b = x.npu().requires_grad_(), x.clone().requires_grad_()
        shape = (2, 4, 18) if first else (2, 3, 8, 3)
        y = torch_npu.npu_confusion_transpose(a, (0, 2, 1, 3), shape, first)
        z = b.permute(0, 2, 1, 3).reshape(shape) if first else b.reshape(shape).permute(0, 2, 1, 3)
        y.backward(slopes.reshape(y.shape).npu())
        z.backward(slopes.reshape(z.shape))
        found += [y, a.grad]
        wanted += [z, b.grad]
    return found, wanted


@case(HALF, BRAIN, FLOAT)
def add_rms_norms(kind):
    one, two, gamma = numbers(3, 16, kind=kind), numbers(3, 16, kind=kind), numbers(16, kind=kind)
    total = (one + two).float()
    values = normal(total, gamma.float())
    rstd, y, x = torch_npu.npu_add_rms_norm_v2_functional(*npu(one, two, gamma))
    found, wanted = [y, rstd, x], [values, torch.rsqrt(total.square().mean(-1, keepdim=True) + 1e-6), total]
    if kind != FLOAT:
        wide, narrow, _, x = torch_npu.npu_add_rms_norm_cast(*npu(one, two, gamma))
        found, wanted = [*found, wide, narrow, x], [*wanted, values, values, total]
    return found, wanted


@case(HALF, BRAIN)
def add_rms_norms_of_integers(kind):
    one, two, gamma, beta = (numbers(*shape, kind=kind) for shape in ((3, 16), (3, 16), (16,), (16,)))
    values = normal((one + two).float(), gamma.float()) + beta.float()
    y, _, _, scale, _ = torch_npu.npu_add_rms_norm_dynamic_quant(*npu(one, two, gamma), beta=beta.npu())
    scales, zeros = torch.full((16,), 0.25), torch.arange(16, dtype=INT)
    given = (scales.npu(), zeros.npu()) if kind == HALF else (scales.to(kind).npu(), zeros.to(kind).npu())
    z, _, _ = torch_npu.npu_add_rms_norm_quant(*npu(one, two, gamma), *given, beta=beta.npu())
    return [y, scale, z], [*dynamic(values), (torch.round(values / 0.25 + zeros)).clamp(-128, 127)]


@case(HALF, BRAIN, FLOAT)
def clipped_swiglu(kind):
    x = numbers(4, 12, kind=kind) * 8
    y = torch_npu.npu_clipped_swiglu(x.npu(), alpha=1.5, limit=6.0, bias=0.5, interleaved=False)
    z = torch_npu.npu_clipped_swiglu(x.npu())

    def formula(a, b, alpha, limit, bias):
        a, b = a.clamp(max=limit), b.clamp(-limit, limit)
        return a * torch.sigmoid(alpha * a) * (b + bias)

    wide = x.float()
    return [y, z], [formula(*halves(wide), 1.5, 6, 0.5), formula(wide[:, ::2], wide[:, 1::2], 1.702, 7, 1)]


@case(HALF, FLOAT)
def swiglu_quant(kind):
    x = numbers(4, 12, kind=kind)
    y, scale = torch_npu.npu_swiglu_quant(x.npu(), activate_left=True, quant_mode=1)
    a, b = halves(x.float())
    return [y, scale], dynamic(functional.silu(a) * b)


@case(INT)
def dequant_swiglu_quant(kind):
    x, weight, row = torch.randint(-50, 50, (4, 12), dtype=kind), torch.rand(1, 12), torch.rand(4)
    scales = {"weight_scale": weight.npu(), "activation_scale": row.npu()}
    y, scale = torch_npu.npu_dequant_swiglu_quant(x.npu(), **scales, activate_left=True, quant_mode=1)
    a, b = halves(x * weight * row[:, None])
    return [y, scale], dynamic(functional.silu(a) * b)


@case(HALF, BRAIN)
def interleave_rope(kind):
    x, cos, sin = numbers(2, 3, 4, 64, kind=kind), numbers(2, 1, 4, 64, kind=kind), numbers(2, 1, 4, 64, kind=kind)
    y = torch_npu.npu_interleave_rope(*npu(x, cos, sin))
    moved = torch.cat([x[..., ::2], x[..., 1::2]], -1).float()
    a, b = halves(moved)
    return [y], [moved * cos.float() + torch.cat([-b, a], -1) * sin.float()]


@case(HALF, FLOAT)
def mrope(kind):
    places, cache = torch.tensor([3, 0, 7]), numbers(8, 64, kind=kind)
    query, key = numbers(3, 128, kind=kind), numbers(3, 64, kind=kind)
    found = torch_npu.npu_mrope(*npu(places, query, key, cache), 64, mrope_section=[0, 0, 0], rotary_mode="half")
    cos, sin = halves(cache[places].float()[:, None])

    def turned(x):
        a, b = halves(x.float().reshape(3, -1, 64))
        return torch.cat([a * cos - b * sin, b * cos + a * sin], -1).reshape(x.shape)

    return found, [turned(query), turned(key)]


@case(HALF, BRAIN)
def ffn(kind):
    x, one, two = (numbers(*shape, kind=kind) / 4 for shape in ((6, 32), (2, 32, 48), (2, 48, 32)))
    found, wanted = [], []
    for name, function in (("relu", functional.relu), ("silu", functional.silu)):
        found.append(torch_npu.npu_ffn(*npu(x, one, two), name, expert_tokens=[4, 2]))
        parts = zip(x.float().split([4, 2]), one.float(), two.float())
        wanted.append(torch.cat([function(part @ a).to(kind).float() @ b for part, a, b in parts]))
    return found, wanted


@case(HALF, BRAIN)
def grouped_matmul_add(kind):
    x, weight, y, ends = numbers(6, 8, kind=kind), numbers(6, 4, kind=kind), numbers(16, 4), torch.tensor([2, 6])
    found = torch_npu.npu_grouped_matmul_add(*npu(y, x, weight, ends))
    sums = [a.float().T @ b.float() for a, b in zip(x.split([2, 4]), weight.split([2, 4]))]
    return [found], [y + torch.cat(sums)]


@case(HALF, FLOAT)
def moe_gating_top_k(kind):
    x, bias = numbers(5, 32, kind=kind), numbers(32, kind=kind)
    given = {"k": 4, "bias": bias.npu(), "k_group": 2, "group_count": 4, "group_select_mode": 1, "norm_type": 1}
    y, experts, _ = torch_npu.npu_moe_gating_top_k(x.npu(), **given, routed_scaling_factor=2.5)
    scores = torch.sigmoid(x.float())
    biased = (scores + bias.float()).reshape(5, 4, 8)
    best = biased.topk(2).values.sum(-1).topk(2).indices
    kept = torch.zeros(5, 4, dtype=torch.bool).scatter_(1, best, True)
    chosen = biased.masked_fill(~kept[..., None], -torch.inf).reshape(5, 32).topk(4).indices
    taken = scores.gather(1, chosen)
    return [y, experts], [taken / (taken.sum(-1, keepdim=True) + 1e-20) * 2.5, chosen.int()]


@case(HALF, FLOAT)
def moe_there_and_back(kind):
    x, weights = numbers(6, 8, kind=kind), torch.rand(6, 2).to(kind)
    experts = torch.stack([torch.randperm(4)[:2] for _ in range(6)]).int()
    options = {"active_num": 12, "expert_num": 4, "expert_tokens_num_type": 1, "expert_tokens_num_flag": True}
    options |= {"active_expert_range": [0, 4], "quant_mode": -1, "row_idx_type": 0}
    rows, places, counts, _ = torch_npu.npu_moe_init_routing_v2(*npu(x, experts), **options)
    order = experts.flatten().argsort(stable=True)
    none = [None] * 3
    found = torch_npu.npu_moe_finalize_routing(rows, *none, weights.npu(), places, None, drop_pad_mode=2)
    wanted = x.float() * weights.float().sum(-1, keepdim=True)
    return [rows, counts, found], [x[order // 2], experts.flatten().long().bincount(minlength=4), wanted]


@case(HALF, FLOAT)
def moe_maps(kind):
    x, slopes = numbers(5, 8, kind=kind), numbers(5, 8, kind=kind)
    chart = torch.zeros(5, 4, dtype=torch.bool)
    chart.scatter_(1, torch.stack([torch.randperm(4)[:2] for _ in range(5)]), True)
    probs = torch.rand(5, 4).to(kind)
    a, p, b, q = x.npu().requires_grad_(), probs.npu().requires_grad_(), x.clone(), probs.clone()
    rows, picked, order = torch_npu.npu_moe_token_permute_with_routing_map(a, chart.npu(), probs=p, num_out_tokens=10)
    y = torch_npu.npu_moe_token_unpermute_with_routing_map(rows, order, [5, 8], probs=p, routing_map=chart.npu())
    (y * slopes.npu()).sum().backward()
    b, q = x.float().requires_grad_(), probs.float().requires_grad_()
    z = b * (q * chart).sum(-1, keepdim=True)
    (z * slopes.float()).sum().backward()
    tokens = chart.T.nonzero()[:, 1]
    return [rows, picked, y, a.grad, p.grad], [x[tokens], probs.T[chart.T], z, b.grad, q.grad]


@case(HALF, FLOAT)
def top_k_top_p(kind):
    logits, p, k = numbers(4, 16, kind=kind), torch.tensor([0.5, 0.25, 1, 0.75]).to(kind), torch.tensor([3, 5, 4, 16])
    y = torch_npu.npu_top_k_top_p(*npu(logits, p, k.int()))
    rows, places = logits.sort(-1)
    least = rows.gather(1, 16 - k[:, None])
    rows = rows.float().masked_fill(rows < least, -torch.inf)
    gone = softmax(rows).cumsum(-1) <= 1 - p.float()[:, None]
    gone[:, -1] = False
    return [y], [torch.empty(4, 16).scatter_(1, places, rows.masked_fill(gone, -torch.inf))]


@case(HALF, FLOAT)
def attention_update(kind):
    sums, parts = [numbers(4) for _ in range(3)], [numbers(4, 16, kind=kind) for _ in range(3)]
    y, _ = torch_npu.npu_attention_update(npu(*sums), npu(*parts), 0)
    shares = functional.softmax(torch.stack(sums), 0)
    return [y], [(shares[..., None] * torch.stack(parts).float()).sum(0)]


@case(HALF, FLOAT)
def scatter_list(kind):
    members, updates = [numbers(3, 8, 4, kind=kind) for _ in range(2)], numbers(2, 3, 1, 4, kind=kind)
    found = torch_npu.npu_scatter_list(npu(*members), *npu(torch.tensor([1, 6], dtype=INT), updates))
    wanted = [member.clone() for member in members]
    for member, place, update in zip(wanted, (1, 6), updates):
        member[:, place] = update[:, 0]
    return found, wanted


@case(HALF)
def boxes(kind):
    one = torch.tensor([[0, 0, 10, 10], [10, 10, 20, 20], [32, 32, 38, 42]]).to(kind)
    two = torch.tensor([[0, 0, 10, 20], [10, 10, 20, 20]]).to(kind)
    found = [torch_npu.npu_iou(*npu(one, two), mode) for mode in (0, 1)]
    deltas = torch_npu.npu_bounding_box_encode(*npu(one[:2], two), *[0.0] * 4, *[1.0] * 4)
    back = torch_npu.npu_bounding_box_decode(one[:2].npu(), deltas, *[0.0] * 4, *[1.0] * 4, (99, 99), 0.01)
    overlaps = torch.tensor([[0.5, 0, 0], [0, 1, 0]])  # torch_npu makes each side 0.01 longer
    return [*found, back], [overlaps, overlaps, two]


@case(HALF, FLOAT)
def gradients_of_activations(kind):
    found, wanted = [], []
    for own, plain in ((torch_npu.npu_mish, functional.mish), (torch_npu.npu_silu, functional.silu)):
        x = numbers(4, 8, kind=kind)
        a, b = x.npu().requires_grad_(), x.float().requires_grad_()
        own(a).sum().backward()
        plain(b).sum().backward()
        found.append(a.grad)
        wanted.append(b.grad)
    return found, wanted


@case(HALF, BRAIN)
def npu_rms_norm_quant(kind):
    x, gamma, beta = (numbers(*shape, kind=kind) for shape in ((4, 32), (32,), (32,)))
    scale, offset = torch.tensor([20.0], dtype=kind), torch.tensor([3], dtype=torch.int8)
    found = torch_npu.npu_rms_norm_quant(*npu(x, gamma, beta, scale, offset), 1e-6)
    normal = functional.rms_norm(x.float(), [32], gamma.float(), 1e-6) + beta.float()
    return [found], [(normal * scale.float() + offset).round().clamp(-128, 127)]


@case(HALF, BRAIN, FLOAT)
def gradient_of_moe_gating_top_k(kind):
    x, slopes = numbers(4, 8).requires_grad_(), numbers(4, 2, kind=kind)
    values, places = x.sigmoid().topk(2)
    (values / values.sum(-1, keepdim=True) * 2.5).backward(slopes.float())
    found = torch_npu.npu_moe_gating_top_k_backward(
        *npu(x.sigmoid().detach(), slopes, places.int()), renorm=0, norm_type=1, routed_scaling_factor=2.5
    )
    return [found], [x.grad]


@case(HALF, BRAIN)
def npu_ring_attention_update(kind):
    """Join the results on two parts of the keys of packed sequences, which the operator of attention has returned."""
    query = numbers(5, 2, 64, kind=kind)
    parts = [[numbers(7, 2, 64, kind=kind) for _ in "kv"] for _ in range(2)]
    results = []
    for part in parts:
        results += torch_npu.npu_fusion_attention(
            *npu(query, *part), 2, "TND", scale=0.125, actual_seq_qlen=[2, 5], actual_seq_kvlen=[3, 7]
        )[:3]
    ends = torch.tensor([0, 2, 5]).npu()
    found = torch_npu.npu_ring_attention_update(*results, actual_seq_qlen=ends, input_layout="TND")
    wanted = []
    for rows, keys in ((slice(0, 2), slice(0, 3)), (slice(2, 5), slice(3, 7))):
        key, value = (torch.cat([part[place][keys] for part in parts]).float() for place in range(2))
        weights = softmax(torch.einsum("qnd,knd->nqk", query[rows].float(), key) * 0.125)
        wanted.append(torch.einsum("nqk,knd->qnd", weights, value))
    return found[:1], [torch.cat(wanted)]


@case(HALF, BRAIN)
def dynamic_quant_modes(kind):
    x, smooth = numbers(4, 16, kind=kind), torch.rand(16).to(kind)
    whole = x.float().reshape(1, -1)
    found, wanted = [], []
    for mode, rows, back in (("pertensor", whole, (4, 16)), ("pertoken", x.float() * smooth.float(), (4, 16))):
        given = {"smooth_scales": smooth.npu()} if mode == "pertoken" else {}
        found += torch_npu.npu_dynamic_quant(x.npu(), quant_mode=mode, **given)
        integers, scales = dynamic(rows)
        wanted += [integers.reshape(back), scales]
    y, scale, offset = torch_npu.npu_dynamic_quant_asymmetric(x.npu(), quant_mode="pertensor")
    scales = (whole.max() - whole.min()) / 255
    places = 127 - whole.max() / scales
    return [*found, y, scale, offset], [*wanted, (x.float() / scales + places).round(), scales[None], places[None]]


def groups_of_integers():
    """Return rows, weights, scales of both and the ends of groups, and the products."""
    x, weight = torch.randint(-9, 9, (6, 16), dtype=torch.int8), torch.randint(-9, 9, (3, 16, 32), dtype=torch.int8)
    scales, rows, ends = torch.rand(3, 32) / 8, torch.rand(6), torch.tensor([2, 5, 6])
    parts = zip(x.float().split([2, 3, 1]), weight.float(), scales)
    return x, weight, scales, rows, ends, torch.cat([a @ b * c for a, b, c in parts]) * rows[:, None]


@case(FLOAT)
def grouped_matmul_swiglu_quant(kind):
    torch.npu.config.allow_internal_format = True
    x, weight, scales, rows, ends, products = groups_of_integers()
    a, b = halves(products)
    blocked = torch_npu.npu_format_cast(weight.npu(), 29)
    first = torch_npu.npu_grouped_matmul_swiglu_quant(x.npu(), blocked, *npu(ends, scales, rows))
    second = torch_npu.npu_grouped_matmul_swiglu_quant_v2(x.npu(), [blocked], npu(scales), *npu(rows, ends))
    torch.npu.config.allow_internal_format = False
    wanted = dynamic(functional.silu(a) * b)
    return [*first[:2], *second], [*wanted, *wanted]


@case(FLOAT)
def grouped_matmul_finalize_routing(kind):
    torch.npu.config.allow_internal_format = True
    x, weight, scales, rows, ends, products = groups_of_integers()
    tokens, factors, shared = torch.tensor([0, 2, 1, 0, 2, 1]), torch.rand(6), numbers(2, 32, kind=BRAIN)
    blocked = torch_npu.npu_format_cast(weight.npu(), 29)
    found = torch_npu.npu_grouped_matmul_finalize_routing(
        x.npu(), blocked, ends.npu(), scale=scales.npu(), pertoken_scale=rows.npu(), shared_input=shared.npu(),
        logit=factors.npu(), row_index=tokens.npu(), shared_input_offset=1, output_bs=3, group_list_type=0,
        dtype=torch.float32,
    )  # fmt: skip
    torch.npu.config.allow_internal_format = False
    wanted = torch.zeros(3, 32).index_add(0, tokens, products * factors[:, None])
    wanted[1:] += shared.float()
    return [found], [wanted]


@case(HALF, BRAIN)
def attention_with_sinks(kind):
    """Add a key without a value to each head, and sum the gradients of the scores of these keys."""
    operands, slopes = [numbers(7, 2, 64, kind=kind) for _ in "qkv"], numbers(7, 2, 64, kind=kind)
    sink, ends = numbers(2), torch.tensor([3, 7])
    query, key, value, extra = (x.npu().requires_grad_() for x in (*operands, sink))
    lengths = {"actual_seq_qlen": ends, "actual_seq_kvlen": ends}
    y = torch_npu.npu_fusion_attention_v3(query, key, value, 2, "TND", scale=0.125, sink=extra, **lengths)[0]
    y.backward(slopes.npu())
    q, k, v, s = (x.float().requires_grad_() for x in (*operands, sink))
    parts = []
    for rows in (slice(0, 3), slice(3, 7)):
        scores = torch.einsum("qnd,knd->nqk", q[rows], k[rows]) * 0.125
        weights = softmax(torch.cat([scores, s[:, None, None].expand(-1, len(q[rows]), 1)], -1))[..., :-1]
        parts.append(torch.einsum("nqk,knd->qnd", weights, v[rows]))
    wanted = torch.cat(parts)
    wanted.backward(slopes.float())
    # the result, from which the last gradient is computed, was rounded
    found = [y, *(x.grad for x in (query, key, value)), extra.grad.to(kind)]
    return found, [wanted, *(x.grad for x in (q, k, v, s))]


def compare(function, kind):
    """Return what is wrong with an operator, or None."""
    torch.manual_seed(2)
    try:
        found, wanted = function(kind)
        torch.npu.synchronize()
    except RuntimeError as error:
        return str(error)[:600]
    for place, (one, other) in enumerate(zip(found, wanted)):
        left, right = one.detach().cpu().double(), other.detach().double()
        if left.shape != right.shape:
            return f"result {place} has shape {tuple(left.shape)}, expected {tuple(right.shape)}"
        size = right[right.isfinite()].abs().max() if right.isfinite().any() else 0
        # an integer may be rounded either way
        error = 1 if one.dtype == torch.int8 else ERRORS.get(one.dtype, 0) * max(1, size)
        away = (left - right).abs().nan_to_num(0 if torch.equal(left.isinf(), right.isinf()) else torch.inf).max()
        if not away <= error:
            return f"result {place} is {away:g} away, expected at most {error:g}"
    return None


def main(names):
    """Compare the named operators, or all."""
    torch.npu.matmul.allow_hf32 = False
    for name, (function, kinds) in CASES.items():
        for kind in kinds if not names or name in names else ():
            said = compare(function, kind)
            print(json.dumps({"name": name, "type": str(kind).removeprefix("torch."), "wrong": said}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
