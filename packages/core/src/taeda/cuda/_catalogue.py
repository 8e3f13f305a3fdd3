"""Every program that the operators may ask for, by the names under which `python -m taeda.cuda.warm`
chooses them. `tools/cuda/cuda_rows.py` fails where a row asks for one that is not here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product
from typing import NamedTuple

from . import _programs

__all__ = ["Program", "groups", "programs"]


class Program(NamedTuple):
    """What `_programs.program` is asked for; `dtype` and `source` are names of `_programs.DTYPES`."""

    kind: str
    name: str
    dtype: str
    source: str
    how: str


class Group(NamedTuple):
    """Programs of one kind: each of `names` in each of `dtypes` by each of `hows`. `always`: they
    serve tensors of any dtype.
    """

    kind: str
    names: tuple[str, ...]
    hows: tuple[str, ...]
    dtypes: tuple[str, ...]
    always: bool = False


WHOLE, REAL, SHORT = _programs.WHOLE, _programs.REAL, _programs.SHORT
COMPLEX = ("C64", "C128")
SIZES = ("U8", "I16", "I32", "I64", "C128")  # elements that are only moved: one of each size
NUMBERS = (*WHOLE, *SHORT, *REAL)
CELLS = ("lstm", "gru", "tanh", "relu")
PAIRS = ("mse", "l1", "smoothl1", "huber", "softmargin", "bce", "bcelogits")
MODES = ("linear", "nearest", "cubic")
PUTS = ("copy", "add", "mul", "div", "max", "min")
#: by the name that chooses them
KINDS: dict[str, tuple[Group, ...]] = {
    "matmul": (
        Group("product", ("product",), ("product_together",), (*NUMBERS, *COMPLEX)),
        Group("product", ("product",), ("product_wide_together",), SHORT),
    ),
    "softmax": (Group("softmax", ("softmax",), ("softmax_together", "softmax_alone"), REAL),),
    "conv": (
        Group("conv", ("forward", "data"), ("conv_alone",), (*NUMBERS, *COMPLEX)),
        Group("conv", ("weight",), ("conv_together",), (*NUMBERS, *COMPLEX)),
        Group(
            "conv",
            ("columns", "seen", "bias"),
            ("conv_alone",),
            (*SHORT, *REAL, *COMPLEX),
        ),
    ),
    "attention": (
        Group("attention", ("weights", "slopes"), ("attention_together",), (*SHORT, "F32")),
        Group("attention", ("move",), ("attention_alone",), (*SHORT, "F32")),
        Group("attention", ("round",), ("attention_alone",), SHORT),
    ),
    "norm": (
        Group("norm", ("rows", "slope", "sums", "moments"), ("norm_together",), REAL),
        Group(
            "norm",
            ("weights", "joined", "columns", "column_total", "scaled", "mixed"),
            ("norm_alone",),
            REAL,
        ),
        Group(
            "numbers",
            (
                *("inverse", "running", "scale", "mix", "gradient", "together", "spread"),
                *("group_mix", "group_gradient"),
            ),
            ("numbers_alone",),
            ("F64",),
            True,
        ),
    ),
    "loss": (
        Group("loss", tuple(f"sum_{p}" for p in PAIRS), ("loss_sum_together",), REAL),
        Group(
            "loss",
            (
                *(f"{work}_{p}" for work in ("each", "slope") for p in PAIRS),
                *("pick", "columns", "scales", "gradient"),
            ),
            ("loss_alone",),
            REAL,
        ),
        Group("loss", ("rows",), ("loss_rows_together",), REAL),
        Group("loss", ("one", "two"), ("loss_join_together",), ("F64",), True),
        Group("loss", ("margins",), ("loss_margins_together",), REAL),
    ),
    "optim": (
        Group("optim", ("sgd", "adam", "adagrad", "number"), ("optim_alone",), (*SHORT, *REAL)),
        Group("optim", ("counts",), ("optim_alone",), REAL[:1]),
        Group("optim", ("powers",), ("optim_together",), (*SHORT, *REAL)),
    ),
    "pooling": (
        Group("pooling", ("max", "max_backward", "adaptive_max"), ("pooling_alone",), NUMBERS[1:]),
        Group(
            "pooling",
            (
                *("average", "average_backward"),
                *("adaptive_average", "adaptive_average_backward"),
            ),
            ("pooling_alone",),
            NUMBERS[1:],
        ),
    ),
    "dropout": (
        Group("random", ("dropout", "masked"), ("random_alone",), (*SHORT, *REAL, *COMPLEX)),
    ),
    "arange": (Group("ranges", ("steps",), ("ranges_alone",), ("I64", *REAL), True),),
    "alignment": (Group("alignment", ("steps",), ("alignment_together",), REAL),),
    "distance": (
        Group(
            "distance",
            tuple(f"{way}{norm}" for way in ("", "pull_") for norm in ("one", "two", "inf", "p")),
            ("distance_alone",),
            REAL,
        ),
    ),
    "recurrent": (
        Group(
            "recurrent",
            ("begin", *(f"{cell}_{way}" for cell in CELLS for way in ("forward", "backward"))),
            ("recurrent_alone",),
            REAL,
        ),
    ),
    "resample": (
        Group("resample", ("planes", "adjoint", "deep", "undeep"), ("resample_alone",), REAL),
    ),
    "grid_sample": (
        Group(
            "resample_grid",
            (
                *(f"{work}_{mode}" for work in ("values", "pairs") for mode in MODES),
                *("by_grid_linear", "by_grid_cubic", "by_in"),
            ),
            ("resample_grid_alone",),
            REAL,
        ),
        Group("sort", ("merge",), ("sort_alone",), ("F32",), True),
    ),
    "scan": (
        Group("scan", ("total", "before", "logsumexp"), ("scan_alone",), REAL),
        Group("scan", ("sum", "prod", "max", "min"), ("scan_alone",), NUMBERS),
        Group("scan", ("triangle",), ("scan_alone",), SIZES, True),
    ),
    "sort": (
        Group("sort", ("make", "write", "rank"), ("sort_alone",), NUMBERS),
        Group("sort", ("merge",), ("sort_alone",), ("F32",), True),
        Group("search", ("place",), ("search_alone",), NUMBERS[1:]),
    ),
    "indexing": (
        Group("places", ("take", "gather", "fill"), ("places_alone",), SIZES, True),
        Group("places", ("offsets", "keys"), ("places_alone",), ("I64",), True),
        Group("sort", ("merge",), ("sort_alone",), ("F32",), True),
        Group(
            "places",
            tuple(f"{work}_{put}" for work in ("put", "scatter") for put in PUTS),
            ("places_alone",),
            (*NUMBERS, *COMPLEX),
        ),
    ),
}
REDUCE = ("reduce_together", "reduce_alone", "reduce_join")
WALKS = ("flat", "strided")


def groups() -> list[str]:
    """The names by which programs are chosen: elementwise loops, reductions, and works of their own."""
    loops = {key.partition(" ")[0] for key in _programs.loops()}
    return sorted({*loops, *_programs.REDUCERS, *KINDS})


def programs(names: Iterable[str], dtypes: Iterable[str]) -> list[Program]:
    """The programs behind `names` for tensors of `dtypes` (names of `_programs.DTYPES`), copies and
    conversions between them included. 16-bit floats are computed in float32 where there is nothing
    shorter.
    """
    wanted = dict.fromkeys(dtypes)
    if any(dtype in wanted for dtype in SHORT):
        wanted["F32"] = None
    found = [*_moves(tuple(wanted))]
    for name in names:
        found += _of(name, tuple(wanted))
    return list(dict.fromkeys(found))


def _moves(dtypes: tuple[str, ...]) -> Iterator[Program]:
    for how in WALKS:
        for size in SIZES:
            yield Program("copy", "copy", size, size, how)
        for dtype in ("I16", *REAL):
            yield Program("negate", "negate", dtype, dtype, how)
        for to, source in product(dtypes, dtypes):
            if to != source and not any(d.startswith(("F8_", "Q")) for d in (to, source)):
                yield Program("cast", "cast", to, source, how)


def _of(name: str, dtypes: tuple[str, ...]) -> Iterator[Program]:
    for dtype, how in product(dtypes, WALKS):
        if f"{name} {dtype}" in _programs.loops():
            yield Program("loop", name, dtype, dtype, how)
    for dtype, how in product(dtypes, REDUCE):
        if dtype in _programs.REDUCERS.get(name, ()):
            yield Program("reduce", name, dtype, dtype, how)
    for group in KINDS.get(name, ()):
        here = [d for d in group.dtypes if group.always or d in dtypes]
        for work, dtype, how in product(group.names, here, group.hows):
            yield Program(group.kind, work, dtype, dtype, how)
