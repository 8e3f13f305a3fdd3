"""Where tangents lie: as their tensors do, so that views and writes find them."""

from __future__ import annotations

import pytest
from duals import DTYPE, same, tangent, values

import taeda
from taeda.autograd import grad
from taeda.autograd.forward_ad import make_dual


def test_a_tangent_is_laid_out_as_its_tensor(level):
    x = taeda.ones(2, 3).t()
    direction = taeda.rand(3, 2)
    slope = tangent(make_dual(x, direction))
    assert slope.stride() == x.stride() and taeda.equal(slope, direction)


def test_views_of_a_dual_see_its_tangent(x, t, level):
    dual = make_dual(x, t)
    same(tangent(dual[1:]), 10, 100)
    assert tangent(dual[1:]).data_ptr() == t[1:].data_ptr()
    same(tangent(dual.view(3, 1)[:, 0]), 1, 10, 100)
    assert tangent(dual.unbind()[2]).item() == 100


def test_a_write_in_place_writes_the_tangent(x, t, level):
    dual = make_dual(x, t)
    tail = dual[1:]
    dual.mul_(dual.clone())
    same(tangent(dual), 2, 40, 600)
    same(tangent(tail), 40, 600)
    assert tangent(dual) is t


def test_a_write_through_a_view(x, t, level):
    dual = make_dual(x, t)
    dual[1:].mul_(3)
    same(tangent(dual), 1, 30, 300)
    dual[0] = 7.0
    same(tangent(dual), 0, 30, 300)
    dual[0] = dual[1] * 2
    same(tangent(dual), 60, 30, 300)


def test_a_plain_tensor_becomes_dual_by_a_write(x, t, level):
    whole = taeda.zeros(3, dtype=DTYPE)
    head, tail = whole[:2], whole[2:]
    head[1] = make_dual(x, t)[2]
    same(tangent(whole), 0, 100, 0)
    same(tangent(head), 0, 100)
    same(tangent(tail), 0)


def test_views_made_before_see_the_parts_of_the_base(level):
    base = taeda.zeros(2, 2, dtype=taeda.complex128)
    real, pairs, turned = base.real, taeda.view_as_real(base), base.t().conj()
    direction = taeda.tensor([[1 + 1j, 2], [3j, 4 - 2j]], dtype=taeda.complex128)
    base.copy_(make_dual(taeda.ones(2, 2, dtype=taeda.complex128), direction))
    assert taeda.equal(tangent(real), direction.real)
    assert taeda.equal(tangent(pairs), taeda.view_as_real(direction))
    assert taeda.equal(tangent(turned), direction.t().conj())


def test_complex_views_of_a_real_base(level):
    base = taeda.zeros(3, 2, dtype=DTYPE)
    numbers = taeda.view_as_complex(base)[1:]
    direction = taeda.arange(6, dtype=DTYPE).reshape(3, 2)
    base.copy_(make_dual(taeda.ones(3, 2, dtype=DTYPE), direction))
    assert tangent(numbers).tolist() == [2 + 3j, 4 + 5j]


@pytest.mark.parametrize("write", [
    lambda y: y.zero_(), lambda y: y.fill_(3), lambda y: y.normal_(),
    lambda y: y.copy_(taeda.ones(3)), lambda y: y.logical_not_(),
], ids=["zero_", "fill_", "normal_", "copy_", "logical_not_"])  # fmt: skip
def test_what_forgets_the_value_forgets_the_tangent(write, x, t, level):
    dual = make_dual(x, t)
    write(dual)
    same(tangent(dual), 0, 0, 0)


def test_in_place_views(x, t, level):
    dual = make_dual(x, t).view(1, 3).clone()
    assert tangent(dual.squeeze_(0)).shape == (3,)
    assert tangent(dual.unsqueeze_(1)).shape == (3, 1)
    same(tangent(dual.transpose_(0, 1)).reshape(3), 1, 10, 100)


def test_as_strided_of_a_tangent_elsewhere(t, level):
    memory = taeda.arange(10, dtype=DTYPE)
    dual = make_dual(memory[4:7], t)
    same(tangent(dual.as_strided((2,), (2,), 4)), 1, 100)


def test_expanded_tangents_are_not_written(x, level):
    dual = make_dual(taeda.ones(1, dtype=DTYPE), taeda.ones(1, dtype=DTYPE)).expand(3)
    same(tangent(dual + x), 1, 1, 1)
    made = dual.sum() + x
    made[0] = 5
    same(tangent(made), 0, 3, 3)


def test_set_items_by_mask_and_index(x, t, level):
    whole = taeda.zeros(3, dtype=DTYPE)
    whole[x > 1] = make_dual(x, t)[1:]
    same(tangent(whole), 0, 10, 100)
    whole[taeda.tensor([0, 0])] = make_dual(values(5, 5), values(7, 7))
    same(tangent(whole), 7, 10, 100)


def test_a_leaf_as_tangent_is_not_written(x, t, level):
    dual = make_dual(x.clone(), t.requires_grad_())
    dual.mul_(3)
    same(tangent(dual), 3, 30, 300)
    same(t, 1, 10, 100)
    (by_t,) = grad(tangent(dual).sum(), t)
    same(by_t, 3, 3, 3)
