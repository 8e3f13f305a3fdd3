"""Write the reference page of all operations from the rows of the op table, one section a family."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

from taeda._table._generate import rows
from taeda._table._row import Row

HEAD = """# Operations

Every row of the op table. `f` is a function `taeda.<name>`, `m` a method of Tensor, `i` the in-place form `<name>_`,
`o` the keyword `out=`. Several rows of one name are tried in this order.

"""
LETTERS = {"function": "f", "method": "m", "inplace": "i", "out": "o"}


def write(path: Path) -> None:
    """Write the page, unless it already says the same."""
    sections = groupby(sorted(rows(), key=lambda row: row.family), key=lambda row: row.family)
    text = HEAD + "\n".join(_section(family, list(group)) for family, group in sections)
    path.parent.mkdir(exist_ok=True)
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def _section(family: str, group: list[Row]) -> str:
    return f"## {family}\n\n| operation | forms | |\n|---|---|---|\n" + "".join(map(_line, group))


def _line(row: Row) -> str:
    schema = row.schema
    arguments = ", ".join(argument.name for argument in schema.arguments)
    prefix = f"{row.namespace}." if row.namespace else ""
    forms = "".join(LETTERS[word] for word in LETTERS if word in row.variants)
    doc = row.doc.replace("|", "\\|").replace("`", "`")
    return f"| `{prefix}{schema.qualified}({arguments})` | {forms} | {doc} |\n"
