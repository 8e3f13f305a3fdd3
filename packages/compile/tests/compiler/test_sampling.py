"""Images sampled at the places of a grid: one call of a kernel, recorded as such, with eager's bits."""

from __future__ import annotations

import itertools

import pytest

import taeda
from taeda.nn.functional import grid_sample

MODES = [*itertools.product(("bilinear", "nearest", "bicubic"), ("zeros", "border", "reflection"))]


@pytest.mark.parametrize(("mode", "padding"), MODES)
def test_the_first_compiled_call_and_others_have_the_bits_of_the_program(mode, padding):
    def f(x, grid):
        made = grid_sample(x * 2, grid.tanh(), mode, padding, align_corners=False)
        return made.relu() * 3

    x = taeda.randn(2, 3, 9, 8, requires_grad=True)
    grid = taeda.randn(2, 5, 4, 2, requires_grad=True)
    wanted = f(x, grid)
    slopes = taeda.autograd.grad(wanted.sum(), (x, grid))
    compiled = taeda.compile(f)
    for _ in range(3):
        made = compiled(x, grid)
        assert taeda.equal(made, wanted)
        for got, slope in zip(taeda.autograd.grad(made.sum(), (x, grid)), slopes, strict=True):
            assert taeda.equal(got, slope)
    assert "1 graphs" in str(taeda.compiler.explain(compiled)(x, grid))


def test_a_checkpoint_of_it_is_computed_again_as_it_was():
    def f(x):
        return grid_sample(x, x[:, :2].movedim(1, -1).tanh(), align_corners=True).sin()

    def run(x):
        return taeda.utils.checkpoint.checkpoint(f, x, use_reentrant=False)

    x, v = (
        taeda.randn(1, 3, 4, 4, dtype=taeda.float64),
        taeda.randn(1, 3, 4, 4, dtype=taeda.float64),
    )
    wanted = taeda.autograd.functional.jvp(f, x, v)[1]
    taeda.testing.assert_close(taeda.autograd.functional.jvp(taeda.compile(run), x, v)[1], wanted)
