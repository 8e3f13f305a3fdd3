"""Steps of grid_sample beside its kernel: two programs for the same values and gradients."""

from __future__ import annotations

import itertools

import pytest

import taeda
from taeda._C import _nn
from taeda._composite._grid_steps import PADDINGS, SAMPLE_MODES, grid_sample_by_steps

SIZES = {  # input and grid; the first has more places than a block of the kernel
    2: ((2, 18, 6, 5), (2, 9, 11, 2)),
    3: ((2, 3, 3, 1, 4), (2, 3, 5, 2, 3)),
}
CASES = [
    (dims, mode, padding, align)
    for dims, mode, padding, align in itertools.product(SIZES, range(3), range(3), (False, True))
    if dims == 2 or SAMPLE_MODES[mode] != "bicubic"
]


def sources(dims: int, on_centres: bool = False):
    made = taeda.Generator().manual_seed(5)
    size, places = SIZES[dims]
    x = taeda.randn(size, generator=made, dtype=taeda.float64)
    grid = taeda.randn(places, generator=made, dtype=taeda.float64) * 1.3
    if on_centres:
        grid = (grid * 2).round() / 2
    return x.requires_grad_(), grid.requires_grad_()


def kernel_gradients(x, grid, grad, how):
    with taeda.no_grad():
        return _nn._grid_sample_backward(grad, x, grid, *how, [True, True])


@pytest.mark.parametrize(("dims", "mode", "padding", "align"), CASES)
def test_values_and_gradients_of_the_kernel(dims, mode, padding, align):
    how = (mode, padding, align)
    x, grid = sources(dims)
    values = grid_sample_by_steps(x, grid, *how)
    taeda.testing.assert_close(_nn._grid_sample(x.detach(), grid.detach(), *how), values.detach())
    grad = taeda.randn(values.shape, dtype=taeda.float64)
    wanted = taeda.autograd.grad(values, (x, grid), grad)
    for got, want in zip(kernel_gradients(x, grid, grad, how), wanted, strict=True):
        taeda.testing.assert_close(got, want)


@pytest.mark.parametrize("padding", range(3), ids=PADDINGS)
@pytest.mark.parametrize("align", [False, True])
def test_gradients_of_places_on_pixels_and_on_the_border(padding, align):
    x, grid = sources(2, on_centres=True)
    values = grid_sample_by_steps(x, grid, 0, padding, align)
    grad = taeda.ones_like(values)
    wanted = taeda.autograd.grad(values, (x, grid), grad)
    got = kernel_gradients(x, grid, grad, (0, padding, align))
    for one, other in zip(got, wanted, strict=True):
        taeda.testing.assert_close(one, other)


def test_the_border_does_not_move_with_the_place():
    x = taeda.tensor([[[[1.0, 2.0], [3.0, 4.0]]]])
    grid = taeda.tensor([[[[-1.0, -1.0], [0.0, 1.0], [3.0, 0.0]]]])  # a corner, an edge, outside
    _, by_grid = kernel_gradients(x, grid, taeda.ones(1, 1, 1, 3), (0, 1, True))
    assert by_grid.tolist() == [[[[0.0, 0.0], [0.5, 0.0], [0.0, 1.0]]]]


def test_gradients_have_the_same_bits_on_any_number_of_threads():
    made = taeda.Generator().manual_seed(5)
    x = taeda.randn(2, 40, 9, 9, generator=made)
    grid = taeda.rand(2, 60, 60, 2, generator=made) * 2.2 - 1.1
    grad = taeda.randn(2, 40, 60, 60, generator=made)
    before, found = taeda.get_num_threads(), []
    try:
        for threads in (1, 2, 5):
            taeda.set_num_threads(threads)
            found.append(kernel_gradients(x, grid, grad, (0, 0, False)))
    finally:
        taeda.set_num_threads(before)
    for by_x, by_grid in found[1:]:
        assert taeda.equal(by_x, found[0][0])
        assert taeda.equal(by_grid, found[0][1])


def test_masks_leave_gradients_out():
    x, grid = (t.detach() for t in sources(2))
    grad = taeda.ones(2, 18, 9, 11, dtype=taeda.float64)
    both = _nn._grid_sample_backward(grad, x, grid, 0, 0, False, [True, True])
    by_x, none = _nn._grid_sample_backward(grad, x, grid, 0, 0, False, [True, False])
    assert none is None
    assert taeda.equal(by_x, both[0])
    none, by_grid = _nn._grid_sample_backward(grad, x, grid, 0, 0, False, [False, True])
    assert none is None
    assert taeda.equal(by_grid, both[1])


X, GRID, GRAD = taeda.ones(1, 2, 3, 3), taeda.zeros(1, 4, 5, 2), taeda.ones(1, 2, 4, 5)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: _nn._grid_sample(X, GRID[..., :1], 0, 0, False), RuntimeError, r"\[1, 4, 5, 1\]"),
        (lambda: _nn._grid_sample(X, GRID, 3, 0, False), RuntimeError, "mode 3"),
        (
            lambda: _nn._grid_sample(X.half(), GRID.half(), 0, 0, False),
            NotImplementedError,
            "half|float16",
        ),
        (
            lambda: _nn._grid_sample_backward(GRAD[..., 1:], X, GRID, 0, 0, False, [True, True]),
            RuntimeError,
            r"wanted grad_output \[1, 2, 4, 5\].*got \[1, 2, 4, 4\]",
        ),
        (
            lambda: _nn._grid_sample_backward(GRAD.double(), X, GRID, 0, 0, False, [True, True]),
            RuntimeError,
            "float64",
        ),
        (
            lambda: _nn._grid_sample_backward(GRAD, X, GRID, 0, 5, False, [True, True]),
            RuntimeError,
            "padding 5",
        ),
    ],
)
def test_refusals(call, error, text):
    with pytest.raises(error, match=text):
        call()
