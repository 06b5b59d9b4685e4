"""Captures fused attention in an NPUGraph, updates the lengths of its sequences, and replays, beside eager code.

``python graph_update.py [NAME...]`` needs torch and torch_npu, and a toolkit of the simulator. It prints one JSON
object per operator: ``away`` is the greatest distance of the replays from eager code, ``moved`` the least distance
between the results of different lengths, and ``records`` the number of operators that were updated.
"""

import json
import sys

import torch
import torch_npu

BATCHES, HEADS, ROWS, DEPTH = 2, 4, 32, 64
ROOM = torch.empty(1 << 16, dtype=torch.uint8, device="npu")
CASES = {}


def case(*names):
    """Register a function that takes lengths, the arguments of these names, and returns the result of attention."""

    def put(function):
        CASES[function.__name__] = function, names
        return function

    return put


def normal(*shape):
    """Return random numbers on the NPU."""
    return torch.randn(shape).half().npu()


torch.manual_seed(5)
STEP = [normal(BATCHES, rows, HEADS * DEPTH) for rows in (1, ROWS, ROWS)]
PACKED = [normal(ROWS, HEADS, DEPTH) for _ in "qkv"]
SLOPES = normal(ROWS, HEADS, DEPTH)
FIRST = {"num_heads": HEADS, "input_layout": "BSH", "scale": DEPTH**-0.5}
SECOND = {"num_query_heads": HEADS, "input_layout": "BSH", "softmax_scale": DEPTH**-0.5}


def results():
    """Return a workspace, and tensors for the results of an operator that gets them."""
    return {"workspace": ROOM, "out": [torch.empty_like(STEP[0]), torch.empty(1, device="npu")]}


@case("actual_seq_lengths_kv")
def first(lengths):
    return torch_npu.npu_fused_infer_attention_score(*STEP, actual_seq_lengths_kv=lengths, **FIRST)[0]


@case("actual_seq_lengths_kv")
def first_with_results(lengths):
    operator = torch_npu.npu_fused_infer_attention_score.out
    return operator(*STEP, actual_seq_lengths_kv=lengths, **FIRST, **results())[0]


@case("actual_seq_kvlen")
def second(lengths):
    return torch_npu.npu_fused_infer_attention_score_v2(*STEP, actual_seq_kvlen=lengths, **SECOND)[0]


@case("actual_seq_kvlen")
def second_with_results(lengths):
    operator = torch_npu.npu_fused_infer_attention_score_v2.out
    return operator(*STEP, actual_seq_kvlen=lengths, **SECOND, **results())[0]


@case("actual_seq_lengths_kv")
def two_layers(lengths):
    middle = torch.tanh(first(lengths)) + 1
    return torch_npu.npu_fused_infer_attention_score(middle, *STEP[1:], actual_seq_lengths_kv=lengths, **FIRST)[0]


@case("actual_seq_qlen", "actual_seq_kvlen")
def training(lengths):
    ends = torch.tensor([lengths[0], ROWS])
    both = {"actual_seq_qlen": ends, "actual_seq_kvlen": ends}
    y, most, total, *_ = torch_npu.npu_fusion_attention_v3(*PACKED, HEADS, "TND", scale=DEPTH**-0.5, **both)
    both.update(softmax_max=most, softmax_sum=total, attention_in=y, scale_value=DEPTH**-0.5)
    slopes = torch_npu.npu_fusion_attention_grad_v3(*PACKED, SLOPES, HEADS, "TND", **both)
    return torch.cat([each.float().flatten() for each in (y, *slopes[:3])])


def compare(function, names):
    """Return the distances of the results."""
    different = [[5, 9], [31, 1], [17, 32]]
    wanted = [function(lengths).cpu().float() for lengths in different]
    graph = torch.npu.NPUGraph()
    with torch.npu.graph(graph, auto_dispatch_capture=True):
        y = function([ROWS, ROWS])
    found = []
    for lengths in different:
        given = torch.tensor([lengths[0], ROWS]) if len(names) > 1 else lengths
        graph.update(cpu_update_input=[dict.fromkeys(names, given)])
        graph.replay()
        torch.npu.synchronize()
        found.append(y.cpu().float())
    away = max((one - other).abs().max().item() for one, other in zip(found, wanted))
    moved = min((one - other).abs().max().item() for one, other in zip(wanted, wanted[1:]))
    return {"away": away, "moved": moved, "records": len(graph.graph_dispatch_mode.graph_dispatch_records)}


if __name__ == "__main__":
    for name in sys.argv[1:] or CASES:
        print(json.dumps({"name": name, **compare(*CASES[name])}), flush=True)
