"""The sweep of shapes sees what it is there to see."""

import by_path
import pytest

import taeda

shapes = by_path.load("tools/hunt/shapes.py")
NAMES = sorted(by_path.load("tools/hunt/shape_cases.py").CASES)


def test_a_case_is_drawn_from_its_number_alone():
    assert str(shapes.drawn(0, 17, "")) == str(shapes.drawn(0, 17, ""))
    assert str(shapes.drawn(0, 17, "")) != str(shapes.drawn(1, 17, ""))


@pytest.mark.parametrize("name", NAMES)
def test_every_operation_has_a_case_that_passes(name):
    assert not shapes.check(shapes.drawn(0, 0, f"^{name}$"))


def test_a_wrong_number_is_a_finding(monkeypatch):
    real = taeda.nn.functional.linear
    monkeypatch.setattr(taeda.nn.functional, "linear", lambda *a, **k: real(*a, **k) * 1.5)
    assert any(shapes.check(shapes.drawn(0, number, "^linear$")) for number in range(3))
