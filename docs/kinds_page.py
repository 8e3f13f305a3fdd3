"""Write the table of what each kind of tensor computes from the rules that are registered, and of what it
refuses from the rows of the op table that have none.
"""

from __future__ import annotations

from itertools import groupby
from pathlib import Path
from typing import Any

import taeda
from taeda._native import core
from taeda._table._generate import rows
from taeda._table._row import Row

HEAD = """# What each kind of tensor computes

Written from the rules that are registered. An operation that stands in no column raises \
NotImplementedError, with its name and the way round, for a tensor of the kind. A rule may refuse \
arguments, too: a sum over the batch of a nested tensor. `in place`: the form with an underscore. The \
last column says what becomes of names of dimensions ({doc}`../kinds`); without a word there an operation \
raises RuntimeError for a named tensor.

"""
#: what a column is called, and whose rules it shows
KINDS = {
    "coordinates": taeda.sparse_coo, "rows": taeda.sparse_csr, "columns": taeda.sparse_csc,
    "blocks": taeda.sparse_bsr, "nested": taeda.jagged,
    "nested, strided": core._nested, "masked": core._masked,
    "quantized": core._quantized,
}  # fmt: skip
#: what the words of the column `names` of the op table say
NAMING = {
    "keep": "kept", "match": "kept, others match", "unify": "unified", "drop": "those of dims go",
    "squeeze": "those of dims go", "contract": "contracted dims go", "permute": "permuted",
    "expand": "kept, new dims have none", "add": "kept, the new dim has none",
    "select": "matched, none after", "none": "none", "make": "`names=`",
}  # fmt: skip
WORDS = {False: "yes", True: "in place"}


def write(path: Path) -> None:
    """Write the page, unless it already says the same."""
    text = page()
    path.parent.mkdir(exist_ok=True)
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def page() -> str:
    """The text of the page."""
    rules = rules_of_kinds()
    public = [row for row in rows() if not row.schema.name.startswith("_")]
    known = {row.schema.name for row in public if _cells(row, rules) or row.names}
    sections = groupby(sorted(public, key=lambda row: row.family), key=lambda row: row.family)
    made = [_section(family, list(group), rules) for family, group in sections]
    count = (
        f"{len(known)} of {len({row.schema.name for row in public})} operations have a rule.\n\n"
    )
    return HEAD + _counts(public, rules) + count + "\n".join(part for part in made if part)


def rules_of_kinds() -> dict[str, tuple[set[str], set[str]]]:
    """By kind the rows of calls that make new tensors, and of those in place."""
    for package, name in (
        ("sparse", "mm"),
        ("nested", "nested_tensor"),
        ("masked", "masked_tensor"),
        ("quantization", "quantize_per_tensor"),
    ):
        getattr(getattr(taeda, package), name)  # brings the rules
    return {
        kind: (set(core.layout_rules(layout, False)), set(core.layout_rules(layout, True)))
        for kind, layout in KINDS.items()
    }


def _text(row: Row) -> str:
    overload = row.schema.overload
    return f"{row.schema.name}.{overload}" if overload else row.schema.name


def _cells(row: Row, rules: dict[str, Any]) -> dict[str, str]:
    """What a row has, by kind."""
    found = {}
    for kind, (made, written) in rules.items():
        words = [
            WORDS[place] for place, names in ((False, made), (True, written)) if _text(row) in names
        ]
        if words:
            found[kind] = ", ".join(words)
    return found


def _counts(public: list[Row], rules: dict[str, Any]) -> str:
    lines = ["| kind | operations with a rule | in place |", "|---|---|---|"]
    for kind, both in rules.items():
        counts = [len({row.schema.name for row in public if _text(row) in names}) for names in both]
        lines.append(f"| {kind} | {counts[0]} | {counts[1]} |")
    carried = {row.schema.name for row in public if row.names}
    lines.append(f"| named | {len(carried)} | each form in place |")
    return "\n".join(lines) + "\n\n"


def _section(family: str, group: list[Row], rules: dict[str, Any]) -> str:
    lines = []
    for name, overloads in groupby(
        sorted(group, key=lambda r: r.schema.name), key=lambda r: r.schema.name
    ):
        found: dict[str, str] = {}
        for row in overloads:
            for kind, words in _cells(row, rules).items():
                found[kind] = max(found.get(kind, ""), words, key=len)
            if row.names:
                found["names"] = NAMING[row.names]
        if found:
            lines.append(
                f"| `{name}` | "
                + " | ".join(found.get(kind, "") for kind in [*rules, "names"])
                + " |"
            )
    if not lines:
        return ""
    head = [
        f"## {family.replace('_', ' ').capitalize()}",
        "",
        f"| operation | {' | '.join(rules)} | names |",
    ]
    return "\n".join([*head, "|---" * (len(rules) + 2) + "|", *lines]) + "\n"
