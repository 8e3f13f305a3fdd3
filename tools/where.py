"""Where an operator lives: its row, its C, its rules and its tests.

    python tools/where.py sort cross_entropy        a place a line, and how many sources name the operator
    python tools/where.py --counts                  of all rows: how many files make the operator, and those that many do

A place is a line that defines, registers or lists the operator: `op("sort(...`, `td_op_sort`, `def sort(`, `"sort.stable"`, a macro's first
argument `UNARY(exp, ...)`. Calls are no places. Sources are the files under `src` and `csrc`; what is generated, stubs and tests are not counted.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

__all__ = ["LIMITS", "ROOMS", "Place", "counts", "find", "main", "makers"]

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


#: most files that make an operator: its row, its C, its kernels, its rules
LIMITS = {"pointwise": 5, "other": 6}


def makers(root: Path, names: Iterable[str]) -> dict[str, set[str]]:
    """The files that make each operator: those of a room of its own, and not the sources that merely say its name."""
    found: dict[str, set[str]] = {name: set() for name in names}
    for path, lines in _lines(root):
        room = next(room for room, pattern in ROOMS if pattern.match(path))
        if room in ("test", "source"):
            continue
        text = "\n".join(lines)
        for name in found:
            pattern = NAMES[Path(path).suffix].format(re.escape(name))
            if name in text and any(re.search(pattern, line) for line in lines if name in line):
                found[name].add(path)
    return found


def _lines(root: Path) -> Iterator[tuple[str, list[str]]]:
    """(path below packages, its lines but for comments) of every source of a room."""
    for path in sorted((root / "packages").rglob("*.[pch]*")):
        inside = path.relative_to(root / "packages").as_posix()
        if (
            path.suffix in NAMES
            and "/build/" not in inside
            and any(p.match(inside) for _, p in ROOMS)
        ):
            lines = path.read_text().splitlines()
            yield inside, [x for x in lines if not x.lstrip().startswith(("#", "*", "/*"))]


def counts(root: Path) -> int:
    """Print how many files make each operator of the table; 1 if one has more than LIMITS allow."""
    from taeda._table._generate import rows

    kinds = {
        row.schema.name: "linalg" if row.family.startswith("linalg") else "other" for row in rows()
    }
    kinds |= {row.schema.name: "pointwise" for row in rows() if row.kind == "pointwise"}
    files = makers(root, kinds)
    over = 0
    for kind in ("pointwise", "other", "linalg"):
        mine = sorted((name for name in kinds if kinds[name] == kind), key=lambda n: -len(files[n]))
        spread = Counter(len(files[name]) for name in mine)
        print(f"{kind}: " + ", ".join(f"{n} files {spread[n]}" for n in sorted(spread)))
        many = [name for name in mine if len(files[name]) > LIMITS.get(kind, 99)]
        over += len(many)
        for name in many:
            short = sorted(
                path.replace("/src/taeda", "").replace("/csrc", "") for path in files[name]
            )
            print(f"  {name}: {len(short)}  {', '.join(short)}")
    return int(over > 0)


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
    if sys.argv[1:] == ["--counts"]:
        sys.exit(counts(Path(__file__).resolve().parent.parent))
    sys.exit(main(sys.argv[1:]))
