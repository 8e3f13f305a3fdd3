"""How a row of the op table is written, and what a row refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

from taeda._table import _row
from taeda._table._row import op
from taeda._table._schema import SchemaError


@pytest.fixture(autouse=True)
def table(monkeypatch):
    made = []
    monkeypatch.setattr(_row, "TABLE", made)
    return made


def test_a_pointwise_row(table):
    op("f.Tensor(Tensor self, Tensor other) -> Tensor", pointwise="same", loop="g", doc="d", aliases="h i")
    (row,) = table
    assert (row.family, row.kind, row.target, row.loop, row.promotion) == ("test_row", "pointwise",
        "g", "", "same")
    assert row.numbers == {"other"} and row.writes_out and row.any_device and row.aliases == ("h", "i")
    assert row.variants == {"function", "method"} and (row.reads_value, row.autocast) == ("", "")


def test_rows_of_the_other_kinds(table):
    op("f(Tensor self) -> Tensor", c="stem", loop="l", device="any", doc="d", variants="function")
    op("g.x(Tensor self, Tensor t) -> Tensor", python=True, numbers="t", random=True, doc="d")
    op("h(Tensor self) -> Tensor", composite=True, view=True, writes_out=True, tags="a b", doc="d")
    one, two, three = table
    assert (one.kind, one.target, one.loop, one.any_device, one.promotion) == ("c", "stem", "l", True, "none")
    assert (two.kind, two.target, two.numbers, two.random, two.any_device) == ("python", "g_x",
        {"t"}, True, False)
    assert (three.kind, three.view, three.writes_out, three.tags) == ("composite", True, True, {"a", "b"})


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({}, r"exactly one of pointwise, c, python, composite; got \[\]"),
        ({"c": "x", "python": True}, r"got \['c', 'python'\]"),
        ({"c": "x", "variants": "function smoke"}, r"unknown variants \['smoke'\]"),
        ({"pointwise": "smoke"}, "promotion 'smoke' is none of"),
        ({"c": "x", "check": "y"}, "check='y' and loop='' are for rows with loops"),
        ({"python": True, "loop": "y"}, "are for rows with loops"),
        ({"composite": True, "device": "any"}, "a row with c= or python= may say"),
        ({"c": "x", "device": "cuda"}, "a row with c= or python= may say"),
        ({"c": "x", "reads_value": "often"}, "reads_value='often' is none of"),
        ({"c": "x", "autocast": "double"}, "autocast='double' is none of"),
        ({"c": "x", "since": _row.OPSET + 1}, "is no operator set"),
    ],
)
def test_refusals(table, columns, words):
    with pytest.raises(SchemaError, match=f"^f: .*{words}|^f: {words}"):
        op("f(Tensor self) -> Tensor", doc="d", **columns)
    assert table == []


def test_a_row_has_no_more_arguments_than_a_call_in_c():
    header = Path(__file__).parents[2] / "csrc" / "runtime" / "op.h"
    assert f"#define TD_MAX_ARGS {_row.MOST_ARGUMENTS}\n" in header.read_text()
    many = ", ".join(f"int a{n}" for n in range(17))
    with pytest.raises(SchemaError, match="f: 17 arguments, and a call has room for 16"):
        op(f"f({many}) -> Tensor", doc="", c="f")
