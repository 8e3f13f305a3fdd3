"""Rows of the op table with device="cuda" on the stand-in driver: which compute there, and whether
they give the processor's bits.

    cuda_rows.py                     every row's samples in float32 and int64; a table, and status
                                     1 for a difference or a crash
    cuda_rows.py --rows 'exp|add'    rows that match
    cuda_rows.py --families 'fft|linalg'  rows of families that match
    cuda_rows.py --dtypes bfloat16 --verbose
    cuda_rows.py --part 0/8          rows 0, 8, 16, ...
    cuda_rows.py --cupy              with a stand-in of CuPy that NumPy computes for: plumbing, not values
    cuda_rows.py --write             the table of docs/cuda.md anew
    cuda_rows.py --card              on the device of this machine; with --cupy, CuPy's last bits may
                                     differ. Every call is made twice: bits that move tell of a race
    cuda_rows.py --log FILE          a line for each row as it comes: what was seen before a time
                                     limit or a fault is not lost
    cuda_rows.py --seconds 20        a row that takes longer counts as a crash, and the next one goes on

A row that says NotImplementedError is counted. It fails unless it is of sparse or quantized numbers, or
says what to install (not with --cupy). Nothing falls back on the processor here.
"""

from __future__ import annotations

import argparse
import faulthandler
import json
import os
import re
import subprocess
import sys
import warnings
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

from complex_formulas import allowed

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "cuda.md"
MARKS = ("<!-- rows: begin -->\n", "<!-- rows: end -->\n")
#: results that are memory as it was found
UNSET = re.compile(r"(new_)?empty(_like|_strided|_permuted)?(\.\w+)?$")
#: rows that may differ from the processor's in last bits: products add in another order than its
#: tiles do, and so do distances that are made of a product
CLOSE = re.compile(
    r"(_(fused|ragged)_attention|_(fused|ragged)_attention_backward|scaled_dot_product_attention"
    r"|cdist|_euclidean_dist|mv|mm|bmm|dot|matmul|linear|addmm|addmv"
    r"|baddbmm|addbmm|multi_dot|_?conv\w*"
    r"|_(lstm|gru|rnn)(_backward)?)(\.|$)"
)

#: rows whose results come in the order in which an algorithm finds them
UNORDERED = re.compile(r"(_linalg_)?eig(vals)?")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", default="")
    parser.add_argument("--families", default="")
    parser.add_argument("--dtypes", nargs="*", default=["float32", "int64"])
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--part", default="0/1", help="K/N: rows K, K + N, K + 2 N ...")
    parser.add_argument("--cupy", action="store_true")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--card", action="store_true")
    parser.add_argument("--log", type=Path)
    parser.add_argument("--seconds", type=int, default=0)
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        inside(options)
        return
    found = outcomes(options)
    if options.part != "0/1":
        print(f"part {options.part} of the rows: {len(found)} of them")
    wrong = report(found, options.verbose, options.cupy)
    if options.write:
        write(found)
    sys.exit(bool(wrong))


def outcomes(options: argparse.Namespace) -> dict[str, dict[str, Any]]:
    """What each row did, from processes of their own: a crash is told with its row, and the rest goes on."""
    found: dict[str, dict[str, Any]] = {}
    while True:
        begun, status = one_process(options, found)
        if status == 0:
            return found
        if not begun or begun in found:
            sys.exit(f"the rows cannot be run (status {status})")
        keep(
            options,
            found,
            begun,
            {"family": "", "outcome": "crash", "why": ENDED.get(status, f"status {status}")},
        )


#: why a process ended within a row
ENDED = {
    77: "the device is lost to the process: a fault of the row's kernels",
    1: "a row took too long",
}


def one_process(options: argparse.Namespace, found: dict[str, dict[str, Any]]) -> tuple[str, int]:
    """The row that was begun last, and the exit status of a process that takes the rows not yet found."""
    words = ("--rows", options.rows, "--dtypes", *options.dtypes, "--part", options.part)
    more = (
        "--families",
        options.families,
        "--seconds",
        str(options.seconds),
        *["--card"] * options.card,
    )
    command = [sys.executable, "-X", "faulthandler", __file__, "--inside", *words, *more]
    begun = ""
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env=surroundings(options, found)
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            begun, _, rest = line.rstrip("\n").partition("\t")
            if rest:
                keep(options, found, begun, json.loads(rest))
    return begun, process.returncode


def keep(
    options: argparse.Namespace, found: dict[str, dict[str, Any]], name: str, entry: dict[str, Any]
) -> None:
    found[name] = entry
    if options.log:
        with options.log.open("a") as file:
            file.write(f"{entry['outcome']}\t{name}\t{entry['why']}\n")


def surroundings(options: argparse.Namespace, found: dict[str, dict[str, Any]]) -> dict[str, str]:
    sys.path.insert(0, str(ROOT / "packages" / "core" / "tests" / "cuda"))
    import standin

    env = standin.environment(
        options.card, CUDA_ROWS_DONE=json.dumps([*found]), TAEDA_CUDA_FALLBACK=""
    )
    if options.cupy:
        env["CUDA_ROWS_ALL_CLOSE"] = "1"
        if not options.card:
            env["PYTHONPATH"] = str(standin.HERE / "cupy_numpy")
    if options.card:
        env["CUDA_ROWS_CARD"] = "1"
    return env


# ---- in the process with the stand-in ----


def inside(options: argparse.Namespace) -> None:
    import taeda

    sys.path.insert(0, str(ROOT / "tools" / "testing"))
    from samples import ROWS, samples

    warnings.simplefilter("ignore")
    only_listed_programs()
    done = set(json.loads(os.environ["CUDA_ROWS_DONE"]))
    place, parts = map(int, options.part.split("/"))
    for name, row in list(ROWS.items())[place::parts]:
        if not re.search(options.rows, name) or not re.search(options.families, row.family):
            continue
        if name in done or UNSET.fullmatch(name):
            continue
        print(name, flush=True)
        if options.seconds:  # with the lines of all threads; the process ends with status 1
            faulthandler.dump_traceback_later(options.seconds, exit=True)
        pairs = ((dtype, sample) for dtype in options.dtypes for sample in samples(name, dtype))
        seen = [(*one(taeda, sample), dtype) for dtype, sample in pairs]
        kinds = [kind for kind, *_ in seen]
        outcome = next((k for k in ("differs", "error", "refused", "same") if k in kinds), "none")
        why = told([(why, dtype) for kind, why, dtype in seen if kind == outcome and why])
        print(
            f"{name}\t{json.dumps({'family': row.family, 'outcome': outcome, 'why': why, 'kind': row.kind})}",
            flush=True,
        )


def told(reasons: list[tuple[str, str]]) -> str:
    """The first reason, and the dtypes that have one."""
    dtypes = ", ".join(dict.fromkeys(dtype for _, dtype in reasons))
    return f"{dtypes}: {reasons[0][0]}" if reasons else ""


def only_listed_programs() -> None:
    """A program that `python -m taeda.cuda.warm` does not know is an error of the row that needs it."""
    from taeda.cuda import _catalogue, _programs

    program = _programs.program
    known = set(_catalogue.programs(_catalogue.groups(), _programs.DTYPES))

    def listed(kind: str, name: str, dtype: int, source: int, how: str, *rest: int) -> Any:
        made = program(kind, name, dtype, source, how, *rest)
        to, other = _programs.DTYPES[dtype], _programs.DTYPES[source if kind == "cast" else dtype]
        if (kind, name, to, other, how) not in known:
            raise LookupError(f"{kind} {name} {to} {other} {how} is not in taeda.cuda._catalogue")
        return made

    _programs.program = listed


def one(taeda: Any, sample: Any) -> tuple[str, str]:
    """The outcome of one call on the device beside the processor's."""

    def there(t: Any) -> Any:
        return t.to("cuda")

    taeda.manual_seed(0)
    try:
        wanted = sample.map(lambda t: t.clone()).call()
    except Exception:  # noqa: BLE001 - what the processor refuses is no case here
        return "none", ""
    taeda.manual_seed(0)
    try:
        with taeda.device("cuda"):
            made = sample.map(there).call()
            name = sample.row.schema.name
            if UNORDERED.fullmatch(name):
                made, wanted = in_order(taeda, made), in_order(taeda, wanted)
            outcome = compare(taeda, made, wanted, bool(CLOSE.match(name)), allowed(name))
            return outcome if outcome[0] != "same" or not ON_CARD else twice(taeda, sample, made)
    except NotImplementedError as error:
        return "refused", str(error)[:200]
    except Exception as error:  # noqa: BLE001 - told in the table
        end_if_lost(taeda)
        return "error", f"{type(error).__name__}: {str(error)[:160]}"


def in_order(taeda: Any, result: Any) -> Any:
    """Eigenvalues by size, alike to a thousandth, with their vectors, whose first large entry is positive."""
    values, vectors = (result, None) if isinstance(result, taeda.Tensor) else result
    keys = (values.real * 1e3).round() * 1e6 + (values.imag * 1e3).round()
    order = keys.argsort(-1)
    values = values.gather(-1, order)
    if vectors is None or not vectors.numel():
        return values if vectors is None else (values, vectors)
    vectors = vectors.gather(-1, order.unsqueeze(-2).expand(vectors.shape))
    largest = (vectors.abs() * 1e3).round().argmax(-2, keepdim=True)
    turn = vectors.gather(-2, largest)
    return values, vectors * turn.conj() / turn.abs()


ON_CARD = bool(os.environ.get("CUDA_ROWS_CARD"))


def end_if_lost(taeda: Any) -> None:
    """A kernel's fault stays with the process: every later row would report an error that is not its own."""
    try:
        taeda.cuda.synchronize()
    except RuntimeError as error:
        print(error, file=sys.stderr)
        os._exit(77)


def twice(taeda: Any, sample: Any, first: Any) -> tuple[str, str]:
    """The same call in memory that was filled with NaNs: its bits stay, or something races or reads what it
    did not write.
    """
    poison = taeda.full((1 << 20,), float("nan"), device="cuda")
    del poison
    taeda.manual_seed(0)
    again = sample.map(lambda t: t.to("cuda")).call()
    leaves = taeda.utils._pytree.tree_leaves
    pairs = zip(leaves(again), leaves(first), strict=True)
    tensors = [(a, b) for a, b in pairs if isinstance(a, taeda.Tensor)]
    same = all(((a == b) | ((a != a) & (b != b))).all().item() for a, b in tensors)
    return ("same", "") if same else ("differs", "two calls gave different bits")


def compare(
    taeda: Any, made: Any, wanted: Any, close: bool = False, units: tuple[int, bool] = (0, False)
) -> tuple[str, str]:
    if isinstance(wanted, (list, tuple)):
        pairs = [compare(taeda, a, b, close, units) for a, b in zip(made, wanted, strict=True)]
        return next((pair for pair in pairs if pair[0] != "same"), ("same", ""))
    if not isinstance(wanted, taeda.Tensor):
        return (
            ("same", "")
            if made == wanted or made != made
            else ("differs", f"{made!r}, wanted {wanted!r}")
        )
    if made.device.type != "cuda":
        return "error", "the result is on the cpu"
    back = made.cpu()
    if back.dtype != wanted.dtype or back.shape != wanted.shape:
        return (
            "differs",
            f"{back.dtype} {tuple(back.shape)}, wanted {wanted.dtype} {tuple(wanted.shape)}",
        )
    if taeda.equal(back, wanted):
        return "same", ""
    # sums in another order are rounded once more in 16 bits: that may be the next number
    number = wanted.dtype.is_floating_point or wanted.dtype.is_complex
    slack = max(1e-5, 2 * taeda.finfo(wanted.dtype).eps) if number else 1e-5
    if close and taeda.allclose(back, wanted, rtol=slack, atol=slack):
        return "same", ""
    if os.environ.get("CUDA_ROWS_ALL_CLOSE") and near(taeda, back, wanted):
        return "same", ""
    equal = (back == wanted) | ((back != back) & (wanted != wanted))
    if units[0] and wanted.dtype.is_complex:
        equal |= within(taeda, back, wanted, *units)
    if equal.all().item():
        return "same", ""
    return (
        "differs",
        f"{int((~equal).sum())} of {equal.numel()} elements{by_ulps(taeda, back, wanted)}",
    )


def within(taeda: Any, back: Any, wanted: Any, most: int, floor: bool) -> Any:
    """Where both parts lie at most so many units in the last place of the larger one apart."""
    wide = taeda.complex128
    apart = taeda.view_as_real(back.to(wide) - wanted.to(wide)).abs().amax(-1)
    size = taeda.view_as_real(wanted.to(wide)).abs().amax(-1)
    return apart <= most * taeda.finfo(wanted.dtype).eps * (size.clamp(min=1) if floor else size)


def by_ulps(taeda: Any, back: Any, wanted: Any) -> str:
    """The largest difference in units of the last place, where that says more than yes or no."""
    if not wanted.dtype.is_floating_point:
        return ""
    finite = back.isfinite() & wanted.isfinite()
    if not finite.all().item():
        return ", not finite alike"
    size = wanted.abs().double()
    # not a new tensor(inf): it would be made where the call was, on the device
    step = taeda.nextafter(size, taeda.full_like(size, float("inf")))
    unit = size * taeda.finfo(wanted.dtype).eps
    error = (back.double() - wanted.double()).abs() / taeda.maximum(unit, step - size)
    return f", {error.max().item():.1f} ulps at most"


def near(taeda: Any, back: Any, wanted: Any) -> bool:
    """Values of NumPy, which computes in its own order and way."""
    return bool(taeda.allclose(back, wanted, rtol=1e-3, atol=1e-4, equal_nan=True))


# ---- the table ----


#: families whose rows may refuse, and what a row's refusal says that a library would compute
MAY_REFUSE = ("sparse", "quantization")
WAY_OUT = "pip install"


def fails(entry: dict[str, Any], cupy: bool) -> bool:
    """Does the row's outcome fail the run?"""
    if entry["outcome"] == "refused":
        return entry["family"] not in MAY_REFUSE and (cupy or WAY_OUT not in entry["why"])
    return entry["outcome"] in ("differs", "error", "crash")


def report(found: dict[str, dict[str, Any]], verbose: bool, cupy: bool = False) -> list[str]:
    counts = Counter(entry["outcome"] for entry in found.values())
    print(f"{len(found)} rows: {dict(counts)}")
    wrong = []
    for name, entry in found.items():
        bad = fails(entry, cupy)
        wrong += [name] * bad
        if bad or (verbose and entry["outcome"] != "same"):
            print(f"{entry['outcome']:8} {name}: {entry['why']}")
    return wrong


def write(found: dict[str, dict[str, Any]]) -> None:
    families: dict[str, Counter[str]] = defaultdict(Counter)
    missing: dict[str, list[str]] = defaultdict(list)
    for name, entry in found.items():
        # it has no sample of these dtypes that the processor computes
        if entry["outcome"] == "none":
            continue
        families[entry["family"]][entry["outcome"]] += 1
        if entry["outcome"] == "refused":
            missing[entry["family"]].append(name.partition(".")[0])
    lines = [
        "| family | rows | compute on the device | not yet, for example |\n",
        "|---|---|---|---|\n",
    ]
    for family in sorted(families):
        count, names = families[family], list(dict.fromkeys(missing[family]))
        examples = ", ".join(f"`{name}`" for name in names[:4])
        lines.append(f"| {family} | {sum(count.values())} | {count['same']} | {examples} |\n")
    total = sum(sum(count.values()) for count in families.values())
    lines.append(f"| all | {total} | {sum(count['same'] for count in families.values())} | |\n")
    text = PAGE.read_text()
    head, rest = text.split(MARKS[0])
    PAGE.write_text(head + MARKS[0] + "".join(lines) + MARKS[1] + rest.split(MARKS[1])[1])


if __name__ == "__main__":
    main()
