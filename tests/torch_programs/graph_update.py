"""Captures fused attention in an NPUGraph, updates the lengths of its sequences, and replays, beside eager code.

``python graph_update.py [NAME...]`` needs torch and torch_npu, and a toolkit of the simulator. It prints one JSON object
per operator: ``away`` is the greatest distance of the replays from eager code, and ``moved`` the least distance of the
results of different lengths.
"""

import json
import sys

import torch
import torch_npu

BATCHES, HEADS, ROWS, DEPTH = 2, 4, 32, 64
CASES = {}


def case(function):
    """Register a function that takes lengths of the keys, and returns the result of attention."""
    CASES[function.__name__] = function
    return function


def operands(rows=1):
    """Return random queries, keys and values on the NPU, with heads side by side."""
    torch.manual_seed(5)
    return [torch.randn(BATCHES, count, HEADS * DEPTH).half().npu() for count in (rows, ROWS, ROWS)]


STEP = operands()
ROOM = torch.empty(1 << 16, dtype=torch.uint8, device="npu")
FIRST = {"num_heads": HEADS, "input_layout": "BSH", "scale": DEPTH**-0.5}
SECOND = {"num_query_heads": HEADS, "input_layout": "BSH", "softmax_scale": DEPTH**-0.5}


def results():
    """Return tensors for the results of an operator that gets them."""
    return [torch.empty_like(STEP[0]), torch.empty(1, device="npu")]


@case
def fused(lengths):
    return torch_npu.npu_fused_infer_attention_score(*STEP, actual_seq_lengths_kv=lengths, **FIRST)[0]


@case
def fused_with_results(lengths):
    options = {"actual_seq_lengths_kv": lengths, "workspace": ROOM, "out": results()}
    return torch_npu.npu_fused_infer_attention_score.out(*STEP, **options, **FIRST)[0]


@case
def second(lengths):
    return torch_npu.npu_fused_infer_attention_score_v2(*STEP, actual_seq_kvlen=lengths, **SECOND)[0]


@case
def second_with_results(lengths):
    options = {"actual_seq_kvlen": lengths, "workspace": ROOM, "out": results()}
    return torch_npu.npu_fused_infer_attention_score_v2.out(*STEP, **options, **SECOND)[0]


@case
def two_layers(lengths):
    middle = torch_npu.npu_fused_infer_attention_score(*STEP, actual_seq_lengths_kv=lengths, **FIRST)[0]
    middle = torch.nn.functional.gelu(middle, approximate="tanh") + 1
    return torch_npu.npu_fused_infer_attention_score(middle, *STEP[1:], actual_seq_lengths_kv=lengths, **FIRST)[0]


def compare(function):
    """Return the distances of the results."""
    different = [[5, 9], [32, 1], [17, 32]]
    wanted = [function(lengths).cpu().float() for lengths in different]
    graph, captured = torch.npu.NPUGraph(), [ROWS, ROWS]
    with torch.npu.graph(graph, auto_dispatch_capture=True):
        y = function(captured)
    key = "actual_seq_kvlen" if function.__name__.startswith("second") else "actual_seq_lengths_kv"
    found = []
    for lengths in different:
        graph.update(cpu_update_input=[{key: lengths}])
        graph.replay()
        torch.npu.synchronize()
        found.append(y.cpu().float())
    away = max((one - other).abs().max().item() for one, other in zip(found, wanted))
    moved = min((one - other).abs().max().item() for one, other in zip(wanted, wanted[1:]))
    return {"away": away, "moved": moved, "records": len(graph.graph_dispatch_mode.graph_dispatch_records)}


if __name__ == "__main__":
    for name in sys.argv[1:] or CASES:
        print(json.dumps({"name": name, **compare(CASES[name])}), flush=True)
