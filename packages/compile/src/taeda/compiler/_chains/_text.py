"""The C text of a chain: each operation is the row of core's kernel table, on vectors that stay in
registers.

    ranges   memory that the chain reads or writes: r0, r1, ..
    numbers  operands that are one number: n0, n1, ..
    a0, a1   the arguments of each operation's call: their kinds are part of the chain, what they
             are worth is not
    v0, v1   the results

Sizes, addresses and numbers are given to the function, so one text serves all of them.
"""

from __future__ import annotations

from dataclasses import dataclass

from taeda._core_api.chains import expanded, row

__all__ = ["SYMBOL", "ChainText", "Loop", "NoText", "of_chain"]

SYMBOL = "taeda_chain"
#: (name, dtype, whether the result has it, ranges or -1, (kind, fact) of each argument)
Loop = tuple[str, int, bool, tuple[int, ...], tuple[tuple[int, int], ...]]
_F32, _F64 = 11, 12
_VECTORS = {_F32: ("vf", "float", "VF_WIDTH"), _F64: ("vd", "double", "VD_WIDTH")}
_NONE, _TENSOR, _SCALAR, _FLOAT, _BOOL, _STR = 0, 1, 3, 6, 8, 10  # kinds of arguments
_PLACES = 16  # arguments of a call


class NoText(Exception):
    """Why a chain has no text."""


@dataclass(frozen=True)
class ChainText:
    """`own`: the function alone; `whole`: with all that it includes."""

    own: str
    whole: str


def of_chain(
    loops: tuple[Loop, ...], kept: tuple[bool, ...], notes: tuple[str, ...] = ()
) -> ChainText:
    """The text of a chain; `notes` stand beside its operations. NoText says why there is none."""
    dtype = _dtype(loops)
    rows = [_row(loop) for loop in loops]
    own = _function(loops, kept, [name for _, name in rows], _VECTORS[dtype], notes)
    families = list(dict.fromkeys(family for family, _ in rows))
    return ChainText(own, expanded(families) + "\n" + own)


def _dtype(loops: tuple[Loop, ...]) -> int:
    found = {loop[1] for loop in loops}
    if len(found) > 1 or not found <= _VECTORS.keys():
        raise NoText("it computes in several dtypes, or in others than float32 and float64")
    for name, _, same, _, _ in loops:
        if not same:
            raise NoText(f"the result of {name} has another dtype")
    return found.pop()


def _row(loop: Loop) -> tuple[str, str]:
    name, dtype, _, ranges, args = loop
    if name == "clamp":  # its two bounds, or the one that there is
        name = "clamp_both" if len(ranges) == 4 else "clamp_max" if not args[1][0] else "clamp_min"
    found = row(name, dtype)
    if found is None:
        raise NoText(f"{name} is no expression of vectors")
    return found


def _function(
    loops: tuple[Loop, ...], kept: tuple[bool, ...], rows: list[str],
    words: tuple[str, str, str], notes: tuple[str, ...],
) -> str:  # fmt: skip
    vector, real, width = words
    body, used = _body(loops, kept, rows, vector, notes)
    ranges = [f"    {real} *r{n} = ({real} *)data[{n}];" for n in used]
    arguments = [_arguments(n, loop[4]) for n, loop in enumerate(loops)]
    count = sum(code < 0 for loop in loops for code in loop[3])
    numbers = [
        f"    const {vector} n{n} = {vector}_set(*(const {real} *)numbers[{n}]);"
        for n in range(count)
    ]
    lines = [f"        {line} \\" for line in body]
    return "\n".join([
        f"void {SYMBOL}(char *const *data, const char *const *numbers, const td_arg *args,",
        "                 int64_t begin, int64_t end)",
        "{",
        *ranges, *numbers, *arguments,
        "#define STEP(LOAD, STORE) \\", *lines, "",
        f"#define LOAD(r) {vector}_load(r + i)",
        f"#define STORE(r, v) {vector}_store(r + i, v)",
        f"#define LOAD_REST(r) {vector}_load_n(r + i, end - i)",
        f"#define STORE_REST(r, v) {vector}_store_n(r + i, v, end - i)",
        "    int64_t i = begin;",
        f"    for (; i + {width} <= end; i += {width}) {{ STEP(LOAD, STORE) }}",
        "    if (i < end) { STEP(LOAD_REST, STORE_REST) }",
        "}", "",
    ])  # fmt: skip


def _arguments(n: int, args: tuple[tuple[int, int], ...]) -> str:
    """A copy that nothing else can write, so that what is made of it is made once."""
    values = [_argument(f"args[{n * _PLACES + k}]", *arg) for k, arg in enumerate(args)]
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
    loops: tuple[Loop, ...], kept: tuple[bool, ...], rows: list[str], vector: str,
    notes: tuple[str, ...],
) -> tuple[list[str], list[int]]:  # fmt: skip
    """Lines, and the ranges that they read or write."""
    value: dict[int, str] = {}  # of a range: the variable that it would hold
    loaded: list[int] = []
    written: dict[int, None] = {}
    lines, numbers = [], 0
    for n, (loop, function) in enumerate(zip(loops, rows, strict=True)):
        given = []
        for code in loop[3][1:]:
            if code < 0:
                given.append(f"n{numbers}")
                numbers += 1
                continue
            if code not in value:
                value[code] = f"x{code}"
                lines.append(f"{vector} x{code} = LOAD(r{code});")
                loaded.append(code)
            given.append(value[code])
        note = f" /* {_spoken(notes[n])} */" if n < len(notes) and notes[n] else ""
        lines.append(f"{vector} v{n} = {function}(a{n}, {', '.join(given)});{note}")
        value[loop[3][0]] = f"v{n}"
        written[loop[3][0]] = None
    stored = [code for code in written if kept[code]]
    lines += [f"STORE(r{code}, {value[code]});" for code in stored]
    return lines, sorted({*loaded, *stored})


def _spoken(note: str) -> str:
    """As part of a comment that stays on its line."""
    return note.replace("*/", "* /").replace("\\", "/").replace("\n", " ")
