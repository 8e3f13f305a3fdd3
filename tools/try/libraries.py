"""The check lists of public libraries, run under taeda by the name of torch; each in a process of its own.

    python tools/try/libraries.py                    # those that are installed
    python tools/try/libraries.py kornia timm        # some
    python tools/try/libraries.py --beside PYTHON    # also with the torch of that Python, and compare
    python tools/try/libraries.py --record --page    # keep what was seen; the table of docs/neighbours.md

`check_lists/NAME.py` is the list of a library; `libraries.txt` and `apart.txt` say which versions the session
installs. The exit status is 1 where a check fails that `check_lists/known.txt` does not name, or one
passes that it names.
"""

from __future__ import annotations

import argparse
import datetime as dt
import importlib
import importlib.metadata
import json
import os
import subprocess
import sys
import tempfile
import textwrap
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
LISTS = HERE / "check_lists"
RESULTS = LISTS / "results.json"
PAGE = HERE.parents[1] / "docs" / "neighbours.md"
BEGIN, END = "% checks: begin\n", "% checks: end\n"
FOR_CHILDREN = HERE.parents[1] / "packages/core/src/taeda/_torch_names/for_children"
LONGEST = 900  # seconds of one library
FIRST = 16  # elements of a tensor that are compared each
CLOSE = 2e-3


def lists() -> list[str]:
    """The libraries that have a list."""
    return sorted(
        path.stem for path in LISTS.glob("*.py") if path.stem not in ("__init__", "given")
    )


def distribution(name: str) -> str:
    """What the library of a list is called where packages are installed from: its first line says it."""
    return (LISTS / f"{name}.py").read_text().partition(":")[0].removeprefix('"""')


def version(name: str) -> str:
    """Which one is installed; "" if none is."""
    try:
        return importlib.metadata.version(distribution(name))
    except importlib.metadata.PackageNotFoundError:
        return ""


def known() -> dict[str, str]:
    """{library.check: why it does not pass} of the list."""
    rows = (line.partition(": ") for line in (LISTS / "known.txt").read_text().splitlines())
    return {check: why for check, _, why in rows if check and not check.startswith("#")}


# ---- one library, in a process of its own ----


def checks_of(name: str) -> Iterator[tuple[str, Callable[[], Any]]]:
    """The checks of a list, as they stand there."""
    module = importlib.import_module(f"check_lists.{name}")
    for called, value in vars(module).items():
        here = getattr(value, "__module__", "") == module.__name__
        if here and callable(value) and not isinstance(value, type) and not called.startswith("_"):
            yield called, value


def numbers(value: Any) -> list[Any]:
    """What a check returned, as lists of numbers: the first elements of each tensor, and two means."""
    if hasattr(value, "detach"):
        flat = value.detach().double().flatten()
        means = [flat.mean().item(), flat.abs().mean().item()] if flat.numel() else []
        return [[flat.numel(), *means, *flat[:FIRST].tolist()]]
    if isinstance(value, dict):
        return [row for part in value.values() for row in numbers(part)]
    if isinstance(value, (list, tuple)):
        if value and all(isinstance(part, (int, float)) for part in value):
            return [[float(part) for part in value]]
        return [row for part in value for row in numbers(part)]
    return [] if value is None else [[value if isinstance(value, str) else float(value)]]


def here(name: str, told: Path, folder: str, by_torch: bool) -> None:
    """Run the checks of a library, in the lists of a folder, in this process and write what they said."""
    sys.path.insert(0, folder)
    warnings.simplefilter("ignore")
    if not by_torch:
        import taeda

        taeda.install_as_torch()
    else:
        import torch

        # torchvision's own were compiled for another torch: with this name it can be imported
        named = torch.library.Library("torchvision", "DEF")
        for operator in ("nms", "qnms"):
            named.define(f"{operator}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    rows: list[dict[str, Any]] = []
    try:
        checks = list(checks_of(name))
        from check_lists import given
    except Exception as error:  # noqa: BLE001 - a library that cannot be imported is a result
        checks, rows = [], [{"check": "import", "said": _said(error)}]
    for called, check in checks:
        given.again()
        began = time.perf_counter()
        try:
            row = {"numbers": numbers(check())}
        except Exception as error:  # noqa: BLE001 - what went wrong is the result
            row = {"said": _said(error)}
        rows.append({"check": called, **row, "seconds": round(time.perf_counter() - began, 2)})
        told.write_text(json.dumps(rows))  # what came before a crash is kept
    told.write_text(json.dumps(rows))


def _said(error: Exception) -> str:
    """The error, and the line of the list where it came up."""
    import traceback

    if os.environ.get("TRACE"):
        traceback.print_exception(error)
    lines = [f.line for f in traceback.extract_tb(error.__traceback__) if str(LISTS) in f.filename]
    return f"{type(error).__name__}: {str(error)[:300]} at {(lines or [''])[-1]}"


def run(name: str, python: str, by_torch: bool) -> list[dict[str, Any]]:
    """What the checks of a library said, with this Python."""
    with tempfile.TemporaryDirectory() as folder:
        told = Path(folder) / "told.json"
        # torch comes from its Python, and everything else from here
        paths = [str(FOR_CHILDREN)]
        if by_torch:
            paths = [path for path in sys.path if path.endswith("site-packages")]
        environment = {
            **os.environ, "OMP_NUM_THREADS": "1", "MPLBACKEND": "agg", "HF_HUB_OFFLINE": "1",
            "KERAS_BACKEND": "torch", "HOME": folder, "YOLO_CONFIG_DIR": folder,
            "PYTHONPATH": os.pathsep.join([*paths, os.environ.get("PYTHONPATH", "")]),
        }  # fmt: skip
        words = ["--here", str(told), "--folder", str(LISTS.parent), name]
        words += ["--by-torch"] if by_torch else []
        command = [python, str(Path(__file__).resolve()), *words]
        try:
            done = subprocess.run(
                command,
                env=environment,
                cwd=folder,
                capture_output=True,
                text=True,
                check=False,
                timeout=LONGEST,
            )
            if os.environ.get("TRACE"):
                print(done.stderr[-6000:])
            ended = f"the process ended with {done.returncode}: {done.stderr[-300:]}"
            wrong = done.returncode != 0
        except subprocess.TimeoutExpired:
            ended, wrong = f"not done after {LONGEST} s", True
        rows = json.loads(told.read_text()) if told.exists() else []
        return [*rows, {"check": "process", "said": ended}] if wrong else rows


# ---- judging ----


def same(ours: list[Any], theirs: list[Any]) -> bool:
    """Whether two lists of numbers are equal but for rounding."""
    if len(ours) != len(theirs):
        return False
    for one, other in zip(ours, theirs, strict=True):
        if len(one) != len(other) or any(isinstance(part, str) for part in one):
            if one != other:
                return False
            continue
        scale = max(1e-6, *(abs(part) for part in other))
        if not all(abs(a - b) <= CLOSE * scale for a, b in zip(one, other, strict=True)):
            return False
    return True


def judge(name: str, beside: str | None) -> tuple[dict[str, Any], bool]:
    """(what is kept of a library, whether all of it is as known)."""
    began = time.perf_counter()
    rows = run(name, sys.executable, False)
    listed, as_known = known(), True
    theirs = {row["check"]: row for row in run(name, beside, True)} if beside else {}
    passed = compared = 0
    for row in rows:
        other = theirs.get(row["check"], {})
        said = row.get("said")
        if said is None and row["numbers"] and "numbers" in other:
            compared += 1
            said = None if same(row["numbers"], other["numbers"]) else "other numbers than torch's"
        passed += said is None
        why = listed.get(f"{name}.{row['check']}")
        if (said is None) == (why is not None):
            as_known = False
            print(f"  {name}.{row['check']}: {said or 'passes, and is known not to'}", flush=True)
            if said and "said" in other:
                print(f"    so with torch: {other['said']}")
            elif said and "numbers" in row and "numbers" in other:
                print(f"    {row['numbers']}\n    {other['numbers']}"[:1500])
    kept = {"version": version(name), "passed": passed, "of": len(rows), "compared": compared,
            "date": dt.date.today().isoformat()}  # fmt: skip
    seconds = time.perf_counter() - began
    print(f"{name:28} {passed} of {len(rows)}, {compared} compared, {seconds:.0f} s", flush=True)
    return kept, as_known


def table() -> str:
    """The table of the page."""
    rows = [
        "| library | version | checks passed | of these, compared with PyTorch's numbers | run on |",
        "|---|---|---|---|---|",
    ]
    for name, kept in json.loads(RESULTS.read_text()).items():
        cells = (
            distribution(name),
            kept["version"],
            f"{kept['passed']} of {kept['of']}",
            kept["compared"],
        )
        rows.append(f"| {' | '.join(map(str, cells))} | {kept['date']} |")
    rows.append("")
    for check, why in known().items():
        form = {"subsequent_indent": "  ", "break_on_hyphens": False}
        rows += textwrap.wrap(f"- `{check}`: {why}", 120, **form)
    return "\n".join(rows) + "\n"


def page(text: str) -> str:
    """The page with the table of today in its place."""
    before, _, rest = text.partition(BEGIN)
    return f"{before}{BEGIN}\n{table()}\n{END}{rest.partition(END)[2]}"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", help=", ".join(lists()))
    parser.add_argument("--beside", metavar="PYTHON")
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--page", action="store_true")
    parser.add_argument("--strict", action="store_true", help="all libraries must be installed")
    parser.add_argument("--by-torch", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--here", metavar="FILE", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--folder", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.here:
        here(options.names[0], options.here, options.folder, options.by_torch)
        return 0
    if unknown := set(options.names) - set(lists()):
        parser.error(f"unknown: {', '.join(sorted(unknown))}")
    if options.page and not (options.names or options.record):
        PAGE.write_text(page(PAGE.read_text()))
        return 0
    wrong, seen = 0, json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for name in options.names or lists():
        if not version(name):
            print(f"{name:28} not installed")
            wrong += options.strict
            continue
        seen[name], as_known = judge(name, options.beside)
        wrong += not as_known
        if options.record:
            RESULTS.write_text(json.dumps(dict(sorted(seen.items())), indent=1) + "\n")
    if options.page:
        PAGE.write_text(page(PAGE.read_text()))
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
