"""Single values of the format: what is read, and what is refused."""

from __future__ import annotations

import math

import pytest

import taeda
from taeda._core_api.files import FormatError
from taeda.export._pt2._reading.values import (
    dtype_of,
    float_of,
    formula_of_size,
    integers_of,
    name_of,
    plain_value,
    union_of,
)


@pytest.mark.parametrize(
    ("kind", "value", "wanted"),
    [
        ("as_none", True, None),
        ("as_int", 3, 3),
        ("as_float", "-Infinity", -math.inf),
        ("as_floats", [1, "Infinity"], [1.0, math.inf]),
        ("as_bools", [True, False], [True, False]),
        ("as_strings", ["a"], ["a"]),
        ("as_scalar_type", 7, taeda.float32),
        ("as_device", {"type": "cpu", "index": None}, taeda.device("cpu")),
        ("as_complex", {"real": 1.0, "imag": -2}, 1 - 2j),
    ],
)
def test_values_of_python(kind, value, wanted):
    assert plain_value(kind, value) == wanted


def test_one_field_of_a_union_is_set():
    assert union_of({"as_int": 3, "as_none": None}) == [("as_int", 3)]


@pytest.mark.parametrize(
    "read",
    [
        lambda: union_of({"as_int": 3, "as_float": 1.0}),
        lambda: union_of({}),
        lambda: name_of("x.y"),
        lambda: name_of("import os; x"),
        lambda: name_of("x" * 300),
        lambda: name_of(3),
        lambda: dtype_of(True),
        lambda: dtype_of(99),
        lambda: integers_of([{"as_int": -1}]),
        lambda: integers_of([{"as_int": True}]),
        lambda: integers_of([{"as_int": 2**62}]),
        lambda: integers_of([{"as_expr": {}}]),
        lambda: integers_of([{"as_int": 1}] * 65),
        lambda: formula_of_size({"as_name": "s0"}),
        lambda: plain_value("as_ints", [1, True]),
        lambda: plain_value("as_ints", [1.0]),
        lambda: plain_value("as_graph", {}),
        lambda: plain_value("as_string", 3),
        lambda: float_of("inf"),
        lambda: float_of(True),
    ],
)
def test_what_is_no_such_value_is_refused(read):
    with pytest.raises(FormatError):
        read()


def test_a_size_is_a_number_or_a_formula():
    assert str(formula_of_size({"as_int": 4})) == "4"
    assert (
        formula_of_size(
            {
                "as_expr": {
                    "expr_str": "Add(Mul(Integer(2), Symbol('s0', positive=True)), Integer(1))"
                }
            }
        ).value({"s0": 3})
        == 7
    )
    assert integers_of([{"as_int": 2}, {"as_int": 0}]) == [2, 0]
    assert name_of("x_1") == "x_1" and float_of("NaN") != float_of("NaN")
