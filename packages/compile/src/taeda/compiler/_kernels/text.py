"""The C text of a chain: each operation is the row of core's kernel table, on vectors that stay in
registers.

    ranges   memory that the chain reads or writes: r0, r1, ..
    numbers  operands that are one number: n0, n1, ..
    a0, a1   the arguments of each operation's call: their kinds are part of the chain, what they
             are worth is not
    v0, v1   the results

Short floats are float32 in registers, rounded after each operation. Truth values are integers in
the lanes of the floats that they are about. Sizes, addresses and numbers are given to the function,
so one text serves all of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from taeda._core_api.chains import arg_kinds, dtype_numbers, expanded, max_args, row

from .._errors import NoText

__all__ = ["SYMBOL", "ChainText", "Loop", "of_chain"]

SYMBOL = "taeda_chain"
#: (name, dtype, whether the result has it, ranges, (kind, fact) of each argument); in place of a range
#: -1 is a number, -2 one of float32 beside short floats
Loop = tuple[str, int, bool, tuple[int, ...], tuple[tuple[int, int], ...]]
_NONE, _TENSOR, _SCALAR, _FLOAT, _BOOL, _STR = (
    arg_kinds[name] for name in ("NONE", "TENSOR", "SCALAR", "FLOAT", "BOOL", "STR")
)
_BOOLS, _F32 = dtype_numbers["BOOL"], dtype_numbers["F32"]
_WIDE = -2
#: operations on truth values, of cpu/simd/chain/truths.h
_OF_TRUTHS = (
    *("bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_not"),
    *("logical_and", "logical_or", "logical_xor", "logical_not"),
    *("mul", "eq", "ne"),
)
#: they give a short float that is one already, and of NaN its sign
_EXACT = ("neg", "abs", "where", "truth")


@dataclass(frozen=True)
class _Words:
    """What the text calls things, for a dtype: its vectors and those of truth values, one element
    in memory and how it is moved, what is done to a result."""

    vector: str
    lanes: str
    real: str
    moves: str
    width: str
    rounds: str = ""


_WORDS = {
    dtype_numbers["F16"]: _Words("vf", "vi", "uint16_t", "vh", "VF_WIDTH", "vh_rounded"),
    dtype_numbers["BF16"]: _Words("vf", "vi", "uint16_t", "vb", "VF_WIDTH", "vb_rounded"),
    _F32: _Words("vf", "vi", "float", "vf", "VF_WIDTH"),
    dtype_numbers["F64"]: _Words("vd", "vl", "double", "vd", "VD_WIDTH"),
}


@dataclass(frozen=True)
class ChainText:
    """`own`: the function alone; `whole`: with all that it includes."""

    own: str
    whole: str


def of_chain(
    loops: tuple[Loop, ...], kept: tuple[bool, ...], notes: tuple[str, ...] = ()
) -> ChainText:
    """The text of a chain; `notes` stand beside its operations. NoText says why there is none."""
    words = _words(loops)
    rows = [_row(loop, words) for loop in loops]
    own = _function(loops, kept, [name for _, name in rows], words, notes)
    families = dict.fromkeys(family for family, _ in rows if family)
    return ChainText(own, expanded(list(families) or ["compare"]) + "\n" + own)


def _words(loops: tuple[Loop, ...]) -> _Words:
    found = {loop[1] for loop in loops} - {_BOOLS} or {_F32}  # beside bools alone any will do
    if len(found) != 1 or not found <= _WORDS.keys():
        raise NoText("it computes in several dtypes, or in others than floats")
    return _WORDS[found.pop()]


def _row(loop: Loop, words: _Words) -> tuple[str, str]:
    """The family that has the function of a loop, or none, and its name."""
    name, dtype, _, ranges, args = loop
    if dtype == _BOOLS:
        if name not in _OF_TRUTHS:
            raise NoText(f"{name} of bools is no expression of vectors")
        return "", f"{words.lanes}_{name}"
    if name in ("where", "truth"):
        return "", f"{words.vector}_{name}"
    if name == "clamp":  # its two bounds, or the one that there is
        name = "clamp_both" if len(ranges) == 4 else "clamp_max" if not args[1][0] else "clamp_min"
    found = row(name, dtype, _power(loop))
    if found is None:
        raise NoText(f"{name} is no expression of vectors")
    return found


def _power(loop: Loop) -> int:
    """Which row of pow, the first for any exponent; the others do not read it."""
    return max(loop[4][1][1] - 1, 0) if loop[0] == "pow" else 0


def _truths(loop: Loop) -> Iterator[bool]:
    """Whether each operand of a loop, its result first, is of truth values."""
    name, dtype, same, ranges, _ = loop
    yield dtype == _BOOLS or not same
    for k in range(1, len(ranges)):
        yield dtype == _BOOLS or name == "truth" or (name == "where" and k == 1)


def _function(
    loops: tuple[Loop, ...],
    kept: tuple[bool, ...],
    rows: list[str],
    words: _Words,
    notes: tuple[str, ...],
) -> str:
    body, used = _body(loops, kept, rows, words, notes)
    kinds = {
        code: truth for loop in loops for code, truth in zip(loop[3], _truths(loop), strict=True)
    }
    reals = {n: "uint8_t" if kinds[n] else words.real for n in used}
    ranges = [f"    {reals[n]} *r{n} = ({reals[n]} *)data[{n}];" for n in used]
    arguments = [_arguments(n, loop[4]) for n, loop in enumerate(loops)]
    lines = [f"        {line} \\" for line in body]
    v, m = words.lanes, words.moves
    return "\n".join([
        f"void {SYMBOL}(char *const *data, const char *const *numbers, const td_arg *args,",
        "                 int64_t begin, int64_t end)",
        "{",
        *ranges, *_numbers(loops, words), *arguments,
        "#define STEP(LOAD, STORE, TRUTHS, KEEP) \\", *lines, "",
        f"#define LOAD(r) {m}_load(r + i)",
        f"#define STORE(r, v) {m}_store(r + i, v)",
        f"#define TRUTHS(r) {v}_truths(r + i)",
        f"#define KEEP(r, v) {v}_keep(r + i, v)",
        f"#define LOAD_REST(r) {m}_load_n(r + i, end - i)",
        f"#define STORE_REST(r, v) {m}_store_n(r + i, v, end - i)",
        f"#define TRUTHS_REST(r) {v}_truths_n(r + i, end - i)",
        f"#define KEEP_REST(r, v) {v}_keep_n(r + i, v, end - i)",
        "    int64_t i = begin;",
        f"    for (; i + {words.width} <= end; i += {words.width}) {{ STEP(LOAD, STORE, TRUTHS, KEEP) }}",
        "    if (i < end) { STEP(LOAD_REST, STORE_REST, TRUTHS_REST, KEEP_REST) }",
        "}", "",
    ])  # fmt: skip


def _numbers(loops: tuple[Loop, ...], words: _Words) -> list[str]:
    found: list[str] = []
    for loop in loops:
        for code, truth in zip(loop[3], _truths(loop), strict=True):
            if code >= 0:
                continue
            n = len(found)
            vector, real = (words.lanes, "uint8_t") if truth else (words.vector, words.real)
            made = f"{vector}_truths_set" if truth else f"{words.moves}_set"
            if code == _WIDE:
                real, made = "float", "vf_set"
            found.append(f"    const {vector} n{n} = {made}(*(const {real} *)numbers[{n}]);")
    return found


def _arguments(n: int, args: tuple[tuple[int, int], ...]) -> str:
    """A copy that nothing else can write, so that what is made of it is made once."""
    values = [_argument(f"args[{n * max_args + k}]", *arg) for k, arg in enumerate(args)]
    return f"    const td_arg a{n}[] = {{{', '.join(values) or '{0}'}}};"


def _argument(place: str, kind: int, fact: int) -> str:
    if kind == _NONE:
        return "{.kind = 0}"
    if kind == _SCALAR:
        value = "{.kind = TD_S_FLOAT, .re = 1}" if fact else f"{place}.scalar"
        return f"{{.kind = {kind}, .scalar = {value}}}"
    if kind in (_TENSOR, _STR):
        return f"{{.kind = {kind}, .word = {fact}}}"
    if kind == _FLOAT:
        return f"{{.kind = {kind}, .f = {place}.f}}"
    return f"{{.kind = {kind}, .i = {fact if kind == _BOOL else f'{place}.i'}}}"


def _body(
    loops: tuple[Loop, ...],
    kept: tuple[bool, ...],
    rows: list[str],
    words: _Words,
    notes: tuple[str, ...],
) -> tuple[list[str], list[int]]:
    """Lines, and the ranges that they read or write."""
    value: dict[int, str] = {}  # of a range: the variable that it would hold
    loaded: list[int] = []
    written: dict[int, bool] = {}  # whether it is of truth values
    lines, numbers = [], 0
    for n, (loop, function) in enumerate(zip(loops, rows, strict=True)):
        given = []
        made, *kinds = _truths(loop)
        for code, truth in zip(loop[3][1:], kinds, strict=True):
            if code < 0:
                given.append(f"n{numbers}")
                numbers += 1
                continue
            if code not in value:
                value[code] = f"x{code}"
                vector, load = (words.lanes, "TRUTHS") if truth else (words.vector, "LOAD")
                lines.append(f"{vector} x{code} = {load}(r{code});")
                loaded.append(code)
            given.append(value[code])
        note = f" /* {_spoken(notes[n])} */" if n < len(notes) and notes[n] else ""
        given = given[:1] if _power(loop) else given
        call = f"{function}(a{n}, {', '.join(given)})"
        if words.rounds and not made and loop[0] not in _EXACT:
            call = f"{words.rounds}({call})"
        lines.append(f"{words.lanes if made else words.vector} v{n} = {call};{note}")
        value[loop[3][0]] = f"v{n}"
        written[loop[3][0]] = made
    stored = [code for code in written if kept[code]]
    lines += [f"{'KEEP' if written[c] else 'STORE'}(r{c}, {value[c]});" for c in stored]
    return lines, sorted({*loaded, *stored})


def _spoken(note: str) -> str:
    """As part of a comment that stays on its line."""
    return note.replace("*/", "* /").replace("\\", "/").replace("\n", " ")
