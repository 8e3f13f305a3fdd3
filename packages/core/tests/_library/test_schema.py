"""Schemas given as text, and their defaults."""

from __future__ import annotations

import re
from typing import Any

import pytest

import taeda
from taeda import library
from taeda._library import table
from taeda._table._schema import SchemaError

Library, custom_op = library.Library, library.custom_op


def library_of(name):
    from taeda._library.low_level import scoped_library

    return scoped_library(name, "FRAGMENT")


def test_schemas_given_as_text():
    made = custom_op(
        "tlib::text", lambda x, n: x * n, mutates_args=(), schema="(Tensor x, int n=3) -> Tensor"
    )
    assert made(taeda.ones(1)).item() == 3
    with pytest.raises(ValueError, match="consistent"):
        custom_op("tlib::t2", lambda x: x, mutates_args=("x",), schema="(Tensor x) -> Tensor")
    for text in (
        "Tensor x",
        "(Tensr x) -> Tensor",
        "(Tensor) -> Tensor",
        "(Tensor x=) -> Tensor",
        "(int x=f()) -> ()",
    ):
        with pytest.raises(ValueError, match=r"schema|type|argument|default"):
            custom_op("tlib::t2", lambda x: x, mutates_args=(), schema=text)
    assert not table.is_defined("tlib::t2")


def test_defaults_of_every_type():
    with library_of("tl6") as lib:
        lib.define(
            "f(Tensor x, int[2] a=1, float? b=None, bool c=True, str d='e, (f', ScalarType "
            "g=float64, Scalar h=2.5, "
            "MemoryFormat i=channels_last, Device j='meta', int[] k=[1, 2], Tensor[] l=[], bool[] "
            "m=[True]) -> ()"
        )
        got: list[Any] = []
        lib.impl("f", lambda *args: got.append(args[1:]), "CompositeExplicitAutograd")
        taeda.ops.tl6.f(taeda.ones(1))
        assert got == [
            (
                [1, 1],
                None,
                True,
                "e, (f",
                taeda.float64,
                2.5,
                taeda.channels_last,
                taeda.device("meta"),
                [1, 2],
                [],
                [True],
            )
        ]
        for text in (
            "f1(int x='a') -> ()",
            "f1(ScalarType x=nothing) -> ()",
            "f1(int[2] x=[1.5]) -> ()",
        ):
            with pytest.raises(ValueError, match=r"default|there is no"):
                lib.define(text)
            assert not table.is_defined("tl6::f1")


def test_a_schema_that_is_none_is_a_value_error():
    with pytest.raises(SchemaError, match="no namespace"):
        table.define("f(Tensor x) -> Tensor")


@pytest.mark.parametrize("word", ["neg", "mean", "float32", "two words", "x=1, y"])
def test_a_default_that_is_a_text_is_shown_as_one(word):
    with library_of("tl7") as lib:
        schema = f'f(Tensor x, str word="{word}", ScalarType t=float32) -> Tensor'
        lib.define(schema)
        assert str(taeda.ops.tl7.f.default._schema) == f"tl7::{schema}"


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        ("f(Tensor x, Tensor x) -> Tensor", "two arguments are called 'x'"),
        ("f(Tensor x, *, *) -> Tensor", "two stars"),
        ("f(Tensor[] x) -> Tensor[][]", "a list of lists"),
        ("1f(Tensor x) -> Tensor", "begins with a letter"),
        ("f(Tensor x, int n=1, Tensor y) -> Tensor", "'y' has no default and comes behind 'n'"),
        ("f(Tensor x) -> Tensor(a!)", "result 0 is an argument that is written"),
        ("f(Tensor(a) x) -> Tensor(a!)", "result 0 is an argument that is written"),
        ("f(Tensor(a!) x) -> (Tensor, Tensor(b!))", "result 1 is an argument that is written"),
        ("f(Tensor(a) x) -> Tensor(b)", "result 0 shares memory"),
    ],
)
def test_a_schema_that_no_call_could_mean_is_refused(schema, why):
    with library_of("schema_refused") as space:
        with pytest.raises(RuntimeError, match=re.escape(why)):
            space.define(schema)
        assert space.define("g(Tensor x, int n=1, *, int m, int k=2) -> Tensor") == "g"
