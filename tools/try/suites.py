"""The tests that public libraries ship in their sources, run under taeda by the name of torch.

    python tools/try/suites.py zuko --get        download its sources into build/suites, and run its tests
    python tools/try/suites.py --all --get       all of them; `--record` keeps what was seen
    python tools/try/suites.py zuko --torch T   with the torch that lies in folder T: which tests of
                                                 a sample pass there, into tools/try/suites/zuko.txt
    python tools/try/suites.py --page            the table of docs/neighbours.md from what is kept

`tools/try/suites/NAME.txt` lists tests that pass with torch: of all of the suite those of the smallest
hashes of their names, MOST of them, without what takes torch longer than SECONDS. A line `! name: reason`
is a test that does not pass here, and why. The exit status is 1 where another one fails, or one of these
passes.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "testing"))
from archives import unpack

HERE = Path(__file__).resolve().parent
LISTS = HERE / "suites"
RESULTS = LISTS / "results.json"
PAGE = HERE.parents[1] / "docs" / "neighbours.md"
BEGIN, END = "% suites: begin\n", "% suites: end\n"
#: where processes that a test spawns find taeda when they import torch
FOR_CHILDREN = HERE.parents[1] / "packages/core/src/taeda/_torch_names/for_children"
MOST = 120
LONGEST = 1500  # seconds of one suite


@dataclass(frozen=True)
class Suite:
    """A library, where its tests lie, and what they need beside it."""

    requirement: str
    tests: str
    needs: tuple[str, ...] = ()
    ignored: tuple[str, ...] = field(default=())

    @property
    def version(self) -> str:
        return self.requirement.partition("==")[2]


SUITES = {
    "e3nn": Suite("e3nn==0.6.0", "tests", ("sympy", "scipy", "opt_einsum_fx")),
    "einops": Suite("einops==0.8.2", "einops/tests"),
    "gpytorch": Suite("gpytorch==1.15.2", "test", ("linear_operator", "scikit-learn", "scipy")),
    "ignite": Suite(
        "pytorch-ignite==0.5.5", "tests/ignite", ("packaging", "scikit-learn", "scipy", "tqdm"),
        ("tests/ignite/distributed",),
    ),
    "linear_operator": Suite("linear-operator==0.6.1", "test", ("scipy", "jaxtyping", "mpmath")),
    "nflows": Suite("nflows==0.14", "tests", ("matplotlib", "tqdm", "torchtestcase", "UMNN")),
    "normflows": Suite("normflows==1.7.3", "normflows"),
    "opt_einsum": Suite("opt-einsum==3.4.0", "opt_einsum/tests/test_backends.py"),
    "pytorch_optimizer": Suite("pytorch-optimizer==4.1.0", "tests"),
    "skorch": Suite("skorch==1.4.0", "skorch/tests", ("scikit-learn", "scipy", "tabulate", "tqdm")),
    "torch_optimizer": Suite("torch-optimizer==0.3.0", "tests", ("pytorch_ranger",)),
    "torchsde": Suite("torchsde==0.2.6", "tests", ("boltons", "trampoline")),
    "zuko": Suite("zuko==1.6.0", "tests"),
}  # fmt: skip


# ---- getting and running ----


def get(name: str, folder: Path) -> None:
    """Download the sources of a library, as its authors packed them."""
    folder.mkdir(parents=True, exist_ok=True)
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run(
        [*pip, "--no-binary", ":all:", "-d", str(folder), SUITES[name].requirement], check=True
    )


def unpacked(name: str, folder: Path, into: Path) -> Path:
    """The folder with the sources of a library, out of the archive in `folder`."""
    stem = SUITES[name].requirement.replace("==", "-")
    found = [
        path
        for path in folder.glob("*.tar.gz")
        if path.name.replace("_", "-").removesuffix(".tar.gz") == stem.replace("_", "-")
    ]
    if not found:
        sys.exit(f"{folder} has no {stem}.tar.gz: add --get")
    unpack(found[0], into)
    return next(path for path in into.iterdir() if path.is_dir())


def run(name: str, folder: Path, wanted: list[str] | None, torch: str | None) -> dict[str, Any]:
    """{name of a test: outcome} of the suite; of a sample where `wanted` is None."""
    suite = SUITES[name]
    with tempfile.TemporaryDirectory() as scratch:
        root = unpacked(name, folder, Path(scratch) / "sources")
        told, asked = Path(scratch) / "told.json", Path(scratch) / "asked.json"
        asked.write_text(json.dumps({"wanted": wanted, "most": MOST, "torch": bool(torch)}))
        paths = [str(root), str(root / "src"), str(HERE), torch or str(FOR_CHILDREN)]
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([*paths, os.environ.get("PYTHONPATH", "")]),
            "SUITE_ASKED": str(asked), "SUITE_TOLD": str(told), "OMP_NUM_THREADS": "1",
            "MPLBACKEND": "agg", "HF_HUB_OFFLINE": "1",
        }  # fmt: skip
        command = [
            sys.executable, "-m", "pytest", "-q", "-p", "suite_plugin", "-p", "no:cacheprovider",
            "-o", "addopts=", "-o", "filterwarnings=", "--continue-on-collection-errors", "--tb=line",
            *(f"--ignore={path}" for path in suite.ignored), suite.tests,
        ]  # fmt: skip
        try:
            done = subprocess.run(
                command,
                cwd=root,
                env=environment,
                capture_output=True,
                text=True,
                check=False,
                timeout=LONGEST,
            )
            said = done.stdout[-3000:] + done.stderr[-2000:]
        except subprocess.TimeoutExpired:
            said = f"not done after {LONGEST} s"
        lines = told.read_text().splitlines() if told.exists() else []
        rows = [json.loads(line) for line in lines]
        return {
            "outcomes": {test: outcome for test, outcome, _ in rows},
            "messages": {test: message for test, _, message in rows},
            "said": said,
        }


# ---- lists of tests ----


def listed(name: str) -> tuple[list[str], dict[str, str]]:
    """(tests that pass with torch, {those that do not pass here: why})."""
    names, known = [], {}
    for line in (LISTS / f"{name}.txt").read_text().splitlines():
        if line.startswith("! "):
            test, _, why = line[2:].rpartition(": ")
            known[test] = why
            names.append(test)
        elif line and not line.startswith("#"):
            names.append(line)
    return names, known


def write_list(name: str, folder: Path, torch: str) -> int:
    """Run a sample with torch, and keep what passes twice: names that are drawn anew each time do not."""
    found = run(name, folder, None, torch)
    passed = sorted(test for test, outcome in found["outcomes"].items() if outcome == "passed")
    again = run(name, folder, passed, torch)["outcomes"]
    passed = [test for test in passed if again.get(test) == "passed"]
    path = LISTS / f"{name}.txt"
    known = listed(name)[1] if path.exists() else {}
    lines = [f"! {test}: {known[test]}" if test in known else test for test in passed]
    head = f"# {SUITES[name].requirement}: tests of a sample of {len(found['outcomes'])} that pass with torch"
    path.write_text("\n".join([head, *lines, ""]))
    print(f"{name:18} {len(passed)} of {len(found['outcomes'])} pass with torch")
    if not passed:
        print(found["said"])
    return not passed


def judge(name: str, folder: Path) -> tuple[int, int, bool]:
    """(passed, of those that pass with torch, whether all is as listed)."""
    names, known = listed(name)
    found = run(name, folder, names, None)
    outcomes = found["outcomes"]
    failed = [test for test in names if outcomes.get(test) != "passed"]
    print(f"{name:18} {len(names) - len(failed)} of {len(names)}", flush=True)
    unexplained = [test for test in failed if test not in known]
    stale = [test for test in known if test not in failed]
    for test in unexplained:
        print(f"  {outcomes.get(test, 'did not run')}: {test}: {found['messages'].get(test, '')}")
    for test in stale:
        print(f"  passes, and stands in the list as one that does not: {test}")
    if any(test not in outcomes for test in unexplained):
        print(found["said"])
    return len(names) - len(failed), len(names), not (unexplained or stale)


# ---- what is kept ----


def record(name: str, passed: int, of: int) -> None:
    """Keep what a run saw, for the page."""
    kept = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    today = dt.date.today().isoformat()
    kept[name] = {"version": SUITES[name].version, "passed": passed, "of": of, "date": today}
    RESULTS.write_text(json.dumps(dict(sorted(kept.items())), indent=1) + "\n")


def table() -> str:
    """The table of the page."""
    rows = [
        "| library | version | tests passed, of those that pass with torch | run on |",
        "|---|---|---|---|",
    ]
    for name, kept in json.loads(RESULTS.read_text()).items():
        rows.append(
            f"| {name} | {kept['version']} | {kept['passed']} of {kept['of']} | {kept['date']} |"
        )
    return "\n".join(rows) + "\n"


def page(text: str) -> str:
    """The page with the table of today in its place."""
    before, _, rest = text.partition(BEGIN)
    return f"{before}{BEGIN}\n{table()}\n{END}{rest.partition(END)[2]}"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", help=", ".join(SUITES))
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--folder", type=Path, default=Path("build/suites"))
    parser.add_argument("--get", action="store_true")
    parser.add_argument("--torch", metavar="FOLDER")
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--page", action="store_true")
    options = parser.parse_args()
    if unknown := set(options.names) - set(SUITES):
        parser.error(f"unknown: {', '.join(sorted(unknown))}")
    wrong = 0
    for name in SUITES if options.all else options.names:
        if options.get:
            get(name, options.folder)
        if options.torch:
            wrong += write_list(name, options.folder, options.torch)
            continue
        passed, of, as_listed = judge(name, options.folder)
        wrong += not as_listed
        if options.record:
            record(name, passed, of)
    if options.page:
        PAGE.write_text(page(PAGE.read_text()))
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
