"""Tests in C, without Python: the runtime, the walk, and every loop of every table.

    python tools/hunt/c_tests.py                        under the address and undefined behaviour sanitizers
    python tools/hunt/c_tests.py --sanitize thread      runtime and walk under the thread sanitizer
    python tools/hunt/c_tests.py --sanitize none        the library's own objects
    python tools/hunt/c_tests.py --coverage             branches of runtime that the tests take; exit
                                                   status 1 below 95 %
    python tools/hunt/c_tests.py runtime/test_alloc.c   some files only

Every `packages/core/tests_c/**/test_*.c` is found, and every `TEST(name)` in it; there is no list.
The program links the objects of the build that TAEDA_SANITIZE makes, so a session that made them
compiles only the tests. What the loops' operands are comes from the text of the tables
(`loops.gen.h`), so that a new loop is tested at once.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
CORE = ROOT / "packages" / "core"
CSRC = CORE / "csrc"
TESTS = CORE / "tests_c"
sys.path.insert(0, str(CORE))
import hatch_build  # noqa: E402 - how the core is compiled, found through the line above

cc = hatch_build.cc

__all__ = ["discover", "loop_rows", "loops_text", "main_text", "program", "run"]

#: calls of the system that tests let fail (tests_c/system.c)
WRAPPED = "malloc calloc aligned_alloc mmap mprotect sysconf strdup fstat pwrite"
#: files whose branches the tests must take, and the least share of them
HELD = ("alloc.c", "regions.c", "guard.c", "shape.c", "checksum.c", "shared.c")
LEAST = 95.0
#: values of arguments that have no default, by type
SAMPLES = {"int": 1, "float": 0.5, "bool": 1, "Scalar": 0.5, "str": "none"}
KINDS = {"Scalar": "SCALAR", "int": "INT", "float": "FLOAT", "bool": "BOOL", "str": "STR"}


# ---- what is there ----


def discover(folder: Path = TESTS) -> list[tuple[str, str]]:
    """(file, test) of every TEST in every test_*.c."""
    return [
        (path.relative_to(folder).as_posix(), name)
        for path in sorted(folder.rglob("test_*.c"))
        for name in re.findall(r"^TEST\((\w+)\)", path.read_text(), re.M)
    ]


def main_text(tests: Sequence[tuple[str, str]]) -> str:
    """The table that harness.c walks. Two files may use one name: harness.h keeps them apart by the
    file's number.
    """
    files = sorted({file for file, _ in tests})
    symbols = [f"{name}_{files.index(file)}" for file, name in tests]
    guarded = [f"#pragma weak {symbol}" for symbol in symbols]  # some tests are not in every build
    rows = (
        f'    {{"{file}", "{name}", {symbol}}},'
        for (file, name), symbol in zip(tests, symbols, strict=True)
    )
    declared = [f"void {symbol}(void);" for symbol in symbols]
    table = ["const harness_test harness_tests[] = {", *rows, "    {0}};\n"]
    return "\n".join(['#include "harness.h"', *declared, *guarded, *table])


# ---- the loops ----

LOOP = r"static void (\w+)\(char \*const \*data, const int64_t \*strides, int64_t n, const void \*context\)"


def loop_rows(text: str, name: str) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """(op, dtype, dtypes of output and operands) of a table in preprocessed text; () where the loop
    does not say them. A loop of short floats may say that it takes 16 bits as they lie.
    """
    shapes = dict(re.findall(LOOP + r"\s*\{ static const uint8_t dtypes\[\] = \{([^}]*)\}", text))
    for symbol, first in re.findall(LOOP + r"\s*\{ (\w+)\(data, strides, n, context\);", text):
        shapes.setdefault(symbol, shapes.get(first, ""))
    table = text[text.index(f"td_table_{name}_x[] =") :]
    for op, dtype, symbol in re.findall(r'\{\s*"(\w+)",\s*(TD_\w+),\s*(\w+)\s*\}', table):
        words = shapes.get(symbol, "").split(",")
        bits = "TD_I16" if dtype in ("TD_F16", "TD_BF16") else ""
        stripped = (word.strip() for word in words if word.strip())
        yield op, dtype, tuple(dtype if word == bits else word for word in stripped)


def _tables() -> Iterator[tuple[str, str]]:
    """(name, preprocessed text) of every file with a table."""
    for path in sorted((CSRC / "cpu").rglob("*.c")):
        match = re.search(r"^const td_loop_entry TD_TABLE\((\w+)\)", path.read_text(), re.M)
        if match:
            command = [*cc.compiler(), "-E", "-P", "-DTD_ISA=x", f"-I{CSRC}", str(path)]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            yield match[1], done.stdout


def loops_text(tables: Iterable[tuple[str, str]], table: dict[str, Any]) -> str:
    """`loops.gen.h`: operands and arguments of every loop.
    `table` has a row of the op table for each name of loops.
    """
    arrays: list[str] = []
    rows = []
    for name, text in tables:
        for op, dtype, found in loop_rows(text, name):
            row = table.get(op)
            # a loop that chooses among others says no dtypes: its row has one for each tensor
            dtypes = found or (dtype,) * (1 + sum(a.is_tensor for a in row.schema.arguments))
            arrays.append(_arguments(row, len(rows)))
            rows.append(
                f'    {{"{op}", {dtype}, {len(dtypes)}, {{{", ".join(dtypes)}}}, arguments_{len(rows)}}},'
            )
    head = (
        "typedef struct loop_row {\n    const char *name;\n    int dtype, operands;\n"
        "    uint8_t dtypes[8];\n    const td_arg *arguments;\n} loop_row;\n"
        "static td_tensor plain_tensor; /* no Python number */\n"
    )
    body = [head, *arrays, "static const loop_row loop_rows[] = {", *rows, "    {0}};"]
    return "\n".join([*body, f"enum {{ LOOP_ROWS = {len(rows)} }};\n"])


def _arguments(row: Any, number: int) -> str:
    """The arguments of a call, as the loop reads them: defaults, else a sample.
    No row: the operator's C gives none.
    """
    listed = [_argument(a) for a in row.schema.arguments] if row else []
    return f"static const td_arg arguments_{number}[16] = {{{', '.join(listed) or '{0}'}}};"


def _argument(a: Any) -> str:
    if a.is_tensor:
        return "{TD_ARG_TENSOR, 0, {.tensor = &plain_tensor}}"
    value = a.default if a.has_default else SAMPLES.get(a.base)
    if value is None:
        return "{TD_ARG_NONE}"
    if a.base == "str":
        return f'{{TD_ARG_STR, 0, {{.str = "{value}"}}}}'
    if a.base == "float":
        return f"{{TD_ARG_FLOAT, 0, {{.f = {float(value)!r}}}}}"
    if a.base == "Scalar":
        kind = "TD_S_INT" if isinstance(value, int) else "TD_S_FLOAT"
        return f"{{TD_ARG_SCALAR, 0, {{.scalar = {{{kind}, {int(value)}, {float(value)!r}, 0}}}}}}"
    return f"{{TD_ARG_{KINDS[a.base]}, 0, {{.i = {int(value)}}}}}"


def _op_rows() -> dict[str, Any]:
    hatch_build._load("_table", CORE / "src" / "taeda" / "_table")
    from _table._generate import rows

    return {row.target: row for row in reversed(rows()) if row.kind == "pointwise"}


# ---- the program ----


def program(
    sanitize: str,
    *,
    coverage: bool = False,
    files: Sequence[str] = (),
    loops: bool = True,
    isas: dict[str, tuple[str, ...]] | None = None,
    flags: tuple[str, ...] = (),
    folder: Path | None = None,
    link: tuple[str, ...] = (),
) -> Path:
    """Compile and link the tests with the objects they need; return the program."""
    os.environ["TAEDA_SANITIZE"] = "" if sanitize == "none" else sanitize
    if folder is None:
        folder = hatch_build.BUILD / "-".join(["native", *hatch_build._variant()])
    folder.mkdir(parents=True, exist_ok=True)
    hatch_build.generate(folder / "generated")
    chosen = [test for test in discover() if not files or test[0] in files]
    chosen = [test for test in chosen if loops or "loops" not in test[0]]
    with cc.locked(folder):
        state = cc.Build(
            folder,
            cc.compiler(),
            (*hatch_build.CFLAGS, *hatch_build.instrument(), *flags),
            progress=lambda line: print(line, flush=True),
        )
        objects = state.compile(_units(folder, chosen, coverage=coverage, loops=loops, isas=isas))
        wrap = [f"-Wl,--wrap={name}" for name in WRAPPED.split()]
        covered = ["--coverage"] if coverage else []
        ldflags = (*hatch_build.instrument(), *wrap, *covered, *hatch_build.LDFLAGS, *link)
        return state.link(objects, folder / "c-tests", ldflags)


def _units(
    folder: Path,
    tests: Sequence[tuple[str, str]],
    *,
    coverage: bool,
    loops: bool,
    isas: dict[str, tuple[str, ...]] | None,
) -> list[Any]:
    made = folder / "c-tests-generated"
    made.mkdir(exist_ok=True)
    (made / "main.c").write_text(main_text(tests))
    if loops:
        text = loops_text(_tables(), _op_rows())
        (made / "loops.gen.h").write_text(text)
    include = (f"-I{CSRC}", f"-I{TESTS}", f"-I{made}", f"-I{folder / 'generated'}")
    files = sorted({file for file, _ in tests})
    units = [
        cc.Unit(
            TESTS / file,
            (*include, "-O1", f"-DTEST_FILE={k}"),
            f"test{k}",
        )
        for k, file in enumerate(files)
    ]
    units += [cc.Unit(path, (*include, "-O1")) for path in (*_support(), made / "main.c")]
    plain = [unit for unit in hatch_build.plain_units(folder / "generated", isas) if _linked(unit)]
    if not loops:
        (made / "no_loops.c").write_text(
            '#include "runtime/loops.h"\nconst td_loop_entry *const *td_loop_tables(void)\n'
            "{\n    static const td_loop_entry *const none[] = {NULL};\n    return none;\n}\n"
        )
        units.append(cc.Unit(made / "no_loops.c", include))
        plain = [unit for unit in plain if unit.source in _needed()]
    else:
        units.append(cc.Unit(folder / "generated" / "loops.gen.c", include))
    if coverage:
        counted = ("--coverage", "-O0", f"-I{CSRC}")
        plain = [
            cc.Unit(unit.source, (*unit.flags, *counted), "counted")
            if unit.source.parent.name == "runtime"
            else unit
            for unit in plain
        ]
    return [*units, *plain]


def _support() -> tuple[Path, Path]:
    return TESTS / "harness.c", TESTS / "system.c"


def _linked(unit: Any) -> bool:
    return unit.source.relative_to(CSRC).parts[0] in ("runtime", "cpu")


def _needed() -> set[Path]:
    """The files that the race program links: runtime, the walk, and what the processor's table of
    functions names.
    """
    import race

    return {path for path, _, _ in race.sources()}


# ---- running ----


def run(
    command: Sequence[str], files: Sequence[str], environment: dict[str, str] | None = None
) -> int:
    """Run each file of tests in a process of its own; return how many failed."""
    failed = 0
    for number, file in enumerate(files, 1):
        print(f"{number} of {len(files)}: {file}: ", end="", flush=True)
        done = subprocess.run(
            [*command, file], env={**os.environ, **(environment or {})}, check=False
        )
        if done.returncode:
            print(f"{file} failed with exit status {done.returncode}")
        failed += done.returncode != 0
    return failed


def branches(folder: Path) -> dict[str, tuple[int, int]]:
    """(taken, all) branches of each file of runtime, as gcov counted them."""
    found = {}
    for notes in sorted(folder.glob("*.gcda")):
        done = subprocess.run(
            ["gcov", "-b", "-n", str(notes)],
            cwd=folder,
            check=True,
            capture_output=True,
            text=True,
        )
        pattern = (
            r"File '[^']*runtime/(\w+\.c)'\n(?:.*\n)*?Branches executed.*\nTaken at least "
            r"once:([\d.]+)% of (\d+)"
        )
        for name, share, count in re.findall(pattern, done.stdout):
            found[name] = (round(float(share) / 100 * int(count)), int(count))
    return found


def judge(found: dict[str, tuple[int, int]]) -> list[str]:
    """Print a line for each file; return sentences for files of HELD that are below LEAST."""
    wrong = []
    for name, (taken, count) in sorted(found.items()):
        share = 100 * taken / count if count else 100.0
        print(
            f"{name:16} {taken:4} of {count:4} branches {share:6.1f} %{'  held' * (name in HELD)}"
        )
        if name in HELD and share < LEAST:
            wrong.append(f"{name}: tests take {share:.1f} % of its branches; {LEAST} % are asked")
    wrong += [f"{name}: not counted" for name in HELD if name not in found]
    return wrong


def main() -> int:
    """Build, run, and count."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    choices = ("address,undefined", "thread", "none")
    parser.add_argument("--sanitize", default=choices[0], choices=choices)
    parser.add_argument("--coverage", action="store_true", help="count the branches of runtime")
    parser.add_argument(
        "--isa", action="append", help="for the loops; default: all this machine has"
    )
    parser.add_argument("files", nargs="*", help="such as runtime/test_alloc.c")
    options = parser.parse_args()
    loops = options.sanitize != "thread" and not options.coverage
    sanitize = "none" if options.coverage else options.sanitize
    folder = hatch_build.BUILD / "c-tests-thread" if sanitize == "thread" else None
    made = program(
        sanitize, coverage=options.coverage, files=options.files, loops=loops, folder=folder
    )
    for counted in made.parent.glob("*.gcda"):
        counted.unlink()
    files = sorted({file for file, _ in discover() if not options.files or file in options.files})
    plain = [file for file in files if "loops" not in file]
    environment = {
        "ASAN_OPTIONS": "allocator_may_return_null=1:detect_leaks=0",
        "UBSAN_OPTIONS": "print_stacktrace=1",
        "TSAN_OPTIONS": "halt_on_error=0 exitcode=66 allocator_may_return_null=1",
    }
    failed = run([str(made)], plain, environment)
    for isa in (options.isa or hatch_build.ISA_FLAGS) if loops else ():
        for file in sorted(set(files) - set(plain)):
            print(f"{isa}: ", end="")
            failed += run([str(made)], [file], {**environment, "TAEDA_ISA": isa})
    wrong = judge(branches(made.parent)) if options.coverage else []
    print("\n".join(wrong) or ("failed" if failed else "all files pass"))
    return bool(failed or wrong)


if __name__ == "__main__":
    sys.exit(main())
