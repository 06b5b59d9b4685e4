"""The values that the flags of ``atc`` can have, from the vendor's documents."""

import argparse
import os

# The chips that the simulator has; tests compare them with its table.
CHIPS = (
    "Ascend310", "Ascend310B1", "Ascend310B2", "Ascend310B3", "Ascend310B4", "Ascend310P1", "Ascend310P3",
    "Ascend310P5", "Ascend310P7", "Ascend910A", "Ascend910B", "Ascend910B1", "Ascend910B2", "Ascend910B2C",
    "Ascend910B3", "Ascend910B4", "Ascend910B4-1", "Ascend910PremiumA", "Ascend910ProA", "Ascend910ProB",
    "Ascend910_9362", "Ascend910_9372", "Ascend910_9381", "Ascend910_9382", "Ascend910_9391", "Ascend910_9392",
    "Ascend910_95",
)  # fmt: skip
SWITCH, TRUTH = ("0", "1"), ("true", "false")
KNOWN = {
    "ac_parallel_enable": SWITCH,
    "atomic_clean_policy": SWITCH,
    "auto_tune_mode": ("RL", "GA", "RL,GA", "GA,RL"),
    "buffer_optimize": ("l1_optimize", "l2_optimize", "off_optimize", "l1_and_l2_optimize"),
    "core_type": ("AiCore", "VectorCore"),
    "deterministic": SWITCH,
    "disable_reuse_memory": SWITCH,
    "enable_compress_weight": TRUTH,
    "enable_single_stream": TRUTH,
    "enable_small_channel": SWITCH,
    "external_weight": ("0", "1", "2"),
    "host_env_cpu": ("x86_64", "aarch64"),
    "host_env_os": ("linux",),
    "is_input_adjust_hw_layout": TRUTH,
    "is_output_adjust_hw_layout": TRUTH,
    "log": ("debug", "info", "warning", "error", "null"),
    "op_compiler_cache_mode": ("enable", "disable", "force"),
    "op_debug_level": ("0", "1", "2", "3", "4"),
    "op_select_implmode": (
        "high_performance", "high_precision", "high_performance_for_all", "high_precision_for_all",
        "enable_float_32_execution", "enable_hi_float_32_execution", "support_out_of_bound_index",
    ),
    "precision_mode": (
        "force_fp16", "force_fp32", "cube_fp16in_fp32out", "allow_fp32_to_fp16", "must_keep_origin_dtype",
        "allow_mix_precision", "allow_mix_precision_fp16", "allow_mix_precision_bf16",
    ),
    "precision_mode_v2": ("fp16", "origin", "cube_fp16in_fp32out", "mixed_float16", "mixed_bfloat16"),
    "quant_dumpable": SWITCH,
    "soc_version": CHIPS,
    "sparsity": SWITCH,
    "status_check": SWITCH,
    "tiling_schedule_optimize": SWITCH,
    "virtual_type": SWITCH,
}  # fmt: skip
FILES = ("compress_weight_conf", "fusion_switch_file", "insert_op_conf", "op_debug_config", "op_precision_mode")
# Flags that may be given without a value, which then selects the default, as in the vendor's tool.
BARE = ("enable_small_channel",)


class Refused(ValueError):
    """Raised when no model file is written; the text is the reason, as one sentence."""


def check(flags: argparse.Namespace) -> None:
    """Refuse values that the vendor's tool does not know, and files that do not exist.

    Raises
    ------
    Refused
        With the known values.
    """
    for name, known in KNOWN.items():
        text = getattr(flags, name, None)
        if text is None or text in known or (text == "" and (name in BARE or name == "soc_version")):
            continue
        raise Refused(f"--{name}={text} is not supported, expected one of {', '.join(known)}")
    for name in FILES:
        text = getattr(flags, name, None)
        if text is not None and not os.path.isfile(text):
            raise Refused(f"--{name}={text} is not an existing file")
    cores = flags.aicore_num
    if cores is not None and not (cores.isascii() and cores.isdigit() and int(cores) > 0):
        raise Refused(f"--aicore_num={cores} is not supported, expected a number above 0")
