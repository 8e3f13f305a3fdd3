"""Families of device text, a row each: where the text stands, its programs and how they are called.

A new family of CUDA kernels is a row here, its kernels (`csrc/cuda/kernels/<family>.h`), its launch
(`csrc/cuda/<family>.c`, a line of `csrc/cuda/workers.h`) and a test. Standard library only and nothing of
taeda.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

__all__ = ["ALONE", "CHAINED", "FAMILIES", "TABLES", "Family", "Programs", "find", "tried"]

WHOLE = ("BOOL", "U8", "I8", "I16", "I32", "I64", "U16", "U32", "U64")
REAL, SHORT, COMPLEX = ("F32", "F64"), ("F16", "BF16"), ("C64", "C128")
NUMBERS = (*WHOLE, *SHORT, *REAL)
SIZES = ("U8", "I16", "I32", "I64", "C128")  # elements that are only moved: one of each size
WALKS = ("flat", "strided")
REDUCE = (
    *("reduce_together", "reduce_alone", "reduce_join"),
    *("reduce_parts_together", "reduce_pieces_together", "reduce_outputs_together"),
)
COLUMNS = ("sum", "nansum", "norm1", "norm2")  # added four rows at a time, of floats
CELLS = ("lstm", "gru", "tanh", "relu")
CASTS = ("F32 F64", "BF16 F32", "F16 F64", "I32 F32", "U64 F64", "BOOL C64", "C128 F16", "I8 I64")


class Programs(NamedTuple):
    """Programs of one kind: each of `names` in each of `dtypes` by each of `hows`.

    `symbol` is the argument of the kernel `td_<how>`, with the fields of `symbol_of`. `always`: they
    serve tensors of any dtype. `tried` are the dtypes in which `tools/cuda/device_text.py --nvrtc`
    compiles them ("to source" for casts); None: all.
    """

    kind: str
    names: tuple[str, ...]
    hows: tuple[str, ...]
    dtypes: tuple[str, ...]
    symbol: str
    always: bool = False
    tried: tuple[str, ...] | None = None

    def symbol_of(self, name: str, dtype: str, source: str = "") -> str:
        """The symbol of one of them. `real` is the dtype in C, `work` and `part` are the name's halves.

        >>> FAMILIES["loss"].programs[1].symbol_of("each_mse", "F64")
        'td_loss_each<td_pair_mse, double>'
        """
        work, _, part = name.partition("_")
        real = "double" if dtype == "F64" else "float"
        return self.symbol.format(
            name=name, work=work, part=part, dtype=dtype, source=source, real=real
        )


class Family(NamedTuple):
    """`text` is a path below `csrc`. `chosen` is the name by which `python -m taeda.cuda.warm` chooses its
    programs, where it is not the family's. `table`: its lines are loops of the op table; `chained`: they are
    vector expressions, text of chains too. `beside`: programs of other families that it launches.
    """

    text: str
    programs: tuple[Programs, ...] = ()
    chosen: str = ""
    table: bool = False
    chained: bool = False
    beside: tuple[Programs, ...] = ()


def _table(text: str, chained: bool = False) -> Family:
    return Family(text, table=True, chained=chained)


def _own(
    kind: str,
    names: tuple[str, ...],
    how: str,
    dtypes: tuple[str, ...],
    always: bool = False,
    tried: tuple[str, ...] | None = None,
) -> Programs:
    """Programs whose symbols are `td_<kind>_<name><dtype>`."""
    symbol = f"td_{kind}_{{name}}<TD_{{dtype}}>"
    return Programs(kind, names, (f"{kind}_{how}",), dtypes, symbol, always, tried)


def _reducer(
    name: str, dtypes: tuple[str, ...], tried: tuple[str, ...] = (), symbol: str = ""
) -> Programs:
    columns = ("reduce_columns_together",) * (name in COLUMNS and dtypes != WHOLE)
    symbol = f"td_{symbol or name}<TD_{{dtype}}>"
    return Programs("reduce", (name,), (*REDUCE, *columns), dtypes, symbol, tried=tried)


def _puts(names: tuple[str, ...], tried: tuple[str, ...] = ()) -> Programs:
    works = tuple(f"{work}_{put}" for work in ("put", "scatter") for put in names)
    symbol = "td_place_{work}<td_put_{part}, TD_{dtype}>"
    return Programs("places", works, ("places_alone",), (*NUMBERS, *COMPLEX), symbol, tried=tried)


def _pairs(names: tuple[str, ...], tried: tuple[str, ...] = REAL) -> tuple[Programs, Programs]:
    """Losses of two tensors: their sums, and each element with its slope."""
    sums = tuple(f"sum_{name}" for name in names)
    each = tuple(f"{work}_{name}" for work in ("each", "slope") for name in names)
    symbol = "td_loss_{work}<td_pair_{part}, {real}>"
    return (
        Programs("loss", sums, ("loss_sum_together",), REAL, "td_pair_{part}, {real}", tried=tried),
        Programs("loss", each, ("loss_alone",), REAL, symbol, tried=tried),
    )


PLACE = "td_place_{name}<TD_{dtype}>"
MERGE = _own("sort", ("merge",), "alone", ("F32",), always=True)
SOME = ("BOOL", "I16", "U64", "BF16", "F64")

#: tables of loops that compile as device text and where their lines stand; then what is device text alone
FAMILIES: dict[str, Family] = {
    "unary": _table("cpu/pointwise/unary.c", chained=True),
    "unary_real": _table("cpu/pointwise/unary_real.c", chained=True),
    "binary": _table("cpu/pointwise/binary.c", chained=True),
    "binary_real": _table("cpu/pointwise/binary_real.c", chained=True),
    "ternary": _table("cpu/pointwise/ternary.c", chained=True),
    "compare": _table("cpu/pointwise/compare.c", chained=True),
    "bitwise": _table("cpu/pointwise/bitwise.c"),
    "logical": _table("cpu/pointwise/logical.c", chained=True),
    "activation": _table("cpu/activation.c", chained=True),
    "special": _table("cpu/special.c"),
    "bessel": _table("cpu/special_bessel.c"),
    "airy": _table("cpu/special_airy.c"),
    "probability": _table("cpu/special_probability.c"),
    "polynomials": _table("cpu/special_polynomials.c"),
    "complex_math": _table("cpu/pointwise/complex_math.c"),
    "convert": Family("cpu/simd/device/convert.h", (
        Programs("cast", ("cast",), WALKS, (), "td_cast<TD_{dtype}, TD_{source}>", tried=CASTS),
        Programs("copy", ("copy",), WALKS, (), "td_copy_of<TD_{dtype}>", tried=("C128", "U8")),
        Programs("negate", ("negate",), WALKS, (), "td_negate<TD_{dtype}>", tried=("F64", "I16")),
    )),
    "reduce": Family("cuda/kernels/reduce.h", (
        _reducer("sum", WHOLE, ("I8", "I64"), "sum_whole"),
        _reducer("sum", REAL + SHORT, REAL + SHORT, "sum_real"),
        _reducer("prod", WHOLE, (), "prod_whole"),
        _reducer("prod", REAL, REAL, "prod_real"),
        _reducer("prod", COMPLEX, ("C64",), "prod_complex"),
        _reducer("nansum", REAL, REAL),
        _reducer("norm0", REAL),
        _reducer("norm1", REAL, REAL),
        _reducer("norm2", REAL + SHORT, REAL + SHORT),
        _reducer("normp", REAL, REAL),
        _reducer("absmin", REAL),
        _reducer("absmax", REAL, ("F32",)),
        _reducer("moments", REAL, REAL),
        _reducer("any", ("BOOL",), ("BOOL",)),
        _reducer("all", ("BOOL",)),
        _reducer("count", ("BOOL",), ("BOOL",)),
        _reducer("min", WHOLE + REAL + SHORT),
        _reducer("max", WHOLE + REAL + SHORT, ("U8", "I64", *REAL, *SHORT)),
        _reducer("argmin", WHOLE + REAL, ("U8", "I64", *REAL)),
        _reducer("argmax", WHOLE + REAL),
    )),
    "matmul": Family("cuda/kernels/matmul.h", (
        Programs("product", ("product",), ("product_together",), (*NUMBERS, *COMPLEX), "TD_{dtype}",
                 tried=(*REAL, *SHORT, "I64", "U8", *COMPLEX)),
        Programs("product", ("product",), ("product_wide_together",), SHORT, "TD_{dtype}"),
    )),
    "softmax": Family("cuda/kernels/softmax.h", (
        Programs("softmax", ("softmax",), ("softmax_together", "softmax_alone", "softmax_segments_together"),
                 REAL, "{real}"),
    )),
    "indexing": Family("cuda/kernels/indexing.h", (
        Programs("places", ("take", "gather", "fill"), ("places_alone",), SIZES, PLACE, True, ("U8", "C128")),
        Programs("places", ("offsets", "keys"), ("places_alone",), ("I64",), PLACE, True),
        _puts(("add", "mul"), (*SOME, "C64")),
        _puts(("max",), SOME),
        _puts(("min",)),
        _puts(("div",), ("I32",)),
        _puts(("copy",), ("C128",)),
    ), beside=(MERGE,)),
    "loss": Family("cuda/kernels/loss.h", (
        *_pairs(("mse", "smoothl1", "bce", "bcelogits")),
        *_pairs(("l1", "huber", "softmargin"), tried=()),
        Programs("loss", ("pick", "columns", "scales", "gradient"), ("loss_alone",), REAL,
                 "td_loss_{name}<{real}>"),
        Programs("loss", ("rows",), ("loss_rows_together",), REAL, "{real}"),
        Programs("loss", ("one", "two"), ("loss_join_together",), ("F64",), "td_loss_{name}", True),
        Programs("loss", ("margins",), ("loss_margins_together",), REAL, "{real}", tried=()),
    )),
    "conv": Family("cuda/kernels/conv.h", (
        _own("conv", ("forward", "data"), "alone", (*NUMBERS, *COMPLEX), tried=(*REAL, "I64", "C64")),
        _own("conv", ("weight",), "together", (*NUMBERS, *COMPLEX), tried=(*REAL, "I64", "C64")),
        _own("conv", ("columns", "seen", "bias"), "alone", (*SHORT, *REAL, *COMPLEX),
             tried=("BF16", *REAL, "C128")),
    )),
    "norm": Family("cuda/kernels/norm.h", (
        Programs("norm", ("rows", "slope", "sums", "moments", "product_parts", "products",
                          "sum_parts", "mean", "square_parts", "deviation"), ("norm_together",),
                 REAL, "td_norm_{name}<{real}>"),
        Programs("norm", ("weights", "joined", "columns", "column_total", "scaled", "mixed"),
                 ("norm_alone",), REAL, "td_norm_{name}<{real}>"),
        Programs("numbers", ("inverse", "running", "scale", "mix", "gradient", "together", "spread",
                             "group_mix", "group_gradient"), ("numbers_alone",), ("F64",),
                 "td_numbers_{name}", True),
    )),
    "attention": Family("cuda/kernels/attention.h", (
        _own("attention", ("weights", "slopes"), "together", (*SHORT, "F32")),
        _own("attention", ("move",), "alone", (*SHORT, "F32")),
        _own("attention", ("round",), "alone", SHORT, tried=("BF16",)),
    )),
    "optim": Family("cuda/kernels/optim.h", (
        _own("optim", ("sgd", "adam", "adagrad", "number"), "alone", (*SHORT, *REAL)),
        _own("optim", ("counts",), "alone", ("F32",)),
        _own("optim", ("powers",), "together", (*SHORT, *REAL)),
    )),
    "pooling": Family("cuda/kernels/pooling.h", (
        _own("pooling", ("max", "max_backward", "adaptive_max"), "alone", NUMBERS[1:],
             tried=(*REAL, "I32", "I64")),
        _own("pooling", ("average", "average_backward", "adaptive_average", "adaptive_average_backward"),
             "alone", NUMBERS[1:], tried=(*REAL, "I64")),
    )),
    "resample": Family("cuda/kernels/resample.h", (
        _own("resample", ("planes", "bytes"), "alone", ("F32",), always=True),  # images of bytes
        _own("resample", ("planes",), "alone", ("F64",)),
        _own("resample", ("adjoint", "deep", "undeep"), "alone", REAL),
    )),
    "resample_grid": Family("cuda/kernels/resample_grid.h", (
        _own("resample_grid", (*(f"{work}_{mode}" for work in ("values", "pairs")
                                 for mode in ("linear", "nearest", "cubic")),
                               "by_grid_linear", "by_grid_cubic", "by_in"), "alone", REAL),
    ), chosen="grid_sample", beside=(MERGE,)),
    "scan": Family("cuda/kernels/scan.h", (
        _own("scan", ("total",), "alone", REAL),
        _own("scan", ("logsumexp",), "alone", (*REAL, *COMPLEX)),
        _own("scan", ("before",), "alone", REAL, tried=("F32",)),
        _own("scan", ("exponents",), "alone", ("C128",), always=True),
        _own("scan", ("sum", "max", "min"), "alone", NUMBERS, tried=(*REAL, "I64")),
        _own("scan", ("prod",), "alone", (*NUMBERS, *COMPLEX), tried=(*REAL, "I64", "C64")),
        _own("scan", ("triangle",), "alone", SIZES, always=True),
    )),
    "sort": Family("cuda/kernels/sort.h", (
        _own("sort", ("make", "write", "rank"), "alone", NUMBERS,
             tried=("BOOL", "I8", "I64", "U64", "BF16", *REAL)),
        MERGE,
        _own("search", ("place",), "alone", NUMBERS[1:], tried=("I64", *REAL)),
    )),
    "random": Family("cuda/kernels/random.h", (
        _own("random", ("dropout", "masked"), "alone", (*SHORT, *REAL, *COMPLEX)),
    ), chosen="dropout"),
    "recurrent": Family("cuda/kernels/recurrent.h", (
        _own("recurrent", ("begin", *(f"{cell}_{way}" for cell in CELLS
                                      for way in ("forward", "backward"))), "alone", REAL),
    )),
    "distance": Family("cuda/kernels/distance.h", (
        _own("distance", tuple(f"{way}{norm}" for way in ("", "pull_")
                               for norm in ("one", "two", "inf", "p")), "alone", REAL),
    )),
    "alignment": Family("cuda/kernels/alignment.h", (_own("alignment", ("steps",), "together", REAL),)),
    "ranges": Family("cuda/kernels/ranges.h", (
        _own("ranges", ("steps",), "alone", ("I64", *REAL), always=True),
    ), chosen="arange"),
}  # fmt: skip
TABLES = tuple(name for name, family in FAMILIES.items() if family.table)
#: families without a table
ALONE = tuple(name for name, family in FAMILIES.items() if not family.table)
#: tables that are text of chains, too
CHAINED = tuple(name for name, family in FAMILIES.items() if family.chained)

_OF_NAME: dict[tuple[str, str], list[tuple[str, Programs]]] = {}
for _family, _row in FAMILIES.items():
    for _programs in _row.programs:
        for _name in _programs.names:
            _OF_NAME.setdefault((_programs.kind, _name), []).append((_family, _programs))


def find(kind: str, name: str, dtype: str) -> tuple[str, Programs] | None:
    """The family and the row of a work; None if there is none. A reduction has rows by dtype."""
    rows = _OF_NAME.get((kind, name), [])
    fitting = [row for row in rows if dtype in row[1].dtypes]
    return next(iter(fitting or (rows if kind != "reduce" else [])), None)


def tried(family: str) -> Iterator[str]:
    """The kernels of a family without a table that NVRTC is given, when the texts are checked."""
    for row in FAMILIES[family].programs:
        for word in row.dtypes if row.tried is None else row.tried:
            dtype, _, source = word.partition(" ")
            for name in row.names:
                for how in row.hows:
                    yield f"td_{how}<{row.symbol_of(name, dtype, source)}>"
