"""Where an operator lives: its row, its C, its rules and its tests.

    python tools/where.py sort cross_entropy        a place a line, and how many files make the operator
    python tools/where.py --counts                  of all rows: how many files make the operator,
                                                    and those that many do
    python tools/where.py --check                   only what is wrong: more files than LIMITS
                                                    allow, entries of WORDS that nobody needs,
                                                    operators without a row, kernel, rule, batching
                                                    rule or test, and without a reason

A place names the operator in the syntax of its file. In Python: the row, `def sort`, a string in a
list or among the arguments of a call. In C: `td_op_sort`, a string that is passed or listed, the
name that a macro is given: `X(exp, ...)`. Calls, docstrings, messages and comments are no places.
Files of the rooms below make operators; other sources only say their names. What a room says in
another meaning stands in WORDS. Where no file says the name, the files of its row's family are
told, or why there is none.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent / "hold"))
import facts

__all__ = [
    "LIMITS",
    "ROOMS",
    "WORDS",
    "Place",
    "check",
    "counts",
    "find",
    "lacking",
    "main",
    "makers",
]

#: what a place is, by the path below `packages/`; the first that fits
ROOMS = (
    ("row", re.compile(r"core/src/taeda/_table/[a-z]\w*\.py")),
    ("composite", re.compile(r"core/src/taeda/_composite/")),
    ("numpy twin", re.compile(r"core/src/taeda/_numpy/")),
    ("operator in C", re.compile(r"core/csrc/ops/")),
    ("kernel", re.compile(r"core/csrc/cpu/(?!simd/|run/)")),
    ("rule", re.compile(r"autograd/src/taeda/autograd/rules/(?!_)")),
    ("rule in C", re.compile(r"core/csrc/backward/fast_rules")),
    ("batching rule", re.compile(r"autograd/src/taeda/autograd/batching/(?!_)")),
    ("test", re.compile(r"[\w-]+/tests(_parity)?/")),
    ("source", re.compile(r"[\w-]+/(src|csrc)/")),
)
#: words in files of those rooms that are no operators there, and what they are
WORDS: dict[str, tuple[str, str]] = {
    "core/src/taeda/_composite/_segments.py": (
        "sum mean max min amax amin prod",
        "values of the argument `reduce`",
    ),
    "core/csrc/ops/indexing/dim.c": ("sum mean amax amin prod", "values of the argument `reduce`"),
    "core/csrc/ops/indexing/select.c": ("mean amax amin prod", "values of the argument `reduce`"),
    "autograd/src/taeda/autograd/rules/indexing.py": ("prod", "a value of the argument `reduce`"),
    "core/csrc/cpu/optim.c": ("add", "a value of the argument `operation` of _flat_number_"),
    "core/src/taeda/_composite/optim.py": (
        "add sub mul div",
        "values of the argument `operation` of _flat_number_",
    ),
    "core/csrc/cpu/norm/norm.c": ("t", "a variable"),
}
#: most files that make an operator: its row, its C, its kernels, its rules
LIMITS = {"pointwise": 5, "other": 6}
SPACES = ("nn", "linalg", "special", "fft", "functional", "get", "method")  # of names of rules
Place = tuple[str, str, int, str]  # what, path, line, text


# ---- what a file names ----
def _python(text: str) -> Iterator[tuple[str, int]]:
    """(name, line) of the functions of a Python file and of its strings in lists and calls."""
    for node in facts.tree(text).body:
        if isinstance(node, ast.FunctionDef):
            yield node.name, node.lineno
    prose = {
        id(part)
        for node in facts.nodes(text)
        if isinstance(node, ast.Compare | ast.Subscript)
        for part in ast.walk(node)
    }
    for node in facts.nodes(text):
        for part in () if id(node) in prose else _parts(node):
            if isinstance(part, ast.JoinedStr):
                part = part.values[0]  # f"sort(Tensor self, {DIM}) -> Tensor"
            if isinstance(part, ast.Constant) and isinstance(part.value, str):
                yield from ((name, part.lineno) for name in _names(part.value))
        if (
            isinstance(node, ast.Attribute)
            and node.attr == "split"
            and isinstance(node.value, ast.Constant)
        ):
            for word in str(node.value.value).split():
                yield from ((name, node.lineno) for name in _names(word))


def _parts(node: ast.AST) -> list[ast.expr | None]:
    if isinstance(node, ast.Call):
        return list(node.args)
    if isinstance(node, ast.List | ast.Tuple | ast.Set):
        return list(node.elts)
    return [*node.keys, *node.values] if isinstance(node, ast.Dict) else []


def _names(text: str) -> Iterator[str]:
    """The operator that a string may name: of a schema, or all of it."""
    schema = re.match(r"([\w:.]+)\((?:.*->|\w+(?:\(\w!?\))?(?:\[\])?\?? \w+,)", text)
    first, _, rest = (schema[1] if schema else text).partition(".")
    name = rest if first in SPACES and rest else first
    if re.fullmatch(r"\w+", name):
        yield name


#: how a line of C names an operator: its function, an entry of a list, what a macro at the line's
#: start is given, what a loop or row is looked up by
C_NAMES = re.compile(
    r"\btd_op_(\w+)|\{\"(\w+)(?:\.\w+)?\""
    r"|^\s*[A-Z][A-Z_0-9]*\((?:\w+, )?\"?(\w+)\"?[,)]|[)] [A-Z_]*ENTR(?:Y|IES)\(\"(\w+)\""
    r"|\btd_(?:require|find)_\w+\((?:[^,()]*, )*\"(\w+)(?:\.\w+)?\""
)


def _c(text: str) -> Iterator[tuple[str, int]]:
    """(name, line) of what a C file names."""
    for number, line in enumerate(text.splitlines(), 1):
        if not line.lstrip().startswith(("*", "/*", "//", "#")):
            for match in C_NAMES.finditer(line):
                yield next(group for group in match.groups() if group), number


@cache
def _named(root: Path) -> list[tuple[str, str, dict[str, int]]]:
    """(what, path below packages, name -> first line) of every source of a room."""
    found = []
    for path in sorted((root / "packages").rglob("*.[pch]*")):
        inside = path.relative_to(root / "packages").as_posix()
        room = next((room for room, pattern in ROOMS if pattern.match(inside)), None)
        if room is None or path.suffix not in (".py", ".c") or "/build/" in inside:
            continue
        read = names_in_python if path.suffix == ".py" else names_in_c
        found.append((room, inside, dict(facts.of(read, path.read_text()))))
    return found


def names_in_python(text: str) -> list[tuple[str, int]]:
    """(name, first line) of what a Python file names."""
    return _first(_python(text))


def names_in_c(text: str) -> list[tuple[str, int]]:
    """(name, first line) of what a C file names."""
    return _first(_c(text))


def _first(said: Iterable[tuple[str, int]]) -> list[tuple[str, int]]:
    lines: dict[str, int] = {}
    for name, line in said:
        lines[name] = min(line, lines.get(name, line))
    return list(lines.items())


@cache
def _saying(root: Path) -> dict[str, list[int]]:
    """Name -> the places in `_named` of the files that say it."""
    found: dict[str, list[int]] = {}
    for place, (_, _, lines) in enumerate(_named(root)):
        for name in lines:
            found.setdefault(name, []).append(place)
    return found


def _spellings(name: str) -> set[str]:
    return {name, f"{name}_", name.removesuffix("_")}


@cache
def _rows() -> dict[str, list[Any]]:
    """Name or alias -> its rows."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "packages/core/src/taeda"))
    from _table._generate import rows  # type: ignore[import-not-found] - as the build reads it: nothing is compiled

    found: dict[str, list[Any]] = {}
    for row in rows():
        for name in (row.schema.name, *row.aliases):
            found.setdefault(name, []).append(row)
    return found


def _kind(row: Any) -> str:
    """Which of LIMITS holds for it."""
    if row.kind == "pointwise":
        return "pointwise"
    return "linalg" if row.family.startswith("linalg") else "other"


def _table(row: Any) -> str:
    return f"core/src/taeda/_table/{row.family}.py"


def find(root: Path, name: str) -> Iterator[Place]:
    """The first place in every file that names the operator `name`."""
    for room, inside, number in _places(root, name):
        text = (root / "packages" / inside).read_text().splitlines()[number - 1]
        yield room, f"packages/{inside}", number, text.strip()


def _places(root: Path, name: str) -> Iterator[tuple[str, str, int]]:
    """(what, path below packages, line) of the same."""
    words, named, saying = _spellings(name), _named(root), _saying(root)
    for place in sorted({place for word in words for place in saying.get(word, ())}):
        room, inside, lines = named[place]
        if not _another_meaning(inside, words):
            yield room, inside, min(lines[word] for word in words & lines.keys())


def _another_meaning(inside: str, words: set[str]) -> bool:
    return not words.isdisjoint(WORDS.get(inside, ("", ""))[0].split())


def makers(root: Path, names: Iterable[str]) -> dict[str, set[str]]:
    """The files that make each operator: those of a room of its own, and not the sources that
    merely say its name.
    """
    found = {}
    for name in names:
        rooms = _places(root, name)
        found[name] = {path for room, path, _ in rooms if room not in ("test", "source")}
        found[name] |= {_table(row) for row in _rows().get(name, ())}
    return found


# ---- what is said ----
def _over(root: Path) -> tuple[dict[str, Counter[int]], dict[str, set[str]]]:
    """How many files make the operators of each kind, and the operators that more make than may."""
    kinds = {name: _kind(rows[0]) for name, rows in _rows().items() if _is_name(name, rows)}
    files = makers(root, kinds)
    spread: dict[str, Counter[int]] = {
        "pointwise": Counter(),
        "other": Counter(),
        "linalg": Counter(),
    }
    for name, kind in kinds.items():
        spread[kind][len(files[name])] += 1
    return spread, {
        name: files[name] for name in kinds if len(files[name]) > LIMITS.get(kinds[name], 99)
    }


def _is_name(name: str, rows: list[Any]) -> bool:
    """Is it the name of a row, and not only an alias?"""
    return any(row.schema.name == name for row in rows)


def counts(root: Path) -> None:
    """Print how many files make each operator of the table, and those that more make than LIMITS allow."""
    spread, over = _over(root)
    for kind, numbers in spread.items():
        print(f"{kind}: " + ", ".join(f"{n} files {numbers[n]}" for n in sorted(numbers)))
    for name in sorted(over, key=lambda name: -len(over[name])):
        short = sorted(path.replace("/src/taeda", "").replace("/csrc", "") for path in over[name])
        print(f"  {name}: {len(short)}  {', '.join(short)}")


def check(root: Path) -> list[str]:
    """A sentence for every operator that too many files make, and for every entry of WORDS that is
    not needed.
    """
    wrong = [
        f"{name}: {len(files)} files make it ({', '.join(sorted(files))}); lists of names belong "
        "into columns of its row"
        for name, files in _over(root)[1].items()
    ]
    named = {inside: lines for _, inside, lines in _named(root)}
    for inside, (words, _) in WORDS.items():
        gone = sorted({*words.split()} - {*named.get(inside, ())})
        wrong += [f"WORDS: {inside} does not say {', '.join(gone)}"] if gone else []
    for name in (name for name, rows in _rows().items() if _is_name(name, rows)):
        rooms = lacking(root, name)
        wrong += [f"{name}: no {', no '.join(rooms)}, and no reason why"] if rooms else []
    return wrong


def lacking(root: Path, name: str) -> list[str]:
    """The rooms of NEEDED where the row `name` has neither a place nor a reason."""
    have = {place[0] for place in _all_places(root, name)}
    return [room for room in NEEDED if room not in have]


def main(names: list[str]) -> int:
    """Print the places of each name; 1 if neither a row nor a file has it."""
    root = Path(__file__).resolve().parent.parent
    missing = 0
    for name in names:
        akin = [] if _rows_of(name) else _akin(name)
        places = _all_places(root, name)
        if akin:
            print(f"{name}: no row has this name, but {', '.join(akin)}")
            places += [place for other in akin for place in _all_places(root, other)]
        missing += not (_rows_of(name) or akin or any(place[0] == "file" for place in places))
        exact = {path for _, path, number, _ in places if number}
        places = [place for place in places if place[2] or place[1] not in exact]
        order = ["file", *(room for room, _ in ROOMS)]
        for kind, path, number, line in sorted({*places}, key=lambda p: (order.index(p[0]), p)):
            print(f"{kind:14} {path}{f':{number}' if number else ''}  {line[:70]}")
        made = makers(root, akin or [name]).values()
        print(f"{name}: {len(set().union(*made))} files make it\n")
    return int(missing > 0)


def _rows_of(name: str) -> list[Any]:
    return _rows().get(name) or _rows().get(name.removesuffix("_"), [])


def _akin(name: str) -> list[str]:
    """Rows that begin with the name as a word, `_cross_entropy` or `cross_entropy_loss`; else those
    that hold it as one.
    """
    begin = [row for row in _rows() if f"{row.lstrip('_')}_".startswith(f"{name}_")]
    return sorted(begin or (row for row in _rows() if f"_{name}_" in f"_{row}_"))


def _all_places(root: Path, name: str) -> list[Place]:
    """Where the name is said, where the families of its rows lie or why nothing does, and files of
    that name.
    """
    said, rows = list(find(root, name)), _rows_of(name)
    said += _of_loops(root, rows, {place[0] for place in said})
    places = [*said, *_of_family(root, rows, {place[0] for place in said})]
    for path, row in {f"packages/{_table(row)}": row for row in reversed(rows)}.items():
        if path not in {place[1] for place in said}:  # a loop writes it: its text holds no name
            places.append(("row", path, 0, row.schema.qualified))
    places += _reasons(rows, {place[0] for place in places})
    return places + _files_named(root).get(name, [])


@cache
def _files_named(root: Path) -> dict[str, list[Place]]:
    """Sources by the stem of their name."""
    found: dict[str, list[Place]] = {}
    for path in sorted((root / "packages").rglob("*.[pc]*")):
        inside = path.relative_to(root).as_posix()
        if path.suffix in (".py", ".c") and ("/src/" in inside or "/csrc/" in inside):
            found.setdefault(path.stem, []).append(("file", inside, 0, "has this name"))
    return found


#: where the files of a family lie, whether they say an operator's name or not
FAMILIES = {
    "operator in C": ("core/csrc/ops/{}", "core/csrc/ops/{}.c", "core/csrc/ops/{}_*.c"),
    "kernel": ("core/csrc/cpu/{}", "core/csrc/cpu/{}.c", "core/csrc/cpu/{}_*.c"),
    "rule": ("autograd/src/taeda/autograd/rules/{}.py",),
    "batching rule": ("autograd/src/taeda/autograd/batching/{}.py",),
    "test": ("core/tests/ops/test_{}.py", "core/tests/ops/test_{}_*.py"),
}
#: what a row has, or a reason for not having it
NEEDED = ("row", "kernel", "rule", "batching rule", "test")


def _of_loops(root: Path, rows: list[Any], known: set[str]) -> Iterator[Place]:
    """The kernels of the loops and functions that the rows name, where none says the operator's name."""
    for name in sorted({n for row in rows for n in (row.loop, row.target) if n}):
        if "kernel" not in known:
            yield from (place for place in find(root, name) if place[0] == "kernel")


def _of_family(root: Path, rows: list[Any], known: set[str]) -> Iterator[Place]:
    """The families' tests, and of rooms without a place that says the name their files, `linalg`
    for `linalg_solve`.
    """
    for family in sorted({row.family for row in rows}):
        own = any(row.kind != "composite" for row in rows if row.family == family)
        why = (
            f"of the family {family.partition('_')[0]}"
            + ", in whose operations it is written" * (not own)
        )
        for room in {"test"} | (FAMILIES.keys() - known):
            whole = _family(root, room, family)
            for path in whole or _family(root, room, family.partition("_")[0]):
                yield room, path, 0, f"of the family {family}" if room == "test" else why


@cache
def _family(root: Path, room: str, family: str) -> list[str]:
    found = (f for p in FAMILIES[room] for f in sorted((root / "packages").glob(p.format(family))))
    return [path.relative_to(root).as_posix() + "/" * path.is_dir() for path in found]


def _reasons(rows: list[Any], known: set[str]) -> Iterator[Place]:
    """Why the rows have nothing in a room."""
    for room in NEEDED:
        why = next((why for why in (_reason(room, row) for row in rows) if why), None)
        if room not in known and why:
            yield room, "-", 0, why


def _reason(room: str, row: Any) -> str:
    if room in ("kernel", "rule", "batching rule") and row.kind == "composite":
        return f"none: the operations of _composite/{row.family}.py have theirs"
    if room == "kernel" and row.kind == "python":
        return f"none: _numpy/{row.family}.py computes it"
    if room == "kernel" and row.family in ("view", "padding"):
        return "none: a view, or one copied by cpu/run/copy.c"
    if room == "batching rule" and row.kind == "pointwise":
        return "that of all pointwise rows, batching/pointwise.py"
    if room == "batching rule" and not any(a.base == "Tensor" for a in row.schema.arguments):
        return "none: it takes no tensor"
    return "none: vmap takes a sample after the other" if room == "batching rule" else ""


def _chosen(arguments: list[str]) -> int:
    root = Path(__file__).resolve().parent.parent
    if arguments == ["--check"]:
        found = check(root)
        print(
            "\n".join(found)
            or "operators: each has its places, and no name stands in too many files"
        )
        return bool(found)
    if arguments == ["--counts"]:
        counts(root)
        return 0
    return main(arguments)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    STATUS = _chosen(sys.argv[1:])
    facts.save()
    sys.exit(STATUS)
