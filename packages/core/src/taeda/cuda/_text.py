"""Device text: the kernel tables of the processor with the headers of `csrc/cpu/simd/device` in
place of those of the same name.

Standard library only and nothing of taeda: tools read it before taeda is built.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

__all__ = ["ALONE", "DTYPES", "FAMILIES", "files", "headers", "kernel", "root", "source"]

#: tables of loops that compile as device text and where their lines stand; then what is device text alone
FAMILIES = {
    "unary": "cpu/pointwise/unary.c",
    "unary_real": "cpu/pointwise/unary_real.c",
    "binary": "cpu/pointwise/binary.c",
    "binary_real": "cpu/pointwise/binary_real.c",
    "ternary": "cpu/pointwise/ternary.c",
    "compare": "cpu/pointwise/compare.c",
    "bitwise": "cpu/pointwise/bitwise.c",
    "logical": "cpu/pointwise/logical.c",
    "activation": "cpu/activation.c",
    "convert": "cpu/simd/device/convert.h",
    "reduce": "cuda/kernels/reduce.h",
    "matmul": "cuda/kernels/matmul.h",
    "softmax": "cuda/kernels/softmax.h",
    "indexing": "cuda/kernels/indexing.h",
    "loss": "cuda/kernels/loss.h",
    "conv": "cuda/kernels/conv.h",
    "norm": "cuda/kernels/norm.h",
    "attention": "cuda/kernels/attention.h",
    "optim": "cuda/kernels/optim.h",
    "pooling": "cuda/kernels/pooling.h",
    "resample": "cuda/kernels/resample.h",
    "scan": "cuda/kernels/scan.h",
    "sort": "cuda/kernels/sort.h",
    "random": "cuda/kernels/random.h",
    "recurrent": "cuda/kernels/recurrent.h",
}
#: families without a table
ALONE = (
    "attention",
    "conv",
    "convert",
    "indexing",
    "loss",
    "matmul",
    "norm",
    "optim",
    "pooling",
    "random",
    "recurrent",
    "reduce",
    "resample",
    "scan",
    "softmax",
    "sort",
)
#: dtypes in the order of their numbers
DTYPES = (
    *("BOOL", "U8", "I8", "I16", "I32", "I64", "U16", "U32", "U64", "F16", "BF16", "F32", "F64"),
    *("C32", "C64", "C128", "F8_E4M3FN", "F8_E5M2", "F8_E4M3FNUZ", "F8_E5M2FNUZ", "F8_E8M0FNU"),
    *("QINT8", "QUINT8", "QINT32", "QUINT4X2", "QUINT2X4"),  # no device text computes in these
)
#: folders of headers in place of the processor's: for devices, and for `taeda/_chain_text.py`
KINDS = ("device", "chain")
INCLUDE = re.compile(r'^\s*#include\s+"([^"]+)"', re.MULTILINE)
LIBRARY = ("complex.h", "float.h", "math.h", "stdbool.h", "stdint.h", "stdlib.h", "string.h")


@cache
def root() -> Path:
    """The folder of the texts: beside this file in a wheel, the checkout's csrc otherwise."""
    packed = Path(__file__).parent / "text"
    return packed if packed.is_dir() else Path(__file__).parents[3] / "csrc"


@cache
def source(name: str, kind: str = "device") -> str:
    """The text that `#include "name"` means on a device, or in a text of another kind ("chain")."""
    path = Path(name)
    instead = root() / path.parent / kind / path.name
    return (instead if instead.is_file() else root() / name).read_text()


@cache
def headers(name: str, kind: str = "device") -> dict[str, str]:
    """Every header that the text `name` includes, by the name it is included under; the C library's
    are empty.
    """
    found: dict[str, str] = dict.fromkeys(LIBRARY, "")
    waiting = [name]
    while waiting:
        for included in INCLUDE.findall(source(waiting.pop(), kind)):
            if included not in found:
                found[included] = source(included, kind)
                waiting.append(included)
    return found


def files() -> list[str]:
    """Every text that a wheel carries, by its path below `root()`."""
    names = set(FAMILIES.values())
    for family, path in FAMILIES.items():
        for kind in ("device",) if family in ALONE else KINDS:
            names.update(name for name, text in headers(path, kind).items() if text)
    shadows = {str(Path(name).parent / kind / Path(name).name) for name in names for kind in KINDS}
    return sorted({*names, *(name for name in shadows if (root() / name).is_file())})


@cache
def kernel(family: str) -> str:
    """The program text of a family: its table is cut off, for a device has loops by their symbols."""
    text = source(FAMILIES[family])
    return (
        "#define TD_DEVICE 1\n"
        + re.split(r"^const td_loop_entry TD_TABLE", text, flags=re.MULTILINE)[0]
    )
