"""Public extension projects, as their sdists have them: built by pip, and their own tests run.

    sdists.py --get FOLDER                 fetch the sdists into FOLDER, build and test all
    sdists.py FOLDER torchlpc torchsort    these, from a folder that has them
    sdists.py FOLDER --write               their rows in docs/porting-extensions.md, too

Each sdist goes through `python -m taeda run -m pip install --no-build-isolation --no-deps`, into a folder
of its own, without a line changed and without CUDA's compiler on the path. Tests are those that the sdist
ships; the others have none, and their modules are imported. A build ends after --minutes. The exit status
is 1 where a project does not build, fails, or is not what its row of the page says.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from torch_sources import PAGE, PROJECTS, examine, fetch

TAEDA = (sys.executable, "-m", "taeda", "run", "-m")
BEGIN, END = "<!-- sdists -->", "<!-- end of sdists -->"
#: the module that an install brings, where it is not the distribution's name
MODULES = {
    "pytorch-fast-transformers": "fast_transformers", "inplace-abn": "inplace_abn",
    "spatial-correlation-sampler": "spatial_correlation_sampler",
    "torch-points-kernels": "torch_points_kernels",
}  # fmt: skip
#: what a project imports of others, which are built before it
NEEDS = {"torch_sparse": ("torch_scatter",)}
#: of tests that cannot be collected: what the machine lacks
MISSING = re.compile(r"ModuleNotFoundError: No module named '(\w+)")
OUTCOMES = re.compile(r"(\d+) (passed|failed|errors?|skipped)\b")


@dataclass
class Outcome:
    """What became of one project."""

    name: str
    lines: int  # to change
    built: bool
    tests: str

    def row(self) -> str:
        project = f"{self.name} {PROJECTS[self.name]}"
        return f"| {project} | {self.lines} | {'yes' if self.built else 'no'} | {self.tests} |"


def run(command: tuple[str, ...], cwd: Path, seconds: float, **more: str) -> tuple[int, str]:
    """Exit status and output; 124 where the time was over, and the command was ended."""
    env = {**os.environ, **more}
    try:
        done = subprocess.run(
            command,
            cwd=cwd,
            env=env,
            timeout=seconds,
            text=True,
            check=False,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
    except subprocess.TimeoutExpired:
        return 124, f"ended after {seconds:.0f} s"
    return done.returncode, done.stdout


def without_nvcc() -> str:
    """The search path without CUDA's compiler: projects build device code where they see one."""
    folders = os.environ["PATH"].split(os.pathsep)
    return os.pathsep.join(folder for folder in folders if not (Path(folder) / "nvcc").exists())


def build(name: str, folder: Path, seconds: float) -> tuple[bool, str]:
    """pip's install of one sdist into folder/installed/name."""
    (top,) = (path for path in (folder / name).iterdir() if path.is_dir())
    target = folder / "installed" / name
    shutil.rmtree(target, ignore_errors=True)
    words = ("pip", "install", "-q", "--no-build-isolation", "--no-deps", "--target", str(target))
    status, said = run((*TAEDA, *words, str(top)), folder, seconds, PATH=without_nvcc())
    return status == 0, said


def told(output: str) -> str:
    """What the last line of pytest counts.

    >>> told("== 38 passed, 2 skipped in 1.2s ==")
    '38 of 38 pass, 2 skipped'
    >>> told("1 failed, 4 passed in 2s")
    '4 of 5 pass'
    """
    counts = {word.rstrip("s"): int(n) for n, word in OUTCOMES.findall(output.rpartition("\n")[2])}
    passed, skipped = counts.get("passed", 0), counts.get("skipped", 0)
    total = passed + counts.get("failed", 0) + counts.get("error", 0)
    return f"{passed} of {total} pass" + f", {skipped} skipped" * bool(skipped)


def test(name: str, folder: Path, seconds: float) -> tuple[bool, str, str]:
    """The tests that the sdist ships, or an import; whether all is well, a few words, and the output."""
    (top,) = (path for path in (folder / name).iterdir() if path.is_dir())
    where = {"PYTHONPATH": path_of(name, folder)}
    tests = top / "tests"
    if not tests.is_dir():
        return imported(name, folder, seconds, "none")
    away = folder / "tests" / name  # not beside the sources, which have no built module
    shutil.rmtree(away, ignore_errors=True)
    shutil.copytree(tests, away / "tests")
    words = ("pytest", "-q", "--tb=line", "-p", "no:cacheprovider", "tests")
    status, said = run((*TAEDA, *words), away, seconds, **where)
    absent = MISSING.search(said)
    if status not in (0, 124) and absent and absent[1] != MODULES.get(name, name):
        return imported(name, folder, seconds, f"ask for {absent[1]}, which is not here")
    return status == 0, told(said.strip()) if status != 124 else said, said


def path_of(name: str, folder: Path) -> str:
    """Where Python finds a project, and those that it imports."""
    installed = folder / "installed"
    return os.pathsep.join(str(installed / one) for one in (name, *NEEDS.get(name, ())))


def imported(name: str, folder: Path, seconds: float, why: str) -> tuple[bool, str, str]:
    """Where there are no tests to run, because of `why`, the module is imported."""
    program = folder / "imports.py"
    program.write_text(f"import torch, {MODULES.get(name, name)}\n")
    where = {"PYTHONPATH": path_of(name, folder)}
    status, said = run((*TAEDA[:-1], str(program)), folder, seconds, **where)
    return status == 0, f"{why}; imported" if status == 0 else f"import: {said.strip()[-90:]}", said


def main() -> int:
    layout = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=layout)
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*", help="projects; all without")
    parser.add_argument("--get", action="store_true", help="fetch what the folder lacks")
    parser.add_argument("--write", action="store_true", help="write the page's table")
    parser.add_argument("--minutes", type=float, default=20, help="for a build, and for its tests")
    options = parser.parse_intermixed_args()
    folder = options.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    found, bad = [], []
    for name in options.names or list(PROJECTS):
        for one in NEEDS.get(name, ()):
            if options.get:
                fetch(one, folder)
            if not (folder / "installed" / one).is_dir():
                build(one, folder, 60 * options.minutes)
        if options.get:
            fetch(name, folder)
        lines = sum(count for count, _ in examine(name, folder).failed.values())
        start = time.monotonic()
        built, said = build(name, folder, 60 * options.minutes)
        good, words = False, "not run"
        if built:
            good, words, said = test(name, folder, 60 * options.minutes)
        found.append(Outcome(name, lines, built, words))
        print(found[-1].row(), f"{time.monotonic() - start:.0f} s", flush=True)
        if not good:
            bad.append(name)
            print(f"    {said.strip()[-600:]}")
    if options.write:
        write(found)
    expected = [name for name in bad if not any(o.name == name and o.lines for o in found)]
    print(f"{len(found) - len(bad)} of {len(found)} projects build and pass")
    other = stale(found)
    print("".join(f"the page says otherwise, see --write: {row}\n" for row in other), end="")
    # one with lines to change does not build unchanged
    return 1 if expected or other else 0


def on_page(text: str) -> dict[str, str]:
    """The rows of the page's table, by the project's name.

    >>> on_page(f"{BEGIN}\\n| project | built |\\n|---|---|\\n| torchlpc 0.7.2 | yes |\\n{END}")
    {'torchlpc': '| torchlpc 0.7.2 | yes |'}
    """
    table = text.split(BEGIN)[1].split(END)[0].strip().splitlines()[2:]
    return {row.split()[1]: row for row in table}


def stale(found: list[Outcome]) -> list[str]:
    """Rows that the page does not have as they came out."""
    known = on_page(PAGE.read_text())
    return [one.row() for one in found if known.get(one.name) != one.row()]


def write(found: list[Outcome]) -> None:
    """The rows of `found` into the page's table; those of other projects stay."""
    head = "| project | lines to change | built by pip | its own tests |\n|---|---|---|---|\n"
    text = PAGE.read_text()
    rows = on_page(text) | {one.name: one.row() for one in found}
    before, rest = text.split(BEGIN)
    table = "\n".join(rows[name] for name in PROJECTS if name in rows)
    PAGE.write_text(f"{before}{BEGIN}\n\n{head}{table}\n\n{END}{rest.split(END)[1]}")


if __name__ == "__main__":
    sys.exit(main())
