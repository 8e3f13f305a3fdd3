"""The share of branches that default tests take: of the C that parses arguments, and of the Python
that parses files.

    python tools/hold/branches.py               build, run the tests, print a line for each file; exit
                                           status 1 below 95 %
    python tools/hold/branches.py --open        name the branches that no test takes, too
    python tools/hold/branches.py arguments     one of the two parts: `arguments` or `files`

`arguments`: a library whose files of ARGUMENTS are compiled for gcov runs the tests of
TESTS_OF_ARGUMENTS. `files`: the tests of TESTS_OF_FILES run under `coverage`, which counts branches
of the modules of FILES. The C files that need no Python are counted by
`tools/hunt/c_tests.py --coverage`.

Branches of C that no default test can take stand in NOT_REACHED, with their number and the cause,
and do not count. An entry there that excuses more than is left is an error: the table says no more
than is so.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
CORE = ROOT / "packages" / "core"
sys.path.insert(0, str(CORE))
import hatch_build  # noqa: E402 - how the core is compiled, found through the line above

cc = hatch_build.cc

__all__ = ["LEAST", "Share", "judge", "of_c", "of_python"]

LEAST = 95.0
ARGUMENTS = ("arguments.c", "bind.c", "mismatch.c")
TESTS_OF_ARGUMENTS = (
    "dispatch",
    "_layers",
    "_library",
    "test_frame.py",
    "test_overrides.py",
    "test_out.py",
    "ops/test_join.py",
)
FILES = (
    *("gguf", "headerscan", "npy", "rebuild", "safetensors", "tar", "zipfile", "native/reading"),
    *("pt/dryrun", "pt/legacy", "pt/machine", "pt/plain", "pt/rebuild", "pt/storages"),
    *("pt/tarform", "pt/zipform", "tree/decoding"),
)
TESTS_OF_FILES = ("_io", "test_serialization.py")

PYTHON = "Python is out of memory for a small object"
OURS = (
    "the allocator is out of memory; `tools/hunt/fail_at.py` lets each allocation fail, in a library "
    "without counts"
)
#: branches of C that no default test takes: (how many on a line, why), by file and the line's text
NOT_REACHED: dict[str, dict[str, tuple[int, str]]] = {
    "arguments.c": {
        "return f->out ? 1 : -1;": (1, PYTHON),
        "if (!list) return -1;": (1, OURS),
        "for (Py_ssize_t i = 0; tuple && i < a->npos; i++)": (1, PYTHON),
        "if (!tuple || !(tuple = td_frame_hold(f, tuple))) return -1;": (2, PYTHON),
        "if (status != 1) return a->bad = self_at, status;": (
            1,
            "a method's self is a tensor; keeping it fails when the allocator is out of memory",
        ),
    },
    "bind.c": {
        'if (!td_python_function(&disabled, "taeda._layers.dispatch", "disabled_torch_function"))': (
            1,
            "a module of the core cannot be imported",
        ),
        "if (!t) return NULL;": (1, OURS),
        "if (made || !td_frame_temp(f, t)) return td_raised(made ? made : TD_RUNTIME_ERROR);": (
            4,
            OURS,
        ),
        "return arg->tensor ? 1 : -1;": (1, OURS),
        "if (!list || td_frame_more_pins(f, n) < 0) return -1;": (2, OURS),
        "if (!(list[i] = take_tensor(f, item))) return -1;": (1, OURS),
        "if (!*list || PyTuple_Size(*list) == n) return *list ? PyTuple_GetItem(*list, i) : NULL;": (
            3,
            "memory is out, or a finalizer changes the list while the collector runs in PyTuple_New",
        ),
        "if (!list) return -1;": (2, OURS),
        ": p->type == TD_T_BOOL ? bool_from(item, &list[i])": (
            1,
            "no entry: a list changed length while it was read, or memory is out",
        ),
        "int status = item ? double_from(item, &list[i]) : -1;": (
            1,
            "no entry: a list changed length while it was read, or memory is out",
        ),
        "if (status == 0)": (1, "td_item_of has refused what is no number"),
        "if (status != TD_OK) return td_raise(status), 0;": (
            1,
            "a copy from a device to the host fails",
        ),
    },
    "mismatch.c": {
        "if (status < 0) PyErr_Clear(); /* too large: no int that fits */": (
            1,
            "an int that is too large is refused before its list is looked at for a wrong entry",
        ),
        "int good = entry && fits(p, entry);": (1, "a list that changes while it is looked at"),
        "PyObject *type = entry ? td_type_name(entry) : NULL;": (
            1,
            "a list that changes while it is looked at",
        ),
        "for (Py_ssize_t i = 0; i < a->npos; i++)": (
            1,
            "an int[] that stands one by one, and of which every int fits, is taken",
        ),
        "for (Py_ssize_t i = 0; names && i < a->npos + a->nkw; i++) {": (1, PYTHON),
        ": i < a->npos": (1, PYTHON),
        "if (!text || PyList_Append(names, text) < 0) Py_CLEAR(names);": (4, PYTHON),
        "*joined = names && comma ? PyUnicode_Join(comma, names) : NULL;": (2, PYTHON),
        "for (int k = first; line && k < s->nparams; k++) {": (1, PYTHON),
        ": NULL;": (1, PYTHON),
        "for (int i = 0; text && i < fn->count; i++) {": (1, PYTHON),
        'next = line ? PyUnicode_FromFormat("%U%U)", text, line) : NULL;': (1, PYTHON),
        "if (text) PyErr_SetObject(PyExc_TypeError, text);": (1, PYTHON),
    },
}


class Share(NamedTuple):
    """Branches of a file: how many tests take, of how many, and the others as `line: text`; excuses
    that excuse nothing.
    """

    taken: int
    count: int
    open: list[str]
    needless: list[str]


# ---- C: the arguments of a call ----


def library() -> Path:
    """A library whose files of ARGUMENTS count their branches; return the folder of its objects."""
    folder = hatch_build.BUILD / "native-branches"
    made = hatch_build.units(hatch_build.generate(folder / "generated"), folder / "generated")
    units = [
        cc.Unit(unit.source, (*unit.flags, "--coverage", "-O0"), "counted")
        if unit.source.parent.name == "dispatch" and unit.source.name in ARGUMENTS
        else unit
        for unit in made
    ]
    link = ("--coverage", *hatch_build.LDFLAGS)
    out = folder / "lib" / hatch_build.LIBRARY
    cc.build(units, out, folder, hatch_build.CFLAGS, link, progress=print)
    return folder


def of_c(text: str, excused: Mapping[str, tuple[int, str]] | None = None) -> Share:
    """What a listing of `gcov -b` says of one file; branches that are excused, and not taken, do
    not count.
    """
    taken, count, left, number, line = 0, 0, [], "", ""
    rest = {line: allowed for line, (allowed, _) in (excused or {}).items()}
    for row in text.splitlines():
        if match := re.match(r"\s*[-#=\d*]+:\s*(\d+):(.*)", row):
            number, line = match[1], match[2].strip()
        elif match := re.match(r"branch +\d+ (taken (\d+)|never)", row):
            hit = bool(match[2]) and match[2] != "0"
            if not hit and rest.get(line):
                rest[line] -= 1
                continue
            count += 1
            taken += hit
            left += [] if hit else [f"{number}: {line}"]
    return Share(taken, count, left, [line for line, unused in rest.items() if unused])


def arguments() -> dict[str, Share]:
    """Run the tests of arguments on the counting library."""
    folder = library()
    for old in folder.glob("*.gcda"):
        old.unlink()
    _tests([sys.executable, "-m"], TESTS_OF_ARGUMENTS, {"TAEDA_NATIVE": str(folder / "lib")})
    found = {}
    for counted in sorted(folder.glob("*-counted-*.gcda")):
        name = counted.name.lstrip(".").partition("-counted-")[0] + ".c"
        command = ["gcov", "-b", "-c", "-t", counted.name]
        told = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
        found[name] = of_c(_part(told.stdout, name), NOT_REACHED.get(name, {}))
    return found


def _part(listing: str, name: str) -> str:
    """Of a listing of a file and its headers, the file's own part."""
    parts = re.split(r"(?m)^ +-: +0:Source:(.*)\n", listing)
    return next(
        text
        for path, text in zip(parts[1::2], parts[2::2], strict=True)
        if path.endswith(f"/{name}")
    )


# ---- Python: files ----

#: Tests that go the same ways again and again, with every bit turned or up to a bound: a quarter of the time
#: of all. What they alone took would be seen as a branch that no test takes.
EXHAUSTIVE = (
    "every_flipped_bit",
    "is_no_bomb",
    "a_bomb_is",
    "takes_of_the_budget",
    "other_bytes_is_refused",
)
EXHAUSTIVE += ("that_agree_with_their_checksum", "memory_is_in_proportion")


def of_python(facts: dict[str, object]) -> Share:
    """What the JSON report of `coverage` says of one file."""
    summary, missing = facts["summary"], facts["missing_branches"]
    assert isinstance(summary, dict)
    assert isinstance(missing, list)
    left = [f"{here}: to {there}" for here, there in missing]
    return Share(summary["covered_branches"], summary["num_branches"], left, [])


def files() -> dict[str, Share]:
    """Run the tests of files, and count the branches of the modules that parse them."""
    modules = CORE / "src" / "taeda" / "_io"
    data = hatch_build.BUILD / "branches.coverage"
    measure = [sys.executable, "-m", "coverage"]
    chosen = f"--include={','.join(str(modules / f'{name}.py') for name in FILES)}"
    stored = f"--data-file={data}"
    words = ("-k", " and ".join(f"not {name}" for name in EXHAUSTIVE))
    _tests([*measure, "run", "--branch", stored, chosen, "-m"], TESTS_OF_FILES, {}, words)
    told = subprocess.run(
        [*measure, "json", stored, "-q", "-o", "-"], check=True, capture_output=True, text=True
    )
    listed = json.loads(told.stdout)["files"]
    found = {
        str(Path(path).resolve().relative_to(modules)): facts for path, facts in listed.items()
    }
    return {name: of_python(facts) for name, facts in found.items()}


# ---- both ----


def _tests(
    start: list[str],
    names: Iterable[str],
    environment: dict[str, str],
    words: Iterable[str] = (),
) -> None:
    paths = [str(CORE / "tests" / name) for name in names]
    command = [*start, "pytest", "-q", "--no-header", "-p", "no:cacheprovider", *words, *paths]
    done = subprocess.run(command, cwd=ROOT, env={**os.environ, **environment}, check=False)
    if done.returncode:
        raise SystemExit("the tests fail, so the branches that they take were not counted")


def judge(found: dict[str, Share], wanted: Iterable[str], *, tell: bool = False) -> list[str]:
    """Print a line for each file; return sentences for those below LEAST, or not counted."""
    wrong = [
        f"{name}: not counted" for name in wanted if name not in found or not found[name].count
    ]
    for name, share in found.items():
        part = 100 * share.taken / share.count if share.count else 100.0
        print(f"{name:20} {share.taken:4} of {share.count:4} branches {part:6.1f} %")
        print("".join(f"    {line}\n" for line in share.open if tell), end="")
        wrong += [
            f"{name}: NOT_REACHED excuses more than there is at: {line}" for line in share.needless
        ]
        if part < LEAST:
            wrong.append(f"{name}: tests take {part:.1f} % of its branches; {LEAST} % are asked")
    return wrong


PARTS = {
    "arguments": (arguments, ARGUMENTS),
    "files": (files, tuple(f"{name}.py" for name in FILES)),
}


def main() -> int:
    """Run the parts, and say which files are below."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--open", action="store_true", help="name the branches that no test takes")
    parser.add_argument("parts", nargs="*", choices=[[], *PARTS], help="default: both")
    options = parser.parse_args()
    wrong = []
    for name in options.parts or PARTS:
        count, wanted = PARTS[name]
        wrong += judge(count(), wanted, tell=options.open)
    print("\n".join(wrong) or "every file is held")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
