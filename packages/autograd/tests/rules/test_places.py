"""First and second derivatives of what moves elements: views, joins, indexing, pooling, padding, resampling."""

from __future__ import annotations

import math

import numpy as np
import pytest

import taeda
from taeda._C import _nn
from taeda.autograd import gradcheck, gradgradcheck


def numbers(*shape, seed=0, dtype=taeda.float64):
    """Numbers that are distinct, also between seeds, so that no extremum ties."""
    rng = np.random.default_rng(seed)
    made = taeda.from_numpy(
        rng.permutation(np.linspace(-2, 3, int(np.prod(shape))) + 0.037 * seed).reshape(shape)
    )
    if dtype is taeda.complex128:
        made = taeda.complex(made, made.flip(-1))
    return made.requires_grad_()


def at(*values):
    return taeda.tensor(values)


ROWS = taeda.tensor([[0, 2, 2], [1, 0, 1]])  # duplicates on purpose
APART = taeda.tensor([[0, 2, 1], [1, 0, 2]])  # none within a column
MASK = taeda.tensor([[True, False, True, True], [False] * 4, [True, True, False, False]])

VIEWS = {
    "view": lambda x: x.view(4, 3),
    "reshape of a transpose": lambda x: x.t().reshape(2, 6),
    "expand": lambda x: x.unsqueeze(1).expand(3, 2, 4),
    "broadcast_to": lambda x: x.broadcast_to(2, 3, 4),
    "permute": lambda x: x.permute(1, 0),
    "movedim": lambda x: x.unflatten(1, (2, 2)).movedim((0, 1), (2, 0)),
    "squeeze": lambda x: x.unsqueeze(0).squeeze(0),
    "select": lambda x: x.select(1, -2),
    "slice": lambda x: x[1:, ::3],
    "narrow": lambda x: x.narrow(1, -3, 2),
    "diagonal": lambda x: x.diagonal(1),
    "unfold": lambda x: x.unfold(1, 3, 1),
    "as_strided": lambda x: x.as_strided((3, 3), (2, 1), 1),
    "as_strided of a transpose": lambda x: x.t().as_strided((2, 2), (4, 1)),
    "unbind": lambda x: x.unbind(1)[2],
    "split": lambda x: x.split(3, 1)[1],
    "chunk": lambda x: x.chunk(2)[0],
    "tensor_split, overlapping": lambda x: x.tensor_split((2, 1), 1),
    "tensor_split sections": lambda x: x.tensor_split(3, 1),
    "tensor_split by tensor": lambda x: x.tensor_split(at(1, 3), 1)[1],
    "hsplit": lambda x: x.hsplit(2)[1],
    "vsplit": lambda x: x.vsplit((1,))[1],
    "flip": lambda x: x.flip(0, 1),
    "roll": lambda x: x.roll((1, -1), (0, 1)),
    "roll all": lambda x: x.roll(5),
    "rot90": lambda x: x.rot90(),
    "repeat": lambda x: x.repeat(2, 1, 3),
    "tile": lambda x: x.tile((2,)),
    "repeat_interleave": lambda x: x.repeat_interleave(at(2, 0, 1), 0),
    "clone": lambda x: x.clone(memory_format=taeda.contiguous_format),
    "contiguous": lambda x: x.t().contiguous(),
    "tril": lambda x: x.tril(1),
    "triu": lambda x: x.triu(-1),
    "diag_embed": lambda x: x.diag_embed(1, 0, -1),
    "diag": lambda x: taeda.diag(x, 1),
    "mT": lambda x: x.mT,
    "transpose_": lambda x: (x * 1).transpose_(0, 1) * 2,
    "squeeze_": lambda x: (x.unsqueeze(0) * 1).squeeze_() * 2,
    "fill_ of a part": lambda x: _written(x, lambda y: y[1].fill_(3)),
    "copy_ into a part": lambda x: _written(x, lambda y: y[:, 1:3].copy_(x[:, :2] * x[:, 2:])),
    "zero_": lambda x: _written(x, lambda y: y[0].zero_()),
}
COMPLEX = {
    "real": lambda z: z.real,
    "imag": lambda z: z.imag,
    "conj": lambda z: z.conj() * 2,
    "mH": lambda z: z.mH,
    "resolve_conj": lambda z: z.conj().resolve_conj(),
    "view_as_real": lambda z: taeda.view_as_real(z),
    "view_as_complex": lambda z: taeda.view_as_complex(taeda.view_as_real(z) * 2),
    "complex": lambda z: taeda.complex(z.real, z.imag * 2),
    "polar": lambda z: taeda.polar(z.real, z.imag),
    "index": lambda z: z[at(0, 0, 2)],
    "cat": lambda z: taeda.cat([z, z.real]),
    "view": lambda z: z.view(-1),
}


def _written(x, write):
    y = x * 2
    write(y)
    return y * y


ONE = {
    "index": lambda x: x[at(0, 2, 2), at(1, 1, 3)],
    "index one dimension": lambda x: x[:, at(1, 1, -1)],
    "index by a mask": lambda x: x[MASK],
    "gather": lambda x: x.gather(0, ROWS),
    "gather, expanded index": lambda x: x.gather(0, at(2).expand(2, 4)),
    "scatter a number": lambda x: x.scatter(0, APART, 5),
    "scatter a product": lambda x: x.scatter(0, APART, 5, reduce="multiply"),
    "index_select": lambda x: x.index_select(1, at(3, 3, 0)),
    "index_fill": lambda x: x.index_fill(1, at(0, 0), 5),
    "masked_fill": lambda x: x.masked_fill(MASK, 5),
    "masked_fill, broadcast": lambda x: x[0].masked_fill(MASK, 5),
    "masked_select": lambda x: x.masked_select(MASK),
    "masked_select, broadcast": lambda x: x[0].masked_select(MASK),
    "take": lambda x: x.take(at(0, -1, 0)),
    "take_along_dim": lambda x: x.take_along_dim(at(0, -1).unsqueeze(0), 1),
    "embedding": lambda x: taeda.embedding(x, ROWS),
    "meshgrid": lambda x: taeda.meshgrid(x[0], x[1], indexing="xy"),
    "block_diag": lambda x: taeda.block_diag(x[:2], x[2]),
    "combinations": lambda x: taeda.combinations(x[0]),
}
TWO = {
    "cat": lambda x, y: taeda.cat([x, taeda.ones(0), y], 1),
    "stack": lambda x, y: taeda.stack([x, y, x], -1),
    "index_put": lambda x, y: x.index_put((at(2, 0, 1),), y),
    "index_put, added": lambda x, y: x.index_put((at(0, 0, 1),), y, accumulate=True),
    "assignment": lambda x, y: _assigned(x, y),
    "scatter": lambda x, y: x.scatter(0, APART, y),
    "scatter_add": lambda x, y: x.scatter_add(0, ROWS, y),
    "index_add": lambda x, y: x.index_add(1, at(0, 0, 3, 1), y, alpha=3),
    "index_copy": lambda x, y: x.index_copy(0, at(2, 0, 1), y),
    "index_fill": lambda x, y: x.index_fill(1, at(0, 0), y[0, 0]),
    "fill": lambda x, y: taeda.fill(x, y[0, 0]) * x,
    "masked_fill": lambda x, y: x.masked_fill(MASK, y[0, 0]),
    "masked_scatter": lambda x, y: x.masked_scatter(MASK, y),
    "put": lambda x, y: x.put(at(0, -1, 5), y[0, :3]),
    "put, added": lambda x, y: x.put(at(0, 0, 5), y[0, :3], accumulate=True),
    "select_scatter": lambda x, y: x.select_scatter(y[:, 0], 1, 2),
    "slice_scatter": lambda x, y: x.slice_scatter(y[:, :2], 1, 0, None, 2),
    "diagonal_scatter": lambda x, y: x.diagonal_scatter(y[0, :3]),
    "as_strided_scatter": lambda x, y: x.as_strided_scatter(y[0, :3], (3,), (4,), 1),
}


def _assigned(x, y):
    z = x * 1
    z[at(0, 2)] = y[:2]
    z[:, 1] = y[:, 0]
    z[MASK] = y.sum()
    return z * z


REDUCTIONS = [
    (how, include) for how in ("sum", "prod", "mean", "amax", "amin") for include in (True, False)
]


@pytest.mark.parametrize("name", [*VIEWS, *ONE])
def test_of_one(name):
    x = numbers(3, 4)
    function = {**VIEWS, **ONE}[name]
    assert gradcheck(function, x, check_forward_ad=True)
    assert gradgradcheck(function, x, check_fwd_over_rev=True)


@pytest.mark.parametrize("name", COMPLEX)
def test_of_complex_numbers(name):
    z = numbers(3, 4, dtype=taeda.complex128).detach().requires_grad_()
    assert gradcheck(COMPLEX[name], z, check_forward_ad=True)
    assert gradgradcheck(COMPLEX[name], z, check_fwd_over_rev=True)


@pytest.mark.parametrize("name", TWO)
def test_of_two(name):
    x, y = numbers(3, 4), numbers(3, 4, seed=1)
    assert gradcheck(TWO[name], (x, y), check_forward_ad=True)
    assert gradgradcheck(TWO[name], (x, y), check_fwd_over_rev=True)


@pytest.mark.parametrize(("how", "include"), REDUCTIONS)
def test_of_reductions_at_places(how, include):
    x, y = numbers(3, 3), numbers(2, 3, seed=1)
    assert gradcheck(
        lambda x, y: x.scatter_reduce(0, ROWS, y, how, include_self=include),
        (x, y),
        check_forward_ad=True,
    )
    assert gradgradcheck(
        lambda x, y: x.scatter_reduce(0, ROWS, y, how, include_self=include),
        (x, y),
        check_fwd_over_rev=True,
    )
    if how != "sum":
        assert gradcheck(
            lambda x, y: x.index_reduce(0, at(1, 1), y, how, include_self=include),
            (x, y),
            check_forward_ad=True,
        )


@pytest.mark.parametrize("zeros", [1, 2])
def test_of_products_with_zeros(zeros):
    y = numbers(2, 3, seed=1).detach()
    y[0, 0] = 0
    if zeros == 2:
        y[0, 2] = y[1, 0] = 0
    assert gradcheck(
        lambda x, y: x.scatter_reduce(0, taeda.zeros(2, 3, dtype=taeda.int64), y, "prod"),
        (numbers(3, 3), y.requires_grad_()),
        check_forward_ad=True,
    )


def test_a_larger_source_gets_zeros_where_it_was_not_read():
    x, y = numbers(3, 4), numbers(4, 5, seed=1)
    taeda.zeros(3, 4, dtype=taeda.float64).scatter_add(0, ROWS, y).sum().backward()
    assert y.grad.tolist() == [[1, 1, 1, 0, 0], [1, 1, 1, 0, 0], [0] * 5, [0] * 5]
    assert gradcheck(lambda x, y: x.scatter_add(0, ROWS, y), (x, y), check_forward_ad=True)


def test_ties_share_the_gradient_of_an_extremum():
    x, y = (
        taeda.tensor([2.0, 0.0], requires_grad=True),
        taeda.tensor([2.0, 1.0], requires_grad=True),
    )
    x.scatter_reduce(0, at(0, 0), y, "amax").sum().backward()
    assert x.grad.tolist() == [0.5, 1.0]
    assert y.grad.tolist() == [0.5, 0.0]


@pytest.mark.parametrize("how", ["amax", "amin"])
def test_nans_share_the_gradient_of_an_extremum_that_is_nan(how):
    x = taeda.tensor([0.0, 5.0], dtype=taeda.float64, requires_grad=True)
    y = taeda.tensor([1.0, math.nan, 3.0, math.nan], dtype=taeda.float64, requires_grad=True)
    index = taeda.tensor([0, 0, 1, 0])
    x.scatter_reduce(0, index, y, how, include_self=False).sum().backward()
    assert x.grad.tolist() == [0, 0]
    assert y.grad.tolist() == [0, 0.5, 1, 0.5]
    (grad,) = taeda.autograd.grad(getattr(y, how)(), y)
    assert grad.tolist() == [0, 0.5, 0, 0.5]


def test_self_has_no_share_where_it_takes_no_part():
    x, y = (
        taeda.tensor([2.0, 0.0], requires_grad=True),
        taeda.tensor([2.0, 1.0], requires_grad=True),
    )
    x.scatter_reduce(0, at(0, 0), y, "amax", include_self=False).sum().backward()
    assert x.grad.tolist() == [0.0, 1.0]
    assert y.grad.tolist() == [1.0, 0.0]


@pytest.mark.parametrize(
    ("padding", "by_frequency"), [(-1, False), (1, False), (-1, True), (2, True)]
)
def test_of_the_gradient_of_embedding(padding, by_frequency):
    g = numbers(2, 3, 2)
    assert gradcheck(
        lambda g: taeda.embedding_dense_backward(g, ROWS, 3, padding, by_frequency),
        g,
        check_forward_ad=True,
    )


def test_contiguous_of_a_contiguous_tensor_has_no_node_of_its_own():
    x = taeda.ones(2, requires_grad=True)
    assert x.contiguous() is x
    assert x.is_leaf
    y = x * 2
    before = y.grad_fn
    assert y.contiguous() is y
    assert y.grad_fn is before


# ---- images ----

IMAGES = {
    "max_pool1d": ((2, 7), lambda x: taeda.max_pool1d(x, 3, 2, 1)),
    "max_pool2d": ((1, 5, 6), lambda x: taeda.max_pool2d(x, (2, 3), 1, (1, 0))),
    "max_pool2d, halves": ((1, 2, 5, 6), lambda x: taeda.max_pool2d(x, 2)),
    "max_pool3d": ((1, 3, 4, 4), lambda x: taeda.max_pool3d(x, 2, 2, 1, 1, True)),
    "max_pool2d with places": ((1, 5, 6), lambda x: _nn.max_pool2d_with_indices(x, 2)[0]),
    "avg_pool1d": ((2, 7), lambda x: taeda.avg_pool1d(x, 3, 2, 1, True, False)),
    "avg_pool2d": ((1, 5, 6), lambda x: _nn.avg_pool2d(x, (2, 3), 1, (1, 0), True, False, 5)),
    "avg_pool3d": ((1, 3, 4, 4), lambda x: _nn.avg_pool3d(x, 2, 1, 1)),
    "adaptive_avg_pool1d": ((2, 7), lambda x: taeda.adaptive_avg_pool1d(x, 3)),
    "adaptive_avg_pool2d": ((1, 5, 6), lambda x: _nn.adaptive_avg_pool2d(x, (3, 4))),
    "adaptive_max_pool2d": ((1, 5, 6), lambda x: _nn.adaptive_max_pool2d(x, (3, 4))[0]),
    "constant_pad_nd": ((2, 3, 4), lambda x: taeda.constant_pad_nd(x, (1, -1, 2, 0), 3)),
    "reflection_pad2d": ((1, 3, 4), lambda x: _nn.reflection_pad2d(x, (1, 2, 2, 0))),
    "replication_pad1d": ((2, 4), lambda x: _nn.replication_pad1d(x, (2, 1))),
    "circular pad": ((2, 4), lambda x: _nn.pad(x, (2, 1), "circular")),
    "linear1d": ((1, 2, 5), lambda x: _nn.upsample_linear1d(x, (7,), False)),
    "bilinear2d": ((1, 1, 3, 4), lambda x: _nn.upsample_bilinear2d(x, (5, 3), True)),
    "trilinear3d": ((1, 1, 2, 3, 2), lambda x: _nn.upsample_trilinear3d(x, (3, 2, 4), False)),
    "bicubic2d": ((1, 1, 4, 4), lambda x: _nn.upsample_bicubic2d(x, (6, 3), False, 1.5, 0.75)),
    "bilinear2d, antialiased": (
        (1, 1, 6, 5),
        lambda x: _nn._upsample_bilinear2d_aa(x, (3, 4), False),
    ),
    "nearest2d": ((1, 1, 3, 4), lambda x: _nn.upsample_nearest2d(x, (5, 8))),
    "nearest_exact3d": ((1, 1, 2, 3, 2), lambda x: _nn._upsample_nearest_exact3d(x, (3, 2, 4))),
    "im2col": ((1, 4, 5), lambda x: _nn.im2col(x, (2, 3), (1, 1), (1, 0), (2, 1))),
    "col2im": ((4, 9), lambda x: _nn.col2im(x, (4, 4), 2, 1, 0, 1)),
    "pixel_shuffle": ((4, 2, 3), lambda x: taeda.pixel_shuffle(x, 2)),
}


@pytest.mark.parametrize("name", IMAGES)
def test_of_images(name):
    shape, function = IMAGES[name]
    x = numbers(*shape)
    assert gradcheck(function, x, check_forward_ad=True)
    assert gradgradcheck(function, x, check_fwd_over_rev=True)
