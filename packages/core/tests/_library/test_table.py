"""Entries of operators that users define."""

from __future__ import annotations

import pytest

import taeda
from taeda._library import table
from taeda._table._schema import SchemaError


@pytest.fixture
def defined():
    entry = table.define("table_test::f(Tensor x) -> Tensor", strict=True)
    yield entry
    table.forget(entry.text)


def test_a_name_is_defined_until_it_is_forgotten(defined):
    assert table.is_defined("table_test::f") and table.entry("table_test::f") is defined
    assert defined in table.entries() and not table.is_defined("table_test::g")
    table.set_kernel("table_test::f", "cpu", lambda x: x + 1)
    assert taeda.ops.table_test.f(taeda.ones(1)).item() == 2
    table.set_kernel("table_test::f", "cpu", None)
    with pytest.raises(NotImplementedError):
        taeda.ops.table_test.f(taeda.ones(1))


def test_rules_by_layer(defined):
    assert table.rule_of("table_test::f", "transform") is None
    table.set_rule("table_test::f", "transform", print)
    assert table.rule_of("table_test::f", "transform") is print


def test_who_listens_hears_of_every_definition(monkeypatch):
    heard = []
    table.on_change(heard.append)
    made = table.define("table_test::h(Tensor x) -> Tensor", strict=True)
    table.forget(made.text)
    assert heard[0].name == "h"
    with pytest.raises(SchemaError):
        table.define("table_test::(Tensor x) -> Tensor", strict=True)


def test_built_in_names():
    assert "add.Tensor" in {text.rpartition("::")[2] for text in table.builtin_texts()}
