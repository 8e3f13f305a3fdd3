"""Rows of the op table whose numbers are paddings, strides, windows, lengths and the like, with those
numbers far beyond the tensors, one, two and all at a time: `python tools/hunt/geometry.py --ops "conv|pool"`.

A product of such arguments may be more than 64 bits hold though each of them fits, and a loop over
them takes time that no element asks for. So a call is made on meta tensors first. If it gives
tensors that memory holds, the real call gives the same shapes, in less than a second of the
processor and 100 MB beside its tensors, and in float32 the numbers of float64; if it raises, so does
the real call. A call of another kind may not die.

A case is a row. Seed 0 changes its numbers by a table. Other seeds (`--seeds 1-20`) draw: how many numbers
are changed, each place of a list for itself, to what (ends of powers of two, small ones, negative ones),
and the sizes of the tensors, with 0 among them.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import math
import os
import re
import resource
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "testing")]
import fuzz  # noqa: E402 - our own tool, found through the line above
from fuzz_children import Range, run_as_child  # noqa: E402 - the same

FAR = (2**27, 2**28, 2**30, 2**31 - 1, 2**32, 2**62, 2**63 - 1)
#: arguments that say where something is, or which, and not how much of it; and of how many terms
#: a sum is (p of mvlgamma), each of which takes its time
OTHER = re.compile(
    r"^p$|dim|axis|axes|seed|index|mode|reduction|ignore|blank|groups|nnz|rank|order"
)
#: rows that take the sizes of a tensor without memory at their word: what they look at is the memory
UNBOUND = re.compile(r"as_strided|^unfold_backward$|^empty_strided$|^new_empty_strided$")
#: rows that refuse the numbers of a tensor, which meta has not: zero points outside of the range, weights
#: whose sum is 0
REFUSES_NUMBERS = re.compile(
    r"^cov$|^fake_quantize_per_(channel_affine$|tensor_affine\.tensor_qparams$)"
)
#: rows whose tensors name places that the numbers bound: without elements nothing is known of them
NAMES_PLACES = re.compile(
    r"^(unravel_index|embedding_dense_backward|one_hot|_linalg_permutation|_csr_transpose)$"
)
#: rows with as many results as an argument says: each takes its time and its memory
COUNTED = re.compile(r"^([hvd]split\.int|tensor_split\.sections|(unsafe_)?chunk)$")
SECONDS, BYTES = 1.0, 100 << 20
TRANSFORM = 3.0  # seconds: 2 million numbers with a large prime factor take 0.7 on a quiet machine
ELEMENTS = 1 << 20  # of results that are made: larger ones take the time and memory that they take
MANY = 1 << 16  # results: each is an object
WORK = 768  # bytes for each element of a result, as a real transform of prime length takes
MEMORY = 3 << 30  # address space of a child beyond what it has
ROWS_A_CHILD = 12
FEW_CALLS = 2  # of a row: the forms of its calls
DRAWS = 40  # changes of a call, of a seed
TOLD = 3  # findings of one form: the others are like them

Settings = dict[int, Any]  # place of an argument -> what it is changed to


@dataclass(frozen=True)
class Ending:
    """How a call ended: shapes of its results, or what it raised."""

    shapes: tuple[tuple[int, ...], ...] = ()
    error: str = ""
    result: Any = None
    seconds: float = 0.0
    bytes: int = 0

    def __str__(self) -> str:
        return self.error or " ".join(map(str, self.shapes))


def is_geometry(argument: Any) -> bool:
    """Does an argument say how much, how far, how often?"""
    whole = argument.base in ("int", "SymInt") or (
        argument.base == "float" and "scale" in argument.name
    )
    return whole and not OTHER.search(argument.name)


def given(sample: Any, place: int) -> Any:
    argument = sample.row.schema.arguments[place]
    return sample.args[place] if place < len(sample.args) else sample.kwargs.get(argument.name)


def forms(sample: Any, place: int, n: int) -> list[Any]:
    """What an argument becomes: the number, or lists with it in the last place and everywhere."""
    argument, now = sample.row.schema.arguments[place], given(sample, place)
    if argument.base == "float":
        made = [float(n), 1 / n]
        return [[f] * len(now) for f in made] if isinstance(now, (list, tuple)) and now else made
    if not argument.is_list:
        return [n]
    now = (
        list(now)
        if isinstance(now, (list, tuple)) and now
        else [now if isinstance(now, int) else 1]
    )
    return [[n] * len(now)] if len(now) == 1 else [[n] * len(now), [*now[:-1], n]]


def settings(sample: Any, few: bool = False) -> Iterator[Settings]:
    """One, two and all numbers of a call changed."""
    places = [k for k, a in enumerate(sample.row.schema.arguments) if is_geometry(a)]
    far = FAR[2:5] if few else FAR
    for place, n in itertools.product(places, far):
        yield from ({place: form} for form in forms(sample, place, n))
    for pair in itertools.combinations(places, 2):
        for numbers in itertools.product(far, repeat=2):
            made = [forms(sample, *both) for both in zip(pair, numbers, strict=True)]
            yield from (dict(zip(pair, both, strict=True)) for both in zip(*made, strict=False))
    for n in far if len(places) > 2 else ():
        yield {place: forms(sample, place, n)[0] for place in places}


# ---- drawn ----


def number(draw: Random) -> int:
    """Small, negative, far, or beside a power of two."""
    kind = draw.random()
    if kind < 0.3:
        return draw.randint(-3, 9)
    if kind < 0.5:
        return draw.choice(FAR)
    made = 2 ** draw.randint(1, 63) + draw.randint(-2, 2)
    return max(-(2**63), min(made if kind < 0.85 else -made, 2**63 - 1))


def drawn_form(sample: Any, place: int, draw: Random) -> Any:
    """What a number or a list of them becomes."""
    argument, now = sample.row.schema.arguments[place], given(sample, place)

    def one() -> Any:
        if argument.base != "float":
            return number(draw)
        n = number(draw)
        return draw.choice((float(n), 1 / n if n else math.inf, math.nan, 0.5, 2.0))

    if not argument.is_list and not (isinstance(now, (list, tuple)) and now):
        return one()
    now = list(now) if isinstance(now, (list, tuple)) else [1 if now is None else now]
    if draw.random() < 0.1:  # of another length
        now = (now * 3)[: draw.randint(0, 2 * len(now) + 1)]
    return [entry if draw.random() < 0.4 else one() for entry in now]


def drawn_settings(sample: Any, draw: Random, count: int) -> Iterator[Settings]:
    """Any numbers of a call changed."""
    places = [k for k, a in enumerate(sample.row.schema.arguments) if is_geometry(a)]
    for _ in range(count):
        some = draw.sample(
            places, draw.choice((1, min(2, len(places)), draw.randint(1, len(places))))
        )
        yield {place: drawn_form(sample, place, draw) for place in some}


def drawn_samples(row: Any, draw: Random) -> Iterator[Any]:
    """Calls of a row with tensors of any small sizes, of those that the row has calls of."""
    from samples import samples

    yield from itertools.islice(samples(row), FEW_CALLS)
    sizes = {name: draw.choice((0, 1, 1, 2, 3, 5)) for name in ("n", "m", "k")}
    # arguments that are made by operations
    with contextlib.suppress(*fuzz.DOCUMENTED, ZeroDivisionError):
        yield from itertools.islice(samples(row, **sizes), FEW_CALLS)


def changed(sample: Any, to: Settings) -> Any:
    args, kwargs = list(sample.args), dict(sample.kwargs)
    for place, value in to.items():
        if place < len(args):
            args[place] = value
        else:
            kwargs[sample.row.schema.arguments[place].name] = value
    return replace(sample, args=tuple(args), kwargs=kwargs)


def on_meta(sample: Any) -> Any:
    made = sample.map(lambda t: t.detach().to("meta"))
    takes_device = any(a.name == "device" for a in sample.row.schema.arguments)
    return replace(made, kwargs={**made.kwargs, "device": "meta"}) if takes_device else made


def ended(call: Callable[[], Any]) -> Ending:
    """Make a call. What it gave, or how it failed; its time and memory."""
    import taeda
    from taeda._native import core

    core.memory_reset_peak()
    before, most = core.memory_stats(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.process_time()
    error, result = "", None
    try:
        result = call()
    except fuzz.DOCUMENTED as e:
        error = next(k.__name__ for k in fuzz.DOCUMENTED if isinstance(e, k))
    except Exception as e:  # noqa: BLE001 - any other type is what we look for
        error = f"undocumented: {type(e).__name__}: {e}"
    seconds = time.process_time() - start
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - most) << 10
    taken = max(core.memory_stats()["peak"] - before["allocated"], grown)
    several = result if isinstance(result, (tuple, list)) else (result,)
    # what comes behind so many is not looked at: millions of shapes would take the child's memory
    found = [t for t in several[: MANY + 1] if isinstance(t, taeda.Tensor)]
    return Ending(tuple(tuple(t.shape) for t in found), error, result, seconds, taken)


def is_large(meta: Ending) -> bool:
    several = len(meta.shapes) > MANY
    return several or any(math.prod(shape) > ELEMENTS for shape in meta.shapes)


def wrong(sample: Any) -> tuple[str, str]:
    """The kind of ending of a call, and what is wrong with it."""
    meta = ended(on_meta(sample).call)
    if meta.error.startswith("undocumented"):
        return "undocumented", f"on meta: {meta.error}"
    if COUNTED.search(sample.row.schema.qualified) and meta.seconds > SECONDS:
        return "large", ""
    if is_large(meta) or meta.seconds > SECONDS or meta.bytes > BYTES:
        slow = (meta.seconds > SECONDS or meta.bytes > BYTES) and len(meta.shapes) <= MANY
        return "large", f"on meta: {meta.seconds:.1f} s, {meta.bytes} bytes" if slow else ""
    if meta.error and sample.row.reads_value:
        return "unsaid", ""  # how large a result is, its elements say
    real = ended(sample.map(lambda t: t.detach().clone()).call)
    return real.error.partition(":")[0] or "result", differs(sample, meta, real)


def differs(sample: Any, meta: Ending, real: Ending) -> str:
    """What the real call did that the one on meta does not let expect."""
    if real.error.startswith("undocumented"):
        return real.error
    name = sample.row.schema.qualified
    unsaid = sample.row.reads_value or UNBOUND.search(name) or NAMES_PLACES.search(name)
    most = max((math.prod(shape) for shape in real.shapes), default=0)
    seconds = TRANSFORM if "fft" in name else SECONDS
    slow = real.seconds > seconds or real.bytes > BYTES + WORK * most
    unsaid = unsaid or (slow and COUNTED.search(name))
    if slow and not unsaid and not is_large(real):
        return f"{real.seconds:.1f} s, {real.bytes} bytes"
    named = REFUSES_NUMBERS.search(name) and not meta.error
    if unsaid or meta.error == "NotImplementedError" or (named and real.error):
        return ""  # meta does not say
    if bool(meta.error) != bool(real.error) or meta.shapes != real.shapes:
        return f"{real}, and on meta {meta}"
    return "" if real.error else numbers_differ(sample, real)


def numbers_differ(sample: Any, real: Ending) -> str:
    """Another sum in float64? Loops of the two differ in their vectors."""
    import taeda

    if sample.dtype != "float32" or sample.row.random:
        return ""
    wide = ended(sample.map(lambda t: t.detach().double() if t.dtype is taeda.float32 else t).call)
    several = [
        r.result if isinstance(r.result, (tuple, list)) else (r.result,) for r in (real, wide)
    ]
    for a, b in zip(*several, strict=False):
        if not (isinstance(a, taeda.Tensor) and isinstance(b, taeda.Tensor)) or a.shape != b.shape:
            continue
        if not taeda.allclose(a.double(), b.double(), rtol=1e-3, atol=1e-4, equal_nan=True):
            return "other numbers than in float64"
    return ""


def chosen(pattern: str) -> list[Any]:
    """The rows whose name matches and that take such numbers, in the table's order."""
    from samples import ROWS

    return [
        row
        for name, row in ROWS.items()
        if re.search(pattern, name) and any(map(is_geometry, row.schema.arguments))
    ]


def cases(given: Range, note: Any, few: bool = False) -> Iterator[tuple[str, Any]]:
    """Make the calls of a range of rows, in a child."""
    from samples import samples

    if not few and "libasan" not in os.environ.get("LD_PRELOAD", ""):
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    warnings.simplefilter("ignore")
    for at, row in list(enumerate(chosen(given.pattern)))[given.first : given.first + given.count]:
        draw = Random(f"{given.seed} {row.schema.qualified}")
        made = drawn_samples(row, draw) if given.seed else itertools.islice(samples(row), FEW_CALLS)
        for sample in made:
            told = 0
            drawn = drawn_settings(sample, draw, DRAWS // 10 if few else DRAWS)
            for to in drawn if given.seed else settings(sample, few):
                said = ", ".join(f"{row.schema.arguments[k].name}={v}" for k, v in to.items())
                note(at, f"{sample}, {said}")
                kind, finding = wrong(changed(sample, to))
                told += bool(finding)
                yield kind, f"{sample}, {said} -> {finding}" if finding and told <= TOLD else None


def main() -> int:
    if run_as_child(cases):
        return 0
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--ops", default="", help="only rows whose name matches this expression")
    parser.add_argument(
        "--part", default="0/1", help="a share of the rows: 0/8 is the first eighth of them"
    )
    parser.add_argument("--seeds", default="0", help="the first and the last; 0 is the table")
    parser.add_argument("--jobs", type=int, default=2, help="children side by side")
    parser.add_argument("--enough", type=int, default=50, help="stop after this many findings")
    parser.add_argument("--limit", type=float, default=300.0, help="seconds a child")
    options = parser.parse_args()
    part, of = map(int, options.part.split("/"))
    rows = len(chosen(options.ops))
    firsts = range(0, rows, ROWS_A_CHILD)
    ranges = [(first, min(ROWS_A_CHILD, rows - first)) for first in firsts]
    first, _, last = options.seeds.partition("-")
    failed = 0
    for options.seed in range(int(first), int(last or first) + 1):
        failed |= fuzz.run(options, __file__, ranges=ranges[part::of])
    return failed


if __name__ == "__main__":
    sys.exit(main())
