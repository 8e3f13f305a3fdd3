"""Comments stay beside what they are about: none tears the line apart that it stands behind.

    python tools/hold/comments.py         a sentence for each statement that is broken into several lines
                                     for nothing but the comment behind it

The formatter breaks a line that its comment makes too long, and puts the comment behind a bracket:

    WAIT = (
        2.0  # seconds for all of them
    )

It stands above the line instead, or first in the block that a clause begins.
"""

from __future__ import annotations

import io
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

__all__ = ["check", "torn"]

ROOT = Path(__file__).resolve().parents[2]
WIDTH = 100
#: marks for tools: they belong to the line that they stand on
MARKS = ("# fmt:", "# type:", "# noqa", "# pragma")
LAYOUT = {tokenize.NL, tokenize.NEWLINE, tokenize.COMMENT, tokenize.ENDMARKER}
DEPTH = {tokenize.INDENT, tokenize.DEDENT}


def torn(text: str) -> Iterator[int]:
    """The first lines of the statements that a comment tears apart."""
    lines = text.splitlines()
    statement: list[tokenize.TokenInfo] = []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in DEPTH and (statement or token.type not in LAYOUT):
            statement.append(token)
        if token.type == tokenize.NEWLINE:
            if _is_torn(statement, lines):
                yield statement[0].start[0]
            statement = []


def _is_torn(statement: list[tokenize.TokenInfo], lines: list[str]) -> bool:
    comments = [token for token in statement if token.type == tokenize.COMMENT]
    code = [token for token in statement if token.type not in LAYOUT]
    first, last = code[0].start[0], code[-1].end[0]
    if len(comments) != 1 or first == last or comments[0].string.startswith(MARKS):
        return False
    if any(token.start[0] != token.end[0] for token in code):  # a text of several lines
        return False
    line = comments[0].start[0]
    behind_all = line == last
    behind_one = last - first == 2 and line == first + 1
    apart = lines[line - 1].lstrip().startswith("#")
    whole = [_without(comments[0], lines[n - 1], n).strip() for n in range(first, last + 1)]
    return (behind_all or behind_one) and not apart and code[0].start[1] + _width(whole) <= WIDTH


def _without(comment: tokenize.TokenInfo, line: str, number: int) -> str:
    return line[: comment.start[1]] if number == comment.start[0] else line


def _width(pieces: list[str]) -> int:
    """Columns of the pieces of a statement on one line, with the brackets that a longer one needs."""
    one = pieces[0]
    for piece in pieces[1:]:
        if piece[:1] in tuple(")]}"):
            one = one.rstrip(",") + piece
        else:
            one += piece if one.endswith(("(", "[", "{")) else f" {piece}"
    return len(one)


def check(root: Path = ROOT) -> Iterator[str]:
    """A sentence for each torn statement of the files that git keeps."""
    names = subprocess.check_output(["git", "ls-files", "*.py"], cwd=root, text=True).split()
    for name in names:
        if (root / name).is_file():
            for line in torn((root / name).read_text()):
                yield f"{name}:{line}: a comment tears this statement apart: put it on a line above"


if __name__ == "__main__":
    wrong = list(check())
    print("\n".join(wrong) or "comments stay beside their lines")
    sys.exit(bool(wrong))
