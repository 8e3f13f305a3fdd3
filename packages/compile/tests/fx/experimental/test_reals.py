from __future__ import annotations

import pytest

from taeda.fx.experimental._expressions import constant, symbol
from taeda.fx.experimental._reals import Real, real, real_symbol


def test_a_formula_is_computed_as_it_was_written():
    n, f = symbol("n"), real_symbol("f")
    made = real("mul", real("truediv", n, 3), f)
    assert str(made) == "(n / 3) * f" and made.symbols() == {"n", "f"}
    assert made.value({"n": 7, "f": 0.1}) == 7 / 3 * 0.1
    assert made.replaced({"n": constant(7), "f": Real("number", 0.1)}).number == 7 / 3 * 0.1
    assert made == real("mul", real("truediv", n, 3), f) != real("mul", f, real("truediv", n, 3))
    assert hash(made) == hash(real("mul", real("truediv", n, 3), f))
    assert str(real("max", f, 2.5)) == "max(f, 2.5)" and str(real("neg", f)) == "-f"


def test_numbers_are_computed_at_once():
    assert real("truediv", 1, 4).number == 0.25 and real("float", 3).number == 3.0
    assert type(real("max", 3, 2.5).number) is float


@pytest.mark.parametrize("name", ["truediv", "floordiv", "mod"])
def test_a_division_by_nothing(name):
    with pytest.raises(ZeroDivisionError):
        real(name, symbol("n"), 0)
    with pytest.raises(ZeroDivisionError):
        real(name, 2.0, 0.0)
