"""Write the reference page of all operations from the rows of the op table: what each does, and in
which forms it is called.
"""

from __future__ import annotations

import inspect
from itertools import groupby
from pathlib import Path
from typing import Any

import taeda
from taeda._table._generate import rows
from taeda._table._row import Row

HEAD = """# Operations

Every operation on tensors, by subject, with the forms in which it is called. \
An operation with an underscore at its end writes into its first argument;
one that takes `out=` writes its result there. Names lead to signature, arguments and examples.

"""


def write(path: Path) -> None:
    """Write the page, unless it already says the same."""
    public = [row for row in rows() if not row.schema.name.startswith("_") and _forms(row)]
    sections = groupby(sorted(public, key=lambda row: row.family), key=lambda row: row.family)
    text = HEAD + "\n".join(_section(family, list(group)) for family, group in sections)
    path.parent.mkdir(exist_ok=True)
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def _section(family: str, group: list[Row]) -> str:
    title = family.replace("_", " ").capitalize()
    lines = [f"## {title}", "", "| operation | what it computes | called as |", "|---|---|---|"]
    for name, overloads in groupby(sorted(group, key=_name), key=_name):
        lines.append(_line(name, list(overloads)))
    return "\n".join(lines) + "\n"


def _name(row: Row) -> str:
    return f"{row.namespace}.{row.schema.name}" if row.namespace else row.schema.name


def _line(name: str, overloads: list[Row]) -> str:
    docs = dict.fromkeys(row.doc.partition("\n")[0].rstrip(".") for row in overloads)
    doc = "; ".join(docs).replace("|", "\\|").replace("*", "\\*").replace("<", "\\<")
    forms = dict.fromkeys(form for row in overloads for form in _forms(row))
    shown = ", ".join(f"`{form}`" for form in forms)
    return f"| {_linked(name, overloads)} | {doc} | {shown} |"


def _forms(row: Row) -> list[str]:
    """How a program calls it; nothing for rows that only other operations use."""
    place, name = _place(row), row.schema.name
    made = [f"taeda.{place}"] if place else []
    if "method" in row.variants and callable(getattr(taeda.Tensor, name, None)):
        made.append(f"x.{name}")
    if "inplace" in row.variants and callable(getattr(taeda.Tensor, f"{name}_", None)):
        made.append(f"x.{name}_")
    return made + (
        ["out="] if place and "out" in row.variants and _takes_out(_found(place)) else []
    )


def _takes_out(function: Any) -> bool:
    return "out" in inspect.signature(function).parameters


def _place(row: Row) -> str:
    """Where the function stands below `taeda`; "" if it is none that programs call."""
    places = {"nn": ("nn.functional",), "functional": ("",)}.get(row.namespace, (row.namespace,))
    paths = [f"{place}.{row.schema.name}" if place else row.schema.name for place in places]
    return next((path for path in paths if _found(path) is not None), "")


def _found(path: str) -> Any:
    value: Any = taeda
    for part in path.split("."):
        value = getattr(value, part, None)
    return value if callable(value) else None


def _linked(name: str, overloads: list[Row]) -> str:
    for row in overloads:
        if place := _place(row):
            return f"{{py:obj}}`{name} <taeda.{place}>`"
    return f"{{py:obj}}`{name} <taeda.Tensor.{overloads[0].schema.name}>`"


def write_absent(path: Path) -> None:
    """Write what is absent, by its reason, for the page that includes it."""
    from taeda._torch_names.absent import table

    reasons: dict[str, list[str]] = {}
    for name, reason in table().items():
        if "._" not in name:
            reasons.setdefault(reason, []).append(name)
    lines = ["| what to do | names |", "|---|---|"]
    for reason, names in reasons.items():
        shown = ", ".join(f"`{name}`" for name in names[:8])
        more = f" and {len(names) - 8} more" if len(names) > 8 else ""
        lines.append(f"| {reason.replace('|', '')} | {shown}{more} |")
    text = "\n".join(lines) + "\n"
    path.parent.mkdir(exist_ok=True)
    if not path.exists() or path.read_text() != text:
        path.write_text(text)
