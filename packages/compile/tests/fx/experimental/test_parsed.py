from __future__ import annotations

import pytest

from taeda.fx.experimental._parsed import parsed


@pytest.mark.parametrize(
    ("code", "value"),
    [
        ("2*s0**2 - s1 + 1", 11),
        ("-s0 % 4", 1),
        ("(s1 // s0) * 3", 6),
        ("max(s0, s1) - min(s0, 2)", 6),
        ("s0 < s1 and s1 != 9", True),
        ("s0 == s1", False),
        ("7", 7),
    ],
)
def test_values(code, value):
    assert parsed(code, {"s0": 3, "s1": 8}) == value


@pytest.mark.parametrize(
    "code",
    ["", "s0 +", "s2 + 1", "s0.real", "().__class__", "abs(s0)", "1.5j", "'a'", "s0 < s1 < 3",
     "[s0]", "max(s0)", "not s0", "__import__('os')", "lambda: 1"],
)  # fmt: skip
def test_what_is_no_formula(code):
    with pytest.raises(ValueError, match="is no formula"):
        parsed(code, {"s0": 3, "s1": 8})


def test_floats_and_words():
    values = {"s0": 3, "s1": 8}
    assert parsed("float(s0) / 2 + 0.25", values) == 1.75
    assert (
        parsed("s0 > 9 or s1 > 7", values) is True and parsed("s0 > 9 or s1 > 9", values) is False
    )
