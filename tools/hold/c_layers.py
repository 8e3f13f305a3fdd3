"""Layers of the C core: a file includes files of its own folder or of folders below it and names
only functions of those, a header declares what its own folder defines, headers include in no
circle, a device stands behind its table, and `ops` prepares.

    python tools/hold/c_layers.py            a sentence for every include or name that points upward, for
                                        every declaration in a strange place, for every circle, for
                                        a device that is named past its table, for work in `ops`

The folders of `packages/core/csrc` are the layers (decision 0024). Read from the text: nothing is compiled.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

__all__ = [
    "LAYERS",
    "WORKS",
    "check",
    "circles",
    "knots",
    "leaking",
    "misdeclared",
    "misnamed",
    "named_upward",
    "upward",
    "working",
]

#: from the lowest up
LAYERS = (
    "runtime",
    "cpu",
    "ops",
    "object",
    "graph",
    "dispatch",
    "backward",
    "abi",
    "cuda",
    "binding",
    "package",
)
MOST = 9  # files that may call each other in a circle
#: folders of devices, and what of the core each may include; of the rest only `binding` names them
DEVICES = {"cuda": ("runtime", "cpu")}
INCLUDE = re.compile(r'^\s*#\s*include "([^"]+)"', re.M)
OUTSIDE = ("taeda/", "entries.gen.h")  # the public header, and what is generated
#: what only the processor's files say: threads, loops over elements, tables of kernels, pointers to elements
WORK = re.compile(
    r"\b(td_parallel|td_nd_run\w*|td_heavy_begin|TD_PICK)\b"
    r"|\b(?:float|double|u?int\d+_t) \*\w+ = td_data\(|(?:float|double|u?int\d+_t) \*\)\s*td_data\("
)
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
QUOTED = re.compile(r'"(?:\\.|[^"\\\n])*"')
NAME = re.compile(r"\btd_\w+\b")
#: a function that other files may call, from the start of its line to its body
DEFINED = re.compile(
    r"^(?!static|typedef|extern|return|else|#)(?:\w+[\s*]+)+(td_\w+)\([^;{}]*\)\s*\{", re.M
)
#: what stands at the start of a line and ends without a body
DECLARED = re.compile(r"^(?!static|typedef|return|else|#|\s)[\w\s*,()]*?;", re.M)
#: texts for devices, which compile apart and have names of their own
DEVICE_TEXTS = ("cpu/simd/device/", "cuda/kernels/")
#: files of `ops` that do more than prepare, and why; csrc/cpu/<family>_run.c is the place (decision 0038)
WORKS = {
    "ops/conv/conv.c": "the lock is given back around several runs, which share what was prepared",
    "ops/matmul_product.c": "the lock is given back around a product that may be several",
    "ops/pointwise/waiting.c": "the tile machine of compiled programs: it runs loops of many "
    "operators, of no family",
    "ops/pointwise/pointwise.c": "a number of the host becomes one of the dtype to compute in",
    "ops/indexing/plan.c": "the message of an index out of range names it",
    "ops/random/random.c": "the message of a refusal names the number",
    "ops/resample_nearest.c": "a table of neighbours, as long as an axis, is made on the host",
    "ops/view/split.c": "positions of cuts are read on the host: they are sizes",
    "ops/view/copy.c": "counts of repeats are read on the host: they are sizes",
    "ops/linalg/inverse.c": "LAPACK's numbers of failure, one a matrix",
    "ops/linalg/lu_ops.c": "LAPACK's exchanges of rows, a few a matrix",
    "ops/linalg/packed.c": "LAPACK's exchanges of rows, a few a matrix",
}


def includes(csrc: Path) -> dict[str, list[str]]:
    """Every C file by its path below `csrc`, with the paths it includes."""
    files = sorted(path for path in csrc.rglob("*.[ch]"))
    return {str(path.relative_to(csrc)): INCLUDE.findall(path.read_text()) for path in files}


def upward(found: dict[str, list[str]]) -> Iterator[str]:
    """A sentence for an include of a higher layer, and for one that is no path from csrc."""
    for file, names in found.items():
        for name in names:
            if name.startswith(OUTSIDE):
                continue
            if name not in found:
                yield f"{file}: {name!r} is no path from csrc"
            elif _rank(name) > _rank(file):
                yield f"{file} includes {name}, which is of a higher layer ({' < '.join(LAYERS)})"


def _rank(file: str) -> int:
    return LAYERS.index(file.partition("/")[0])


def circles(found: dict[str, list[str]]) -> Iterator[str]:
    """A sentence for every header that reaches itself."""
    for start in found:
        path = _way_back(start, found)
        if path and start == min(path):
            yield "headers include each other: " + " -> ".join([*path, start])


def _way_back(start: str, found: dict[str, list[str]]) -> list[str]:
    """The shortest way of includes from `start` to itself, or nothing."""
    ways = {name: [start] for name in found[start]}
    while ways:
        if start in ways:
            return ways[start]
        reached = {name: way for name, way in ways.items() if name in found}
        ways = {
            further: [*way, name]
            for name, way in reached.items()
            for further in found[name]
            if further == start or further not in way
        }
    return []


def texts(csrc: Path) -> dict[str, str]:
    """Every C file by its path below `csrc`, without comments and quoted words."""
    files = sorted(path for path in csrc.rglob("*.[ch]"))
    found = {path.relative_to(csrc).as_posix(): path.read_text() for path in files}
    return {
        name: QUOTED.sub('""', COMMENT.sub("", text))
        for name, text in found.items()
        if not name.startswith(DEVICE_TEXTS)
    }


def definitions(sources: dict[str, str]) -> dict[str, str]:
    """The file of every function that other files may call; those that macros make are not known."""
    return {
        match[1]: file
        for file, text in sources.items()
        if file.endswith(".c")
        for match in DEFINED.finditer(text)
    }


def misdeclared(sources: dict[str, str], home: dict[str, str]) -> Iterator[str]:
    """A sentence for every function that a header of another folder declares, or a file by itself."""
    for file, text in sources.items():
        for match in DECLARED.finditer(text):
            for name in re.findall(r"\b(td_\w+)\(", match[0]):
                at = home.get(name, file)
                if file.endswith(".c") and at != file:
                    yield f"{file} declares {name} of {at}: include the header that does"
                elif at.partition("/")[0] != file.partition("/")[0]:
                    yield f"{file} declares {name}, which {at} defines: a header of that folder does"


def named_upward(sources: dict[str, str], home: dict[str, str]) -> Iterator[str]:
    """A sentence for every function of a higher layer that a file names."""
    for file, text in sources.items():
        for name in sorted({*NAME.findall(text)} & home.keys()):
            if _rank(home[name]) > _rank(file):
                yield f"{file} names {name} of {home[name]}, which is of a higher layer: use a hook"


def knots(sources: dict[str, str], home: dict[str, str]) -> Iterator[str]:
    """A sentence for every circle of more than MOST files by the functions that they name."""
    named = {
        file: {home[name] for name in {*NAME.findall(text)} & home.keys()} - {file}
        for file, text in sources.items()
        if file.endswith(".c")
    }
    above: dict[str, set[str]] = {file: set() for file in named}
    for file, others in named.items():
        for other in others:
            above[other].add(file)
    left = set(named)
    while left:
        start = min(left)
        circle = _reached(start, named) & _reached(start, above) | {start}
        left -= circle
        if len(circle) > MOST:
            yield f"{len(circle)} files name each other's functions: {', '.join(sorted(circle))}"


def _reached(start: str, graph: dict[str, set[str]]) -> set[str]:
    found, waiting = set[str](), [start]
    while waiting:
        fresh = graph[waiting.pop()] - found
        found |= fresh
        waiting += fresh
    return found


def leaking(sources: dict[str, str], found: dict[str, list[str]]) -> Iterator[str]:
    """A sentence for every file that names a device past its table, and for what a device may not include."""
    for device, below in DEVICES.items():
        for file, text in sources.items():
            folder = file.partition("/")[0]
            for name in sorted({*re.findall(rf"\btd_{device}_\w+", text)}):
                if folder not in (device, "binding"):
                    yield f"{file} names {name}: ask a slot (runtime/device.h) or a work (runtime/work.h)"
            for name in found[file] if folder == device else ():
                if not name.startswith((*(f"{other}/" for other in (device, *below)), *OUTSIDE)):
                    yield f"{file} includes {name}: a device stands on {', '.join(below)} alone"


def misnamed(csrc: Path) -> Iterator[str]:
    """A sentence for every file whose first line gives it another name."""
    for path in sorted(csrc.rglob("*.[ch]")):
        match = re.match(r"/\* ([\w./]+\.[ch]) - ", path.read_text())
        if match and match[1] != path.name:
            yield f"{path.relative_to(csrc).as_posix()} calls itself {match[1]}"


def working(csrc: Path) -> Iterator[str]:
    """A sentence for every file of `ops` that does elements' work and is not listed in WORKS, and
    for every listed one that does none.
    """
    found = set()
    for path in sorted((csrc / "ops").rglob("*.[ch]")):
        name = path.relative_to(csrc).as_posix()
        match = WORK.search(COMMENT.sub("", path.read_text()))
        if match and name not in WORKS:
            yield f"{name}: {match[0].strip()!r} belongs to csrc/cpu: ops prepares, cpu runs (decision 0038)"
        found |= {name} if match else set()
    existing = {name for name in WORKS if (csrc / name).exists()}
    yield from (
        f"{name} does no work and need not be in WORKS" for name in sorted(existing - found)
    )


def check(root: Path) -> list[str]:
    """All that is wrong in the core of the checkout `root`."""
    found = includes(root / "packages" / "core" / "csrc")
    strangers = sorted({f.partition("/")[0] for f in found} - set(LAYERS))
    if strangers:
        return [f"csrc/{name} is no layer" for name in strangers]
    csrc = root / "packages" / "core" / "csrc"
    sources = texts(csrc)
    home = definitions(sources)
    names = [*misdeclared(sources, home), *named_upward(sources, home)]
    seam = [*leaking(sources, found), *knots(sources, home)]
    return [*upward(found), *circles(found), *names, *seam, *working(csrc), *misnamed(csrc)]


if __name__ == "__main__":
    wrong = check(Path(__file__).resolve().parents[2])
    print("\n".join(wrong) or f"C: {len(LAYERS)} layers hold")
    sys.exit(bool(wrong))
