"""Every row of the op table with every argument in turn at every extreme:
`python tools/hunt/extremes.py --ops "conv|pool"`.

A right call (`testing/samples`) is made again and again, each time with one argument changed: an
int to the ends of 64 and 32 bits and their neighbours, a number to NaN, infinities, denormals and
another type, a tensor to one without elements, of no or of 64 dimensions, of every dtype, on meta;
an argument that the call leaves out is given. Then its tensors get sizes and strides to the ends of
64 bits, without memory behind them: on meta, expanded, or without elements. No call may die, hang,
or raise what is not documented. A case is a row: nothing is drawn.
"""

from __future__ import annotations

import argparse
import math
import os
import resource
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "testing")]
import fuzz  # noqa: E402 - our own tool, found through the line above
from fuzz_children import Range, run_as_child  # noqa: E402 - the same

MEMORY = 3 << 30  # address space of a child beyond what it has
INTS = (-(2**63), 1 - 2**63, -(2**62), -(2**31) - 1, -65, -2, -1, 0, 1, 2, 63, 64, 65, 2**15,
    2**31 - 1, 2**31, 2**32 + 1, 2**62, 2**63 - 1, 2**63)  # fmt: skip
NUMBERS = (math.nan, math.inf, -math.inf, 5e-324, 1e-45, -0.0, 1e308, -1e308, 0, 2**63 - 1,
    -(2**63), True, 1j, complex(math.nan, 1))  # fmt: skip
ROWS_A_CHILD = 16
FEW_CALLS = 3  # of a row: the forms of its calls
DTYPES = (
    *("bool", "uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64", "float16",
        "bfloat16", "float32", "float64"),
    *("complex32", "complex64", "complex128", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz",
        "float8_e5m2fnuz", "float8_e8m0fnu"),
)  # fmt: skip

# of one dimension of a tensor that takes no memory; nobody has memory for a result of that size
SIZES = (2**41, 2**62)
STRIDE = 2**62

Change = Callable[[Any], Any]


def of_shape(x: Any) -> Iterator[tuple[str, Any]]:
    """Tensors of enormous sizes and strides that take no memory and no time: on meta, expanded, or
    without elements.
    """
    import taeda

    shape = list(x.shape)
    for place in sorted({0, x.dim() // 2, x.dim() - 1} if x.dim() else ()):
        for n in SIZES:
            rest = math.prod(size for d, size in enumerate(shape) if d != place)
            most = min(n, (2**63 - 1) // max(rest, 1))
            sizes = [most if d == place else size for d, size in enumerate(shape)]
            meta = taeda.empty([1] * x.dim(), dtype=x.dtype, device="meta")
            yield f"expanded to {n} in {place}", lambda meta=meta, sizes=sizes: meta.expand(sizes)
            sizes = [n if d == place else 0 for d in range(x.dim())]
            yield f"no elements, {n} in {place}", lambda sizes=sizes: x.new_empty(sizes)
        sizes = [0 if d == place else size for d, size in enumerate(shape)]
        far = [STRIDE] * x.dim()
        yield f"strides, none in {place}", lambda sizes=sizes, far=far: x.as_strided(sizes, far)
        apart = [2**59 if d == place else 0 for d in range(x.dim())]
        sizes = [2 if d == place else size for d, size in enumerate(shape)]
        yield (
            f"far apart in {place}",
            lambda sizes=sizes, apart=apart: taeda.empty_strided(
                sizes, apart, dtype=x.dtype, device="meta"
            ),
        )
    many = [2 ** (62 // max(x.dim(), 1))] * x.dim()
    meta = taeda.empty([1] * x.dim(), dtype=x.dtype, device="meta")
    yield "expanded in all", lambda: meta.expand(many)


def of_tensor(x: Any) -> Iterator[tuple[str, Any]]:
    """A tensor's odd relatives."""
    import taeda

    yield "no elements", x[:0] if x.dim() else x.new_empty(0)
    yield "no last", x[..., :0] if x.dim() else x.new_empty(0, 3)
    yield "no dimensions", x.flatten()[0].clone() if x.numel() else x.sum()
    yield "64 dimensions", x.reshape((1,) * (64 - x.dim()) + tuple(x.shape))
    yield "one more", x.unsqueeze(0)
    yield "expanded", x[:1].expand(x.shape) if x.dim() else x.expand(2, 3)
    yield "meta", taeda.empty(x.shape, dtype=x.dtype, device="meta")
    for dtype in DTYPES:
        try:
            yield dtype, x.to(getattr(taeda, dtype))
        except RuntimeError:
            continue
    if x.is_floating_point() or x.is_complex():
        yield "nan", taeda.full_like(x, math.nan)
        yield "inf", taeda.full_like(x, math.inf)
        yield "grad", x.clone().requires_grad_()
    elif x.dtype is not taeda.bool and not x.is_complex():
        for n in (taeda.iinfo(x.dtype).min, taeda.iinfo(x.dtype).max, -1, 7):
            if n >= taeda.iinfo(x.dtype).min:
                yield f"all {n}", taeda.full_like(x, n)


def values(argument: Any, given: Any) -> Iterator[tuple[str, Any]]:
    """What an argument is changed to."""
    import taeda

    if argument.is_list and argument.base in ("int", "SymInt"):
        now = list(given) if isinstance(given, (list, tuple)) else [1]
        yield from (("[]", []), ("65", [1] * 65), ("64", [1] * 64))
        for n in INTS:
            yield f"[{n}]", [n]
            yield f"{n} first", [n, *now[1:]]
            yield f"{n} last", [*now[:-1], n]
            yield f"all {n}", [n] * len(now)
    elif argument.is_list and argument.base == "Tensor":
        now = [t for t in given or () if isinstance(t, taeda.Tensor)]
        yield from (("[]", []), ("70", now[:1] * 70))
        for name, x in of_tensor(now[0]) if now else ():
            yield f"{name} first", [x, *now[1:]]
            yield f"{name} all", [x] * len(now)
    elif argument.is_list:
        yield from (("[]", []), ("nan", [math.nan] * 3))
    elif argument.base in ("int", "SymInt"):
        yield from ((str(n), n) for n in INTS)
    elif argument.base in ("float", "Scalar"):
        yield from ((repr(n), n) for n in NUMBERS)
    elif argument.base == "bool":
        yield str(not given), not given
    elif argument.base == "ScalarType":
        yield from ((name, getattr(taeda, name)) for name in DTYPES)
    elif argument.base == "str":
        yield from ((repr(s), s) for s in ("", "x", "\0", "mean", "é" * 3000))
    elif argument.base == "Tensor" and isinstance(given, taeda.Tensor):
        yield from of_tensor(given)


def variations(sample: Any) -> Iterator[tuple[str, Callable[[], Any]]]:
    """The sample with each argument changed in each way: text, and the call."""
    for place, argument in enumerate(sample.row.schema.arguments):
        given = sample.args[place] if place < len(sample.args) else sample.kwargs.get(argument.name)
        for name, value in values(argument, given):
            if place < len(sample.args):
                made = replace(
                    sample, args=(*sample.args[:place], value, *sample.args[place + 1 :])
                )
            else:
                made = replace(sample, kwargs={**sample.kwargs, argument.name: value})
            yield f"{argument.name}: {name}", made.map(lambda t: t.clone() if t.is_leaf else t).call


def shapes(sample: Any) -> Iterator[tuple[str, Callable[[], Any]]]:
    """The sample with all its tensors, and with the first alone, in each enormous form: text, and
    the call.
    """
    forms: list[dict[str, Callable[[], Any]]] = []
    sample.map(lambda t: forms.append(dict(of_shape(t))) or t)
    for name in {name: None for form in forms for name in form}:
        yield f"all tensors: {name}", _made(sample, name, len(forms))
        if len(forms) > 1:
            yield f"first tensor: {name}", _made(sample, name, 1)


def _made(sample: Any, name: str, count: int) -> Callable[[], Any]:
    """The call with the first `count` tensors in the form of that name, where they have it; the
    others hold no memory either.
    """

    def call() -> Any:
        left = iter(range(count))

        def form(t: Any) -> Any:
            make = dict(of_shape(t)).get(name) if next(left, None) is not None else None
            return make() if make else t.to("meta")

        return sample.map(form).call()

    return call


def ended(call: Callable[[], Any]) -> str:
    """Make a call, read what it gives, derive. How it ended."""
    try:
        fuzz.use(call())
    except fuzz.DOCUMENTED as error:
        return next(k.__name__ for k in fuzz.DOCUMENTED if isinstance(error, k))
    except AssertionError as error:
        return "AssertionError" if "adding_idx" in str(error) else f"undocumented: {error!r}"
    except Exception as error:  # noqa: BLE001 - any other type is what we look for
        return f"undocumented: {type(error).__name__}: {error}"
    return "result"


def chosen(pattern: str) -> list[Any]:
    """The rows whose name matches, in the table's order."""
    import re

    from samples import ROWS

    return [row for name, row in ROWS.items() if re.search(pattern, name)]


def cases(given: Range, note: Any) -> Iterator[tuple[str, Any]]:
    """Make the calls of a range of rows, in a child."""
    from itertools import islice

    from samples import samples

    if "libasan" not in os.environ.get("LD_PRELOAD", ""):
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    warnings.simplefilter("ignore")
    for at, row in list(enumerate(chosen(given.pattern)))[given.first : given.first + given.count]:
        for sample in islice(samples(row), FEW_CALLS):
            for said, call in (*variations(sample), *shapes(sample)):
                note(at, f"{sample}, {said}")
                outcome = ended(call)
                wrong = outcome.startswith("undocumented")
                yield outcome.partition(":")[0], f"{sample}, {said} -> {outcome}" if wrong else None


def main() -> int:
    if run_as_child(cases):
        return 0
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--ops", default="", help="only rows whose name matches this expression")
    parser.add_argument(
        "--part", default="0/1", help="a share of the rows: 0/8 is the first eighth of them"
    )
    parser.add_argument("--jobs", type=int, default=2, help="children side by side")
    parser.add_argument("--enough", type=int, default=50, help="stop after this many findings")
    parser.add_argument("--limit", type=float, default=300.0, help="seconds a child")
    options = parser.parse_args()
    part, of = map(int, options.part.split("/"))
    rows = len(chosen(options.ops))
    firsts = range(0, rows, ROWS_A_CHILD)
    options.seed = 0
    ranges = [(first, min(ROWS_A_CHILD, rows - first)) for first in firsts]
    return fuzz.run(options, __file__, ranges=ranges[part::of])


if __name__ == "__main__":
    sys.exit(main())
