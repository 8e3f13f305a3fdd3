"""Where the tests of a module are, by rule, and how much of the module they run.

    mirror.py                              a table: modules of each package, how many
                                                        have their test, the share
    mirror.py --missing optim              modules of a package without their test,
                                                        and where it would lie
    mirror.py --check                      a sentence for every package whose share
                                                        fell below tools/hold/mirror.json
    mirror.py --write                      write the present shares to tools/hold/mirror.json
    mirror.py --coverage optim/adam.py     the share of one module's lines that its own test runs
    mirror.py --coverage optim             that for each pair of a package, and the
                                                        medians; alone: of every package

The rule: the test of `packages/P/src/taeda/<folders>/<name>.py` is
`packages/P/tests/<folders>/test_<name>.py`, where

- `<folders>` leaves out the package's own folder (`optim`, `utils/data` of `data`), and
- `<name>` stands without the underscores around it (`__main__` is tested by `test_main.py`).

A family of operations is one thing in three folders: `tests/ops/test_<family>.py` tests
`_table/<family>.py` (its rows, which are data), `_composite/<family>.py` and `_numpy/<family>.py`.
Modules of these folders that begin with an underscore are no families.

An `__init__.py` is the module of its folder: `optim/_x/__init__.py` is tested by `tests/test_x.py`;
one that defines nothing is a table of contents and needs no test. Modules of at most 25 lines, their
docstrings left out, need none either.

Coverage needs the distribution `coverage`. A line counts when the tests of that one file run it.
Lines within functions are given apart, because an import runs all the others. What tests do in
other processes is not seen.
"""

from __future__ import annotations

import argparse
import ast
import json
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

__all__ = ["MOST", "check", "modules", "place_of", "shares"]

ROOT = Path(__file__).resolve().parents[2]
KEPT = "tools/hold/mirror.json"
#: lines of a module, without docstrings, that may go without a test of its own
MOST = 25
#: folders that hold a module a family of operations, and the folder of the tests of families
FAMILIES, OF_FAMILIES = ("_table", "_composite", "_numpy"), "ops"
BESIDE = ("", "utils/")  # a package's own folder lies in `taeda` or in `taeda/utils`


def source(package: str, root: Path = ROOT) -> Path:
    """Where the modules of a package lie."""
    return root / "packages" / package / "src" / "taeda"


def modules(package: str, root: Path = ROOT) -> list[Path]:
    """The modules of a package that need a test of their own, by their path."""
    found = sorted(source(package, root).rglob("*.py"))
    return [path for path in found if _needs_test(path)]


def _needs_test(path: Path) -> bool:
    text = path.read_text()
    if len(text.splitlines()) - _described(text) <= MOST:
        return False
    return path.name != "__init__.py" or _defines(text)


def _described(text: str) -> int:
    """How many lines docstrings have: examples are tested where they stand."""
    kinds = (ast.Module, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, kinds)]
    first = [node.body[0] for node in nodes if ast.get_docstring(node) is not None]
    return sum((one.end_lineno or one.lineno) - one.lineno + 1 for one in first)


def _defines(text: str) -> bool:
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return any(isinstance(node, kinds) for node in ast.parse(text).body)


def own_folder(package: str, root: Path = ROOT) -> Path:
    """The folder that the rule leaves out: the package's own, or `taeda` itself where it has none."""
    name = package.replace("-", "_")
    folders = [source(package, root) / f"{beside}{name}" for beside in BESIDE]
    return next((folder for folder in folders if folder.is_dir()), source(package, root))


def place_of(package: str, module: Path, root: Path = ROOT) -> Path:
    """Where the rule puts the test of a module.

    >>> str(place_of("optim", ROOT / "packages/optim/src/taeda/optim/_base.py").relative_to(ROOT))
    'packages/optim/tests/test_base.py'
    """
    tests = root / "packages" / package / "tests"
    whole = module.parent if module.name == "__init__.py" else module.with_suffix("")
    own, above = own_folder(package, root), source(package, root)
    if whole == own:  # the package's own `__init__.py`
        return tests / f"test_{own.name}.py"
    inside = whole.relative_to(own if whole.is_relative_to(own) else above)
    if str(inside.parent) in FAMILIES and not inside.name.startswith("_"):
        return tests / OF_FAMILIES / f"test_{inside.name}.py"
    return tests / inside.parent / f"test_{inside.name.strip('_')}.py"


def packages(root: Path = ROOT) -> list[str]:
    """Names of the packages that have modules."""
    return sorted(path.parent.name for path in root.glob("packages/*/src"))


def missing(package: str, root: Path = ROOT) -> list[Path]:
    """Modules of a package whose test is not where the rule puts it."""
    return [path for path in modules(package, root) if not place_of(package, path, root).is_file()]


def shares(root: Path = ROOT) -> dict[str, tuple[int, int]]:
    """Of each package: how many modules need a test, and how many have it."""
    count = {package: len(modules(package, root)) for package in packages(root)}
    return {name: (total, total - len(missing(name, root))) for name, total in count.items()}


def percent(total: int, have: int) -> int:
    """A share in whole per cent, rounded down; all of nothing is all."""
    return have * 100 // total if total else 100


def check(root: Path = ROOT) -> list[str]:
    """A sentence for every package that mirrors less than what is written."""
    kept = json.loads((root / KEPT).read_text())
    return [
        f"{package}: {have} of {total} modules have a test at the mirrored path, "
        f"{percent(total, have)} %; {KEPT} keeps "
        f"{kept.get(package, 100)} %. Write the tests that `python tools/hold/mirror.py --missing "
        f"{package}` names."
        for package, (total, have) in shares(root).items()
        if percent(total, have) < kept.get(package, 100)
    ]


def table(root: Path = ROOT) -> Iterator[str]:
    """The shares as lines of text."""
    yield f"{'package':<16}{'modules':>8}{'tested':>8}{'share':>8}"
    for package, (total, have) in shares(root).items():
        yield f"{package:<16}{total:>8}{have:>8}{percent(total, have):>6} %"


# ---- how much of its module a test runs ----


class PerFile:
    """A plugin of pytest that tells the measurement which test file is at work, importing it included."""

    def __init__(self, switch: Callable[[str], None]) -> None:
        self.switch = switch

    def pytest_collectstart(self, collector: Any) -> None:
        """Importing a test file may run its module, where it makes its cases."""
        self.switch(str(collector.path))

    def pytest_runtest_protocol(self, item: Any) -> None:
        """All of one test counts for its file."""
        self.switch(str(item.path))


def covered(package: str, chosen: list[Path]) -> dict[Path, tuple[float, float | None]]:
    """Of each module: the share of its lines that its own test runs, and that of the lines within
    functions.
    """
    import coverage
    import pytest

    measure = coverage.Coverage(data_file=None, include=[str(path) for path in chosen])
    measure.start()
    files = sorted({str(place_of(package, path)) for path in chosen})
    plugin = PerFile(measure.switch_context)
    status = pytest.main(["-q", "--no-header", "-p", "no:cacheprovider", *files], plugins=[plugin])
    measure.stop()
    if status:
        raise SystemExit(f"the tests of {package} fail, so what they cover was not counted")
    return {path: _share(measure, path, place_of(package, path)) for path in chosen}


def _share(measure: Any, path: Path, test: Path) -> tuple[float, float | None]:
    lines = set(measure.analysis2(str(path))[1])
    data = measure.get_data()
    contexts = data.contexts_by_lineno(str(path))
    inside = lines & _within_functions(path)
    ran = {line for line, names in contexts.items() if str(test) in names}
    ran |= lines - inside  # what an import runs
    within = len(ran & inside) / len(inside) if inside else None
    return len(ran & lines) / len(lines), within


def _within_functions(path: Path) -> set[int]:
    """Numbers of the lines that only a call runs."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    functions = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, kinds)]
    spans = [(node.body[0].lineno, node.end_lineno or 0) for node in functions]
    return {line for first, last in spans for line in range(first, last + 1)}


def report(package: str, inside: str) -> None:
    """Print the pairs of a package, or one of them, and the medians."""
    pairs = [path for path in modules(package) if place_of(package, path).is_file()]
    pairs = [path for path in pairs if str(path).endswith(f"/{inside}")] if inside else pairs
    if not pairs:
        raise SystemExit(f"no module {inside!r} of {package} has its test: try --missing {package}")
    found = covered(package, pairs)
    for path, (whole, within) in sorted(found.items(), key=lambda pair: pair[1][0]):
        shown = "no calls" if within is None else f"{within:.0%} within functions"
        print(f"{whole:>5.0%}  {path.relative_to(source(package))}  ({shown})")
    whole = statistics.median(share for share, _ in found.values())
    calls = [share for _, share in found.values() if share is not None]
    within = statistics.median(calls) if calls else 1.0
    print(f"{package}: median {whole:.0%} of {len(pairs)} modules; {within:.0%} within functions")


def main(arguments: list[str]) -> int:
    """Do what the command line says; 1 where a package mirrors less than it did."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--missing", metavar="P")
    parser.add_argument("--coverage", nargs="*", metavar="P[/MODULE]")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args(arguments)
    if given.missing:
        for path in missing(given.missing):
            print(f"{path.relative_to(ROOT)}  {place_of(given.missing, path).relative_to(ROOT)}")
        return 0
    if given.coverage is not None:
        return _coverage(given.coverage or packages())
    if given.write:
        kept = {package: percent(*share) for package, share in shares().items()}
        (ROOT / KEPT).write_text(json.dumps(kept, indent=2) + "\n")
    if not given.check:
        print("\n".join(table()))
    wrong = check()
    print("\n".join(wrong), end="\n" * bool(wrong))
    return bool(wrong)


def _coverage(names: list[str]) -> int:
    """Each package in a process of its own, so that none has run what another imports."""
    if len(names) == 1:
        package, _, inside = names[0].partition("/")
        report(package, inside)
        return 0
    command = [sys.executable, __file__, "--coverage"]
    return max(subprocess.run([*command, name], check=False).returncode for name in names)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
