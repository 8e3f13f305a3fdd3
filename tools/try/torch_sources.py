"""Sources of public extension projects, unchanged, through the headers of torch's names.

    torch_sources.py --get FOLDER          fetch the projects' sdists into FOLDER, and say of each how
                                           many of its CPU sources the compiler accepts
    torch_sources.py FOLDER torchsort      these projects alone, from a folder that has them
    torch_sources.py FOLDER --write        the table of docs/porting-extensions.md, too

Each `.cpp` that includes a header of torch is compiled by itself, with no code made, in the folder
that it lies in. What a project compiles for CUDA alone is left out, and so is what it does not compile
itself. Of a source that fails, the lines are told that the compiler names: those are to change.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import sysconfig
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "testing"))
from archives import unpack

from taeda.utils.cpp_extension import include_paths

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "porting-extensions.md"
#: distribution and version
PROJECTS = {
    "torch_scatter": "2.1.2", "torch_cluster": "1.6.3", "torch_sparse": "0.6.18",
    "torch_spline_conv": "1.2.2", "pytorch-fast-transformers": "0.4.0", "inplace-abn": "1.1.0",
    "spatial-correlation-sampler": "0.5.0", "torch-points-kernels": "0.7.0",
    "torchsort": "0.1.10", "torchlpc": "0.7.2",
}  # fmt: skip
OF_TORCH = re.compile(r"#include *[<\"](torch|ATen|c10|pybind11)/")
#: of CUDA, by a word of the path or a header that only its toolkit has
OF_CUDA = re.compile(r"cuda|/gpu|_gpu", re.I)
CUDA_HEADER = re.compile(r"#include *[<\"](cuda|c10/cuda|ATen/cuda)")
OF_CUDA_BUILD = re.compile(r"# *(ifdef|if +defined) *\(? *WITH_CUDA\b")
OWN_HEADER = re.compile(r"#include *\"([^\"]+)\"")
BEGIN, END = "<!-- projects -->", "<!-- end of projects -->"


@dataclass
class Found:
    """What the compiler said of one project."""

    name: str
    sources: int = 0
    lines: int = 0
    #: of each source that failed: its lines that the compiler names, and its first words
    failed: dict[str, tuple[int, str]] = field(default_factory=dict)

    def row(self) -> str:
        wrong = sum(count for count, _ in self.failed.values())
        accepted = self.sources - len(self.failed)
        whole = f"{accepted} of {self.sources} | {wrong} of {self.lines}"
        return f"| {self.name} {PROJECTS[self.name]} | {whole} |"


def fetch(name: str, folder: Path) -> None:
    """The sdist of a project, unpacked into folder/name."""
    if (folder / name).is_dir():
        return
    kept = folder / "sdists"
    wanted = f"{name}=={PROJECTS[name]}"
    pip = [sys.executable, "-m", "taeda", "run", "-m", "pip", "download", "-q", "--no-deps"]
    # its setup.py, which imports torch, says what it is
    only = ["--no-binary", ":all:", "--no-build-isolation"]
    subprocess.run([*pip, *only, "-d", str(kept), wanted], check=False)
    stem = re.sub(r"[-_.]+", "[-_.]", name)
    archives = [
        p for p in kept.glob("*.tar.gz") if re.match(rf"{stem}-{PROJECTS[name]}", p.name, re.I)
    ]
    if not archives:
        raise SystemExit(f"{wanted} has no sdist here: put its .tar.gz into {kept}")
    unpack(archives[0], folder / name)


def for_cpu(text: str) -> str:
    """A source without what stands behind `#ifdef WITH_CUDA`.

    >>> for_cpu("a\\n#ifdef WITH_CUDA\\n#if X\\nb\\n#endif\\n#else\\nc\\n#endif\\nd")
    'a\\nc\\nd'
    """
    kept, open_blocks = [], []  # of each block: whether it is left out
    for line in text.splitlines():
        word = line.strip()
        if re.match(r"# *if", word):
            open_blocks.append(bool(OF_CUDA_BUILD.match(word)))
        elif re.match(r"# *else", word) and open_blocks and open_blocks[-1]:
            open_blocks[-1] = False
        elif re.match(r"# *endif", word) and open_blocks:
            open_blocks.pop()
        elif not any(open_blocks):
            kept.append(line)
    return "\n".join(kept)


def speaks_of_torch(path: Path, seen: frozenset[Path] = frozenset()) -> bool:
    """Whether a source includes a header of torch, or headers of its own that do."""
    if path in seen or not path.is_file():
        return False
    text = path.read_text(errors="replace")
    near = ((path.parent / name).resolve() for name in OWN_HEADER.findall(text))
    return bool(OF_TORCH.search(text)) or any(speaks_of_torch(one, seen | {path}) for one in near)


def sources(folder: Path) -> list[Path]:
    """The project's own sources for the CPU that speak of torch."""
    found = []
    for path in sorted(folder.rglob("*.cpp")):
        text = for_cpu(path.read_text(errors="replace"))
        own = "test" not in path.parts and "third_party" not in path.parts
        host = not OF_CUDA.search(str(path.relative_to(folder))) and not CUDA_HEADER.search(text)
        if own and host and speaks_of_torch(path):
            found.append(path)
    return found


def refused(path: Path, top: Path) -> tuple[int, str] | None:
    """None if the compiler accepts a source; else how many lines of the project it names, and its words."""
    headers = list(top.rglob("*.h"))
    folders = {path.parent, *(p.parent for p in headers)}
    # a library that the sdist brings names its headers from its own folder
    folders |= {p.parent.parent for p in headers if "third_party" in p.parts}
    command = ["g++", "-std=c++17", "-fsyntax-only", "-w", "-DWITH_PYTHON", "-fmax-errors=0"]
    command += ["-DTORCH_EXTENSION_NAME=project", "-DTAEDA_EXTENSION_NAME=project"]
    system = [*include_paths(), sysconfig.get_path("include")]
    compat = next(p / "torch_compat" for p in map(Path, system) if (p / "torch_compat").is_dir())
    command += [f"-I{p}" for p in (*sorted(folders), *system, compat)]
    done = subprocess.run([*command, str(path)], capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return None
    named = set(re.findall(rf"^({re.escape(str(top))}[^:]*:\d+):", done.stderr, re.M))
    errors = [line for line in done.stderr.splitlines() if "error:" in line]
    return max(1, len(named)), errors[0].partition("error: ")[2] if errors else done.stderr[-200:]


def examine(name: str, folder: Path) -> Found:
    """Compile every source of a project."""
    top = folder / name
    if not top.is_dir():
        raise SystemExit(f"{top} is no folder: fetch {name} with --get")
    found = Found(name)
    for path in sources(top):
        found.sources += 1
        found.lines += len(path.read_text(errors="replace").splitlines())
        if (wrong := refused(path, top)) is not None:
            found.failed[str(path.relative_to(top))] = wrong
    return found


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="where the unpacked sdists are, or come")
    parser.add_argument("names", nargs="*", help="projects; all without")
    parser.add_argument("--get", action="store_true", help="fetch what the folder lacks")
    parser.add_argument("--write", action="store_true", help="write the page's table")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    names = options.names or list(PROJECTS)
    if options.get:
        for name in names:
            fetch(name, options.folder)
    found = []
    with ThreadPoolExecutor(2) as pool:
        for one in pool.map(lambda name: examine(name, options.folder), names):
            print(one.row(), flush=True)
            for source, (count, words) in one.failed.items():
                print(f"    {source}: {count} lines, first: {words}")
            found.append(one)
    accepted = sum(one.sources - len(one.failed) for one in found)
    total = sum(one.sources for one in found)
    print(f"{accepted} of {total} sources compile unchanged")
    if options.write:
        write(found)
    return 0 if total and accepted >= 0.95 * total else 1


def write(found: list[Found]) -> None:
    """The table of the page, anew."""
    head = "| project | files that compile unchanged | lines to change |\n|---|---|---|\n"
    text = PAGE.read_text()
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    rows = "\n".join(one.row() for one in found)
    PAGE.write_text(f"{before}{BEGIN}\n\n{head}{rows}\n\n{END}{after}")


if __name__ == "__main__":
    sys.exit(main())
