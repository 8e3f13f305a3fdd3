"""`python -m taeda port`: imports of torch in a file become imports of taeda, for good."""

from __future__ import annotations

import argparse
import ast
import difflib
import io
import sys
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass

from taeda._io.atomic import atomic_write

from .porting_checks import obstacles

__all__ = ["port", "ported"]

USAGE = "python -m taeda port [--dry-run] FILE.py [FILE.py ...]"
TORCH = b"torch"


@dataclass(frozen=True)
class Edit:
    """The bytes `start` to `end` of a file become `text`."""

    start: int
    end: int
    text: str


class NotPorted(Exception):
    """Why a file stays as it is, a sentence a line of it."""

    def __init__(self, reasons: list[str]) -> None:
        super().__init__("\n".join(reasons))
        self.reasons = reasons


def port(arguments: list[str]) -> int:
    """Rewrite the files that are named and print what changed; 1 if one of them was refused."""
    parser = argparse.ArgumentParser(
        USAGE.partition(" [")[0],
        description="Rewrites `import torch` in every form to taeda, and prints the difference. "
        "A file in which something cannot be rewritten stays as it is, and the reasons are told.",
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="print the difference, write nothing"
    )
    parser.add_argument("files", nargs="+", metavar="FILE.py")
    options = parser.parse_args(arguments)
    done = [_port(path, write=not options.dry_run) for path in options.files]
    return int(not all(done))


def _port(path: str, *, write: bool) -> bool:
    """Port one file and tell of it; whether it could be done."""
    try:
        with open(path, "rb") as file:
            before = file.read()
        after = ported(before, path)
    except NotPorted as refusal:
        for reason in refusal.reasons:
            print(f"{path}:{reason}", file=sys.stderr)
        print(f"{path}: left as it is", file=sys.stderr)
        return False
    except OSError as error:
        print(f"{path}: {error.strerror}", file=sys.stderr)
        return False
    if after == before:
        print(f"{path}: nothing of torch is imported", file=sys.stderr)
        return True
    encoding, _ = tokenize.detect_encoding(io.BytesIO(before).readline)
    old, new = (text.decode(encoding).splitlines(keepends=True) for text in (before, after))
    sys.stdout.writelines(_ended(difflib.unified_diff(old, new, path, path)))
    if write:
        with atomic_write(path, len(after)) as file:
            file.write(after)
    return True


def _ended(lines: Iterator[str]) -> Iterator[str]:
    """Lines of a difference, each with an end; carriage returns are not printed."""
    for line in lines:
        yield line.rstrip("\r\n") + "\n"


def ported(source: bytes, name: str = "<file>") -> bytes:
    """The bytes of a program with taeda imported for torch; everything else stays as it was.

    NotPorted says, a sentence for each line, what cannot be rewritten.
    """
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(source).readline)
        text = source.decode(encoding)
        tree = ast.parse(text, name)
    except (SyntaxError, UnicodeDecodeError, ValueError) as error:
        line = getattr(error, "lineno", None) or 1
        raise NotPorted([f"{line}: this is no Python that can be read: {error}"]) from None
    reasons = obstacles(tree)
    if reasons:
        raise NotPorted(reasons)
    plain = text.removeprefix("\ufeff").encode()  # columns of a tree count bytes of UTF-8
    starts = _line_starts(plain)
    edits: list[Edit] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            edits += _of_import(node, starts)
        elif isinstance(node, ast.ImportFrom) and not node.level and _is_torch(node.module):
            start = starts[node.lineno - 1] + node.col_offset
            place = plain.find(TORCH, start)
            if plain[start:place].split() == [b"from"]:
                edits.append(Edit(place, place + len(TORCH), "taeda"))
            else:
                reasons.append(
                    f"{node.lineno}: write this import as one line `from torch... import`"
                )
    if reasons:
        raise NotPorted(reasons)
    for edit in sorted(edits, key=lambda edit: -edit.start):
        plain = plain[: edit.start] + edit.text.encode() + plain[edit.end :]
    after = plain.decode()
    return (("\ufeff" if text.startswith("\ufeff") else "") + after).encode(encoding)


def _of_import(node: ast.Import, starts: list[int]) -> Iterator[Edit]:
    """Edits of `import a, torch.b, torch as c`.

    `import torch.b` binds `torch` and loads `torch.b`: `import taeda as torch` and `taeda.b` do.
    """
    bound = False
    for alias in node.names:
        if not _is_torch(alias.name):
            continue
        ours = "taeda" + alias.name.removeprefix("torch")
        if alias.asname:
            text = f"{ours} as {alias.asname}"
        else:
            text = ", ".join(["taeda as torch"] * (not bound) + [ours] * (ours != "taeda"))
            bound = True
        assert alias.end_lineno is not None and alias.end_col_offset is not None
        start = starts[alias.lineno - 1] + alias.col_offset
        end = starts[alias.end_lineno - 1] + alias.end_col_offset
        # `import torch, torch` stays as often as it stood
        yield Edit(start, end, text or "taeda as torch")


def _is_torch(name: str | None) -> bool:
    return name is not None and name.partition(".")[0] == "torch"


def _line_starts(text: bytes) -> list[int]:
    """Where each line begins, as the parser counts lines."""
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    return starts
