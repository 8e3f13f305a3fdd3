"""Instruction counts of 46 kernels, from machine code that NVRTC makes for sm_90, and what they allow."""

from __future__ import annotations

import json
import re
from pathlib import Path

import device_text_nvrtc
import sass

LIST = Path(__file__).with_name("device_sass.json")
ARCH = 90
#: an H100: multiprocessors, lanes that start an instruction each cycle, cycles a second, bytes a second
PROCESSORS, LANES, CYCLES, BYTES = 132, 128, 1.755e9, 3.0e12
SLOTS = PROCESSORS * LANES * CYCLES / BYTES  # instructions of a thread for each byte of memory
REGISTERS, THREADS = 65536, 2048  # of a multiprocessor

#: family: kernels, as NVRTC names them, and where the loop goes over elements of memory how many of them a
#: turn takes and how many bytes each of them is
KERNELS: dict[str, dict[str, tuple[int, int] | None]] = {
    "binary": {
        "td_flat<add_f32>": (4, 12), "td_flat<add_bf16>": (4, 6), "td_flat<mul_f32>": (4, 12),
        "td_flat<div_f32>": (4, 12), "td_strided<add_f32>": (1, 12), "td_strided<add_bf16>": (1, 6),
    },
    "unary": {
        "td_flat<exp_f32>": (4, 8), "td_flat<exp_bf16>": (4, 4), "td_flat<tanh_f32>": (4, 8),
        "td_flat<sigmoid_f32>": (4, 8), "td_flat<sqrt_f32>": (4, 8),
    },
    "unary_real": {"td_flat<relu_f32>": (4, 8), "td_flat<relu_bf16>": (4, 4)},
    "activation": {
        "td_flat<gelu_f32> erf": (4, 8), "td_flat<gelu_f32> tanh": (4, 8), "td_flat<gelu_bf16> erf": (4, 4),
        "td_flat<gelu_bf16> tanh": (4, 4), "td_flat<silu_f32>": (4, 8), "td_flat<silu_bf16>": (4, 4),
    },
    "ternary": {"td_flat<where_4>": (4, 13)},
    "convert": {"td_flat<td_cast<TD_BF16, TD_F32>>": (4, 6), "td_flat<td_cast<TD_F32, TD_BF16>>": (4, 6)},
    "random": {"td_random_alone<td_random_dropout<TD_F32>>": (4, 9)},
    "optim": {
        "td_optim_alone<td_optim_adam<TD_F32>>": (1, 28), "td_optim_alone<td_optim_sgd<TD_F32>>": (1, 20),
    },
    "reduce": {
        "td_reduce_together<td_sum_real<TD_F32>>": None, "td_reduce_together<td_max<TD_F32>>": None,
        "td_reduce_parts_together<td_sum_real<TD_F32>>": None,
        "td_reduce_columns_together<td_sum_real<TD_F32>>": None,
        "td_reduce_together<td_sum_real<TD_BF16>>": None,
    },
    "softmax": {"td_softmax_together<float>": None},
    "norm": {"td_norm_together<td_norm_rows<float>>": None, "td_norm_together<td_norm_slope<float>>": None},
    "loss": {
        "td_loss_rows_together<float>": None, "td_loss_alone<td_loss_gradient<float>>": (1, 8),
        "td_loss_sum_together<td_pair_mse, float>": None,
    },
    "attention": {
        "td_attention_together<td_attention_weights<TD_BF16>>": None,
        "td_attention_together<td_attention_slopes<TD_BF16>>": None,
    },
    "conv": {
        "td_conv_alone<td_conv_columns<TD_BF16>>": None, "td_conv_alone<td_conv_seen<TD_BF16>>": None,
        "td_conv_together<td_conv_weight<TD_F32>>": None,
    },
    "indexing": {
        "td_places_alone<td_place_take<TD_I32>>": (1, 8),
        "td_places_alone<td_place_put<td_put_add, TD_F32>>": (1, 12),
    },
    "matmul": {"td_product_together<TD_F32>": None},
    "sort": {"td_sort_alone<td_sort_merge<TD_F32>>": (1, 32)},
    "scan": {"td_scan_alone<td_scan_sum<TD_F32>>": None},
}  # fmt: skip


#: a call goes one way only of what a kernel asks of its arguments: a word behind its name fixes it
FIXED = {
    "": ("", ""),
    "erf": ("CHOOSE(gelu, 1, is_tanh(context, 1),", "CHOOSE(gelu, 1, 0,"),
    "tanh": ("CHOOSE(gelu, 1, is_tanh(context, 1),", "CHOOSE(gelu, 1, 1,"),
}


def measured() -> dict[str, dict[str, int]]:
    """The counts of every kernel, and its registers."""
    nvrtc, found = device_text_nvrtc.library(), {}
    for family, names in KERNELS.items():
        for name in names:
            kernel, way = name.split(" ") if name.split(" ")[-1] in FIXED else (name, "")
            log, cubin = device_text_nvrtc.machine_code(nvrtc, family, kernel, ARCH, FIXED[way])
            (counts,) = sass.kernels(cubin).values()
            registers = int(re.findall(r"Used (\d+) registers", log)[0])
            found[name] = {**counts._asdict(), "registers": registers}
    return found


def share(turn: tuple[int, int], loop: int, registers: int) -> tuple[float, float]:
    """What part of a multiprocessor's threads fit, and of the memory's speed the instructions allow."""
    elements, size = turn
    rounded = (registers + 7) // 8 * 8
    fit = min(THREADS, REGISTERS // rounded // 32 * 32) / THREADS
    return fit, min(1.0, SLOTS * size * elements / loop)


def report(found: dict[str, dict[str, int]]) -> str:
    """A table for docs/cuda.md."""
    lines = [
        "| kernel | instructions a turn | an element | bytes an element | occupancy | share of the roof |"
    ]
    lines.append("|---|---|---|---|---|---|")
    for names in KERNELS.values():
        for name, turn in names.items():
            counts = found[name]
            if turn is None or not counts["loop"]:
                continue
            fit, part = share(turn, counts["loop"], counts["registers"])
            lines.append(
                f"| `{name}` | {counts['loop']} | {counts['loop'] / turn[0]:.0f} | {turn[1]} | "
                f"{100 * fit:.0f} % | {100 * part:.0f} % |"
            )
    return "\n".join(lines)


def check(write: bool) -> int:
    """Hold the counts to the list, or write it anew; the exit status."""
    found = measured()
    print(report(found))
    if write:
        LIST.write_text(json.dumps(found, indent=1) + "\n")
        return 0
    held = json.loads(LIST.read_text())
    wrong = [
        f"{name}: {key} {value}, the list has {held.get(name, {}).get(key)}"
        for name, counts in found.items()
        for key, value in counts.items()
        if value > held.get(name, {}).get(key, -1)
    ]
    print("\n".join(wrong))
    return bool(wrong)
