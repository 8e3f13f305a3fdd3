"""Where an operator lives: its row, its C, its rules and its tests.

    python tools/where.py sort cross_entropy        a place a line, and how many sources name the operator

A place is a line that defines, registers or lists the operator: `op("sort(...`, `td_op_sort`, `def sort(`, `"sort.stable"`, a macro's first
argument `UNARY(exp, ...)`. Calls are no places. Sources are the files under `src` and `csrc`; what is generated, stubs and tests are not counted.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

__all__ = ["ROOMS", "Place", "find", "main"]

#: what a place is, by the path below `packages/`; the first that fits
ROOMS = (
    ("row", re.compile(r"core/src/taeda/_table/[a-z]\w*\.py")),
    ("composite", re.compile(r"core/src/taeda/_composite/")),
    ("numpy twin", re.compile(r"core/src/taeda/_numpy/")),
    ("operator in C", re.compile(r"core/csrc/ops/")),
    ("kernel", re.compile(r"core/csrc/cpu/")),
    ("rule", re.compile(r"autograd/src/taeda/autograd/rules/")),
    ("rule in C", re.compile(r"core/csrc/backward/fast_rules")),
    ("batching rule", re.compile(r"autograd/src/taeda/autograd/batching/")),
    ("test", re.compile(r"[\w-]+/tests(_parity)?/")),
    ("source", re.compile(r"[\w-]+/(src|csrc)/")),
)
#: how a line names an operator, by the language
NAMES = {
    ".py": r"""(?<![="'>] )(?<![="'])["']{0}_?(?:["'.(\[]|$)|\bdef _?{0}_?\(|^ +"?(?:\w+ )*{0} (?:\w+ )*\w+"?$""",
    ".c": r"""\btd_op_{0}_?\b|"{0}_?"|\b[A-Z_]+\({0},""",
    ".h": r"""\btd_op_{0}_?\b|"{0}_?"|\b[A-Z_]+\({0},""",
}
Place = tuple[str, str, int, str]  # what, path, line, text


def find(root: Path, name: str) -> Iterator[Place]:
    """Every line that defines, registers or lists the operator `name`."""
    words = {suffix: re.compile(text.format(re.escape(name))) for suffix, text in NAMES.items()}
    for path in sorted((root / "packages").rglob("*.[pch]*")):
        inside = path.relative_to(root / "packages").as_posix()
        kind = next((room for room, pattern in ROOMS if pattern.match(inside)), None)
        if kind and path.suffix in words and "/build/" not in inside:
            for number, line in enumerate(path.read_text().splitlines(), 1):
                if words[path.suffix].search(line) and not line.lstrip().startswith(
                    ("#", "*", "/*")
                ):
                    yield kind, f"packages/{inside}", number, line.strip()


def rows_of(name: str) -> Iterator[Place]:
    """The rows of `name` in the table, those too that a loop writes: their text holds no name to find."""
    from taeda._table._generate import rows

    for row in rows():
        if row.schema.name in (name, name.removesuffix("_")) or name in row.aliases:
            yield "row", f"packages/core/src/taeda/_table/{row.family}.py", 0, row.schema.qualified


def main(names: list[str]) -> int:
    """Print the places of each name; 1 if one has no row."""
    root = Path(__file__).resolve().parent.parent
    order = [room for room, _ in ROOMS]
    missing = 0
    for name in names:
        places = sorted(find(root, name), key=lambda place: (order.index(place[0]), place[1:3]))
        if not any(kind == "row" for kind, *_ in places):
            places = [*rows_of(name), *places]
        missing += not any(kind == "row" for kind, *_ in places)
        shown: set[tuple[str, str]] = set()
        for kind, path, number, line in places:
            if (kind, path) not in shown:  # the first line of a file shows the way
                print(f"{kind:14} {path}:{number}  {line[:70]}")
                shown.add((kind, path))
        sources = {path for kind, path, *_ in places if kind != "test"}
        print(f"{name}: {len(sources)} sources name it\n")
    return int(missing > 0)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1:]))
