"""One style for C and for headers of C++: clang-format with the file .clang-format holds in every source.

    python tools/hold/c_style.py           names the files that differ, and lines that are too long
    python tools/hold/c_style.py --fix     formats them

A formatter guesses: in a macro's arguments it takes `x * y` for a declaration and writes `x *y`. So
products and masks are shown to it as quotients and remainders, which are never declarations, and
put back afterwards. Headers are shown to it as C, because it takes some of them for Objective-C.
Adjacent parts of a string are joined first: the formatter breaks a long string anew, but never
joins one. A comment behind a line that it makes too long goes above it.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).parents[2]
WIDTH = 100
SHOWN_AS = {"*": "/", "&": "%"}
SPACED = re.compile(r"(?<=[\w)\]] )[*&](?= )")
OPERATOR = {"/": re.compile(r"(?<![*/])/(?![*/])"), "%": re.compile("%")}
HPP = "packages/cpp-extension/src/taeda/utils/cpp_extension/include"
LEFT = (  # as they are
    "packages/core/tests/extensions/abi_",  # headers of earlier versions
    "packages/core/csrc/cpu/special_cells.h",  # written by tools/hold/fit_cells.py
    f"{HPP}/torch_compat/taeda_torch/functions.hpp",  # written by tools/hold/torch_functions.py
    f"{HPP}/taeda/functions.hpp",  # tables of macros, which have no fixed form
)
PART = re.compile(r'"(?:[^"\\\n]|\\.)*"')
SHIFTS = 20  # what is written in macros reaches its form only step by step


def sources() -> list[str]:
    listed = subprocess.run(
        ["git", "ls-files", "*.c", "*.h", "*.hpp"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return [name for name in listed.stdout.split() if not name.startswith(LEFT)]


def show(text: str) -> tuple[str, dict[str, list[str]]]:
    """The text for the formatter, and for `/` and `%` what each of them was, in order."""
    shown = SPACED.sub(lambda match: SHOWN_AS[match[0]], text)
    were = {
        sign: [text[match.start()] for match in pattern.finditer(shown)]
        for sign, pattern in OPERATOR.items()
    }
    return shown, were


def put_back(shown: str, were: dict[str, list[str]]) -> str:
    for sign, pattern in OPERATOR.items():
        if len(pattern.findall(shown)) != len(were[sign]):
            raise ValueError(f"the formatter changed the number of {sign}")
        rest = iter(were[sign])
        shown = pattern.sub(lambda _, rest=rest: next(rest), shown)
    return shown


def joined(text: str) -> str:
    """The text with a string's adjacent parts in one, but for lines that end with a newline of the string."""
    lines = text.split("\n")
    made = [lines[0]]
    for line in lines[1:]:
        if _continues(made[-1], line.lstrip()):
            made[-1] = made[-1][:-1] + line.lstrip()[1:]
        else:
            made.append(line)
    return "\n".join(made)


def _continues(before: str, line: str) -> bool:
    if before.lstrip().startswith(("#", "*", "//")) or "\\x" in before or not PART.match(line):
        return False
    parts = PART.findall(before)
    return (
        bool(parts)
        and before.endswith(parts[-1])
        and not before.endswith('\\n"')
        and parts[-1] != '""'
    )


LIST = re.compile(r"^#define \w+\(X\)(?:.*\\\n){2,}.*", re.M)


def listed(text: str) -> str:
    """The text with each entry of a list of X(...) over several lines on its own, to which the
    formatter comes step by step.
    """
    return LIST.sub(lambda match: re.sub(r"\) X\(", ") \\\n    X(", match[0]), text)


TRAILED = re.compile(
    r"^(\s*)(?!\}|else\b|case\b|#|\*|/)(\S[^\"]*?[;{},])\s+(/\*(?:[^*]|\*(?!/))*\*/)$"
)


def lifted(text: str) -> str:
    """The text with comments that make a line too long above that line; the formatter would fold
    them beside it.
    """
    lines: list[str] = []
    for line in text.split("\n"):
        match = TRAILED.match(line) if len(line) > WIDTH else None
        if match and not (lines and lines[-1].endswith("\\")):
            lines.append(match[1] + match[3])
            line = match[1] + match[2]
        lines.append(line)
    return "\n".join(lines)


def formatted(text: str, name: str) -> str:
    shown_name = ROOT / re.sub(r"\.h$", ".c", name)
    for _ in range(SHIFTS):
        shown, were = show(listed(lifted(joined(text))))
        command = ["clang-format", f"--assume-filename={shown_name}"]
        done = subprocess.run(command, input=shown, capture_output=True, text=True, check=True)
        made = put_back(done.stdout, were)
        if made == text:
            return text
        text = made
    raise ValueError(f"{name}: no fixed point after {SHIFTS} times")


def too_long(text: str) -> Iterator[int]:
    """Numbers of lines over the width, but for what is drawn in a comment, where three spaces stand."""
    for number, line in enumerate(text.split("\n"), 1):
        drawn = line.startswith(" *") and (
            "─" in line or "   " in line[3:].lstrip() or line.startswith(" *   ")
        )
        if len(line) > WIDTH and not drawn:
            yield number


def faults(name: str, mend: bool) -> list[str]:
    """What is wrong with one source; with `mend` it is formatted, and what remains is told."""
    path = ROOT / name
    before = path.read_text()
    text = formatted(before, name)
    found = [f"{name}:{number}: longer than {WIDTH} characters" for number in too_long(text)]
    if mend and text != before:
        path.write_text(text)
    elif text != before:
        found.append(f"{name}: not in its form; `python tools/hold/c_style.py --fix` writes it")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--fix", action="store_true", help="write the files anew")
    parser.add_argument("files", nargs="*", help="these alone")
    options = parser.parse_args()
    files = options.files or sources()
    with ThreadPoolExecutor() as pool:
        wrong = [
            line
            for found in pool.map(lambda name: faults(name, options.fix), files)
            for line in found
        ]
    print("\n".join([*wrong, f"{len(files)} sources, {len(wrong)} to mend"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
