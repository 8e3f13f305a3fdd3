"""Gradients of products with packed weights are those of the product with the matrix in float32."""

from __future__ import annotations

import numpy as np
import pytest

import taeda


def leaf(*shape, seed=0):
    values = np.random.default_rng(seed).standard_normal(shape).astype("f4")
    return taeda.from_numpy(values).requires_grad_()


def packed(kind):
    """The row, its arguments behind x, and the matrix as differentiable operations make it."""
    rng = np.random.default_rng(1)
    scales, offsets = leaf(6, 2, seed=2), leaf(6, 2, seed=3)
    wide = scales.repeat_interleave(32, 1)
    if kind == "int8":
        q = taeda.from_numpy(rng.integers(-128, 128, (6, 64)).astype("i1"))
        return taeda._weight_int8_mm, (q, scales), wide * q
    halves = rng.integers(0, 16, (2, 6, 64)).astype("u1")
    bytes_ = taeda.from_numpy(halves[0] | halves[1] << 4)  # of 128 places the first 64 are there
    q = taeda.from_numpy(halves[0])
    if kind == "int4":
        return taeda._weight_int4_mm, (bytes_, scales), wide * (q - 8.0)
    return (
        taeda._weight_int4_mm,
        (bytes_, scales, offsets),
        wide * q + offsets.repeat_interleave(32, 1),
    )


@pytest.mark.parametrize("kind", ["int8", "int4", "int4 with offsets"])
@pytest.mark.parametrize("shape", [(64,), (3, 64), (2, 9, 64)])
def test_gradients(kind, shape):
    row, given, matrix = packed(kind)
    x, bias = leaf(*shape, seed=4), leaf(6, seed=5)
    leaves = [x, bias, *(t for t in given if t.requires_grad)]
    pull = leaf(*shape[:-1], 6, seed=6).detach()
    got = taeda.autograd.grad(row(x, *given, bias=bias), leaves, pull)
    want = taeda.autograd.grad(x @ matrix.T + bias, leaves, pull)
    for mine, theirs in zip(got, want, strict=True):
        assert taeda.allclose(mine, theirs, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("kind", ["int8", "int4", "int4 with offsets"])
def test_gradients_of_the_matrix(kind):
    _, given, matrix = packed(kind)
    expand = taeda._weight_int8_expand if kind == "int8" else taeda._weight_int4_expand
    more = () if kind == "int8" else (given[2] if len(given) == 3 else None, 64)
    leaves = [t for t in given if t.requires_grad]
    pull = leaf(6, 64, seed=6).detach()
    got = taeda.autograd.grad(expand(*given[:2], *more), leaves, pull)
    want = taeda.autograd.grad(matrix, leaves, pull)
    for mine, theirs in zip(got, want, strict=True):
        assert taeda.allclose(mine, theirs, rtol=1e-4, atol=1e-4)


def test_gradients_of_gradients_and_tangents():
    row, given, matrix = packed("int8")
    x, way = leaf(3, 64, seed=4), leaf(3, 64, seed=7).detach()
    (slope,) = taeda.autograd.grad(row(x, *given).pow(2).sum(), x, create_graph=True)
    (again,) = taeda.autograd.grad(slope.mul(way).sum(), x)
    want = 2 * way @ matrix.T @ matrix
    assert taeda.allclose(again, want.detach(), rtol=1e-3, atol=1e-2)
    _, tangent = taeda.func.jvp(lambda t: row(t, *given), (x.detach(),), (way,))
    assert taeda.allclose(tangent, (way @ matrix.T).detach(), rtol=1e-3, atol=1e-2)


def test_short_floats():
    row, given, matrix = packed("int8")
    x = leaf(3, 64, seed=4).detach().bfloat16().requires_grad_()
    row(x, *given).sum().backward()
    assert x.grad.dtype == taeda.bfloat16
    assert taeda.allclose(x.grad.float(), matrix.sum(0).expand(3, 64).bfloat16().float(), rtol=0.02)
