"""Lines of prose in the pages and READMEs are at most 120 columns.

    python tools/hold/prose.py          names the longer ones, with status 1
    python tools/hold/prose.py --fix    wraps the paragraphs that they stand in

Tables, code, headings and what has no space to break at stay as they are.
"""

from __future__ import annotations

import re
import sys
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = (
    "README.md", "CONTRIBUTING.md", "docs/*.md", "docs/decisions/*.md", "packages/*/README.md",
    "examples/*/README.md",
)  # fmt: skip
WIDTH = 120

__all__ = ["long_lines", "wrapped"]

_FENCE = re.compile(r"\s*(```+|~~~+|:::+)")
_OTHER = re.compile(r"\s*(\||#|<|\[[^\]]*\]:|---|===|\([\w-]+\)=$|\$\$|!\[)")  # no prose
_ITEM = re.compile(r"(\s*)([-*+] |\d+\. |> )?")
_CODE = re.compile(r"`[^`\n]+`")
_SPACE = "\0"
# what would mean something at the begin of a line
_SYNTAX = re.compile(r"([-*+>#|]|\d+[.)])(\s|$)|[-=]{2,}$|:::")


def _paragraphs(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Begin and end of each run of lines that are one paragraph of prose or one item of a list."""
    begin, fence = None, ""
    for number, line in enumerate([*lines, ""]):
        opened = _FENCE.match(line)
        if fence:
            if opened and line.strip().startswith(fence) and not line.strip().strip("`~:"):
                fence = ""
            continue
        plain = bool(line.strip()) and not opened and not _OTHER.match(line)
        new = plain and _ITEM.match(line)[2] is not None  # type: ignore[index]  # it matches anything
        indented = begin is None and line.startswith("    ") and not new
        if begin is not None and (not plain or new):
            yield begin, number
            begin = None
        if plain and begin is None and not indented:
            begin = number
        if opened:
            fence = opened[1][:3]


def _broken(lines: Sequence[str]) -> list[str]:
    """The paragraph, wrapped, so that no line begins with a sign of Markdown."""
    match = _ITEM.match(lines[0])
    assert match is not None
    head = match[0]
    words = _kept_whole(" ".join([lines[0][len(head) :], *lines[1:]]))
    later = head if head.endswith("> ") else " " * len(head)
    if len(lines) > 1 and not head.endswith("> "):
        later = lines[1][: len(lines[1]) - len(lines[1].lstrip())]
    for width in range(WIDTH, WIDTH // 2, -1):
        made = textwrap.wrap(
            " ".join(words.split()),
            width,
            initial_indent=head,
            subsequent_indent=later,
            break_long_words=False,
            break_on_hyphens=False,
        )
        if not any(_SYNTAX.match(line[len(later) :]) for line in made[1:]):
            return [line.replace(_SPACE, " ") for line in made]
    return list(lines)


def _kept_whole(text: str) -> str:
    """The text with other signs for the spaces within code, so that none of them is broken at."""
    return _CODE.sub(lambda match: " ".join(match[0].split()).replace(" ", _SPACE), text)


def _is_kept(lines: Sequence[str]) -> bool:
    """Whether line breaks of the paragraph mean something."""
    return any(line.endswith(("  ", "\\")) for line in lines[:-1])


def wrapped(text: str) -> str:
    """The page with its long paragraphs broken.

    >>> wrapped("a " * 70).splitlines()[0] == " ".join("a" * 60)
    True
    """
    lines = text.split("\n")
    out, last = [], 0
    for begin, end in _paragraphs(lines):
        part = lines[begin:end]
        out += lines[last:begin]
        if any(_too_long(line) for line in part) and not _is_kept(part):
            part = _broken(part)
        out += part
        last = end
    return "\n".join([*out, *lines[last:]])


def _too_long(line: str) -> bool:
    line = _kept_whole(line)
    return len(line) > WIDTH and " " in line[_ITEM.match(line).end() : WIDTH]  # type: ignore[union-attr]  # it matches anything


def long_lines(text: str) -> list[int]:
    """Numbers of the lines of prose that are too long, from 1."""
    lines = text.split("\n")
    return [
        number + 1
        for begin, end in _paragraphs(lines)
        for number in range(begin, end)
        if _too_long(lines[number])
    ]


def main(arguments: Sequence[str]) -> int:
    """Name them, or mend them; how many stay."""
    found = 0
    for page in sorted(path for form in PAGES for path in ROOT.glob(form)):
        text = page.read_text()
        if "--fix" in arguments and (other := wrapped(text)) != text:
            page.write_text(other)
            text = other
        for number in long_lines(text):
            found += 1
            print(
                f"{page.relative_to(ROOT)}:{number}: a line of prose is longer than {WIDTH} columns"
            )
    print(f"{found} long lines of prose")
    return int(found > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
