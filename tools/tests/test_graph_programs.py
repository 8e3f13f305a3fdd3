"""Random programs are drawn from their number alone, run, compared and shortened."""

from __future__ import annotations

import pytest
from graph_programs import OPS, Step, difference, draw, shortened, text

import taeda
import taeda.autograd

pytestmark = pytest.mark.filterwarnings("ignore")


class Wrong:
    """taeda with another `stack`."""

    def __getattr__(self, name):
        return getattr(taeda, name)

    def stack(self, tensors):
        return -taeda.stack(tensors)


def test_a_program_is_drawn_from_its_number():
    assert draw(7) == draw(7) != draw(8)
    assert {step.op for seed in range(300) for step in draw(seed)} == set(OPS)


def test_a_library_does_not_differ_from_itself():
    assert [seed for seed in range(40) if difference(draw(seed), taeda, taeda)] == []


def test_a_difference_is_found_and_shortened():
    needless = [Step(op, 2, 3, "grad") for op in ("alias", "sin", "conj", "mul_")]
    steps = [*needless[:2], Step("stack", 2, 2, "grad"), *needless[2:]]
    short = shortened(steps, lambda some: difference(some, Wrong(), taeda))
    assert text(short) == "stack(x[2], x[2]) in grad"
    assert "the values of x[4] differ" in difference(short, Wrong(), taeda)
