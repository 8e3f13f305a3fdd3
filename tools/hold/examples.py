"""How many public classes and functions have an example that runs, module by module.

    python tools/hold/examples.py                      a line for each module; the exit status is 1
                                                   where more lack one than may
    python tools/hold/examples.py --open taeda.fft     the names of a module that have none
    python tools/hold/examples.py --lower              what is reached is asked for from now on

Names are those of the site's reference, each counted on the page where it is shown. An example is a
line `>>>` in the docstring of the function, of the class or of one of its methods: `doctests.py` runs
them all. Methods of `Tensor` link to their functions, and count there. An exception needs no example, nor
does what Python itself or another package defines and a module of ours shows.

`examples.txt` holds how many of a module may have none; those of a module that it does not name all have one.
`--lower` writes the numbers of today, and refuses to raise one.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import sys
from pathlib import Path
from typing import Any, TypeAlias

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs"))

api_pages: Any = importlib.import_module("api_pages")  # lies beside the site

LIMITS = Path(__file__).with_suffix(".txt")

__all__ = ["Counts", "counts", "has_example", "limits", "lowered", "needs_one", "over"]

#: by module: how many names a program calls, and those without an example
Counts: TypeAlias = "dict[str, tuple[int, list[str]]]"


def has_example(value: Any) -> bool:
    """Whether the docstring of a function, a class or one of its methods has an example."""
    texts = [inspect.getdoc(value) or ""]
    if inspect.isclass(value):
        texts += [inspect.getdoc(member) or "" for _, member in api_pages._members(value)]
    return any(line.lstrip().startswith(">>> ") for text in texts for line in text.splitlines())


def needs_one(value: Any) -> bool:
    """Whether a program calls it or makes one, and its text is ours: what Python's own modules define
    (`multiprocessing.Lock`, `typing.List`) and what other packages do (`tqdm`) has the docstring that they
    gave it. What names no module is taken for ours.
    """
    package = (getattr(value, "__module__", None) or "taeda").partition(".")[0]
    error = inspect.isclass(value) and issubclass(value, BaseException)
    return callable(value) and package == "taeda" and not error


def counts() -> Counts:
    """What the reference shows."""
    found: Counts = {}
    for page in api_pages._pages():
        count, without = found.get(page.module, (0, []))
        shown = [(n, v) for n, v in page.entries if not isinstance(v, api_pages._Seen)]
        called = [(n, v) for n, v in shown if needs_one(v)]
        without = without + [name for name, value in called if not has_example(value)]
        found[page.module] = (count + len(called), without)
    return found


def limits(text: str) -> dict[str, int]:
    """How many of each module may have none."""
    pairs = (line.split() for line in text.splitlines() if line and line[0] != "#")
    return {module: int(most) for module, most in pairs}


def over(found: Counts, most: dict[str, int]) -> list[str]:
    """The modules in which more names lack an example than may, with the first of them."""
    return [
        f"{module}: {len(without)} have no example, and {most.get(module, 0)} may: "
        f"{', '.join(without[:5])}"
        for module, (_, without) in found.items()
        if len(without) > most.get(module, 0)
    ]


def lowered(found: Counts, most: dict[str, int]) -> str:
    """The text of the limits, none above what it was."""
    now = {m: min(len(w), most.get(m, 0)) for m, (_, w) in sorted(found.items())}
    lines = (f"{module} {number}\n" for module, number in now.items() if number)
    return (
        "# names of each module that may have no example; written by examples.py --lower\n"
        + "".join(lines)
    )


def main() -> int:
    """Print the figures; 1 where more lack an example than may."""
    parser = argparse.ArgumentParser(description="How many names have an example.")
    parser.add_argument("--open", metavar="MODULE", help="name those that have none")
    parser.add_argument("--lower", action="store_true", help="ask for what is reached")
    options = parser.parse_args()
    found, most = counts(), limits(LIMITS.read_text())
    if options.open:
        print(*found[options.open][1], sep="\n")
        return 0
    if options.lower:
        LIMITS.write_text(lowered(found, most))  # half-written: of the checkout, kept by git
    for module, (count, without) in found.items():
        print(f"{module:50} {count - len(without):4} of {count:4}")
    total = sum(count for count, _ in found.values())
    missing = sum(len(without) for _, without in found.values())
    print(f"{total - missing} of {total} classes and functions have an example")
    faults = over(found, most)
    print(*faults, sep="\n")
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
