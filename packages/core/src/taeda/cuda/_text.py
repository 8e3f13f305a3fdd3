"""Device text: the kernel tables of the processor with the headers of `csrc/cpu/simd/device` in
place of those of the same name.

Standard library only and nothing of taeda: tools read it before taeda is built.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

__all__ = [
    "ALONE",
    "CHAINED",
    "FAMILIES",
    "files",
    "headers",
    "kernel",
    "place",
    "root",
    "source",
]

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
    "special": "cpu/special.c",
    "bessel": "cpu/special_bessel.c",
    "airy": "cpu/special_airy.c",
    "probability": "cpu/special_probability.c",
    "complex_math": "cpu/pointwise/complex_math.c",
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
    "resample_grid": "cuda/kernels/resample_grid.h",
    "scan": "cuda/kernels/scan.h",
    "sort": "cuda/kernels/sort.h",
    "random": "cuda/kernels/random.h",
    "recurrent": "cuda/kernels/recurrent.h",
    "distance": "cuda/kernels/distance.h",
    "alignment": "cuda/kernels/alignment.h",
    "ranges": "cuda/kernels/ranges.h",
}
#: families without a table
ALONE = (
    "alignment",
    "attention",
    "conv",
    "convert",
    "distance",
    "indexing",
    "loss",
    "matmul",
    "norm",
    "optim",
    "pooling",
    "random",
    "ranges",
    "recurrent",
    "reduce",
    "resample",
    "resample_grid",
    "scan",
    "softmax",
    "sort",
)
#: tables that are text of chains, too: their rows are vector expressions
CHAINED = (
    *("unary", "unary_real", "binary", "binary_real", "ternary", "activation"),
    *("compare", "logical"),
)
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
    return (root() / place(name, kind)).read_text()


def place(name: str, kind: str = "device") -> str:
    """Where that text stands below `root()`: a folder of headers may have one in place of the processor's."""
    path = Path(name)
    instead = path.parent / kind / path.name
    return str(instead) if (root() / instead).is_file() else name


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
    found: set[str] = set()
    for family, path in FAMILIES.items():
        for kind in ("device", "chain") if family in CHAINED else ("device",):
            names = (name for name, text in headers(path, kind).items() if text)
            found.update(place(name, kind) for name in (path, *names))
    return sorted(found)


@cache
def kernel(family: str) -> str:
    """The program text of a family: its table is cut off, for a device has loops by their symbols."""
    text = source(FAMILIES[family])
    return (
        "#define TD_DEVICE 1\n"
        + re.split(r"^const td_loop_entry TD_TABLE", text, flags=re.MULTILINE)[0]
    )
