"""Dual tensors: levels, views, writes in place, together with backward, and what is refused.

Values of forward mode are compared for every rule in `rules/`, where gradcheck and gradgradcheck take both modes.
"""

from __future__ import annotations

import copy
import gc
import threading
import weakref

import pytest

import taeda
import taeda.autograd.forward_ad as forward_ad
from taeda.autograd import grad
from taeda.autograd.forward_ad import dual_level, make_dual, unpack_dual

DTYPE = taeda.float64


def values(*numbers: float) -> taeda.Tensor:
    return taeda.tensor(numbers, dtype=DTYPE)


@pytest.fixture
def x():
    return values(1, 2, 3)


@pytest.fixture
def t():
    return values(1, 10, 100)


@pytest.fixture
def level():
    with dual_level() as number:
        yield number


def tangent(of):
    return unpack_dual(of).tangent


def same(found, *numbers):
    assert found is not None
    assert taeda.equal(found.detach(), values(*numbers))


# ---- levels ----


def test_a_derivative_along_a_direction(x, t):
    with dual_level() as level:
        assert level == 0
        value, slope = unpack_dual(make_dual(x, t) ** 2)
    same(value, 1, 4, 9)
    same(slope, 2, 40, 600)


def test_tangents_end_with_their_level(x, t):
    with dual_level():
        dual = make_dual(x, t)
        product = dual * 2
    assert tangent(dual) is None and tangent(product) is None
    with dual_level():
        assert tangent(dual) is None
        assert tangent(dual * 2) is None


def test_a_closed_level_keeps_no_tangent_alive(x):
    with dual_level():
        direction = values(1, 1, 1)
        alive = weakref.ref(direction)
        dual = make_dual(x, direction)
        del direction
        gc.collect()
        assert alive() is not None
    gc.collect()
    assert alive() is None and dual is not None


def test_a_dead_tensor_keeps_no_tangent_alive(x, level):
    direction = values(1, 1, 1)
    alive = weakref.ref(direction)
    make_dual(x, direction)
    del direction
    gc.collect()
    assert alive() is None


def test_what_a_graph_keeps_from_a_level_has_no_tangent_in_the_next(x, t):
    leaf = x.requires_grad_()
    with dual_level():
        made = make_dual(leaf, t).exp()
    with dual_level():
        (slope,) = grad(made.sum(), leaf)
        assert tangent(slope) is None


def test_levels_do_not_nest(level):
    with pytest.raises(
        RuntimeError, match=r"Nested forward mode AD is not supported.*Leave it first"
    ):
        forward_ad.enter_dual_level()


def test_leaving_needs_the_open_level():
    with pytest.raises(RuntimeError, match="no dual level is open"):
        forward_ad.exit_dual_level()
    number = forward_ad.enter_dual_level()
    with pytest.raises(RuntimeError, match="exit forward AD level 3"):
        forward_ad.exit_dual_level(level=3)
    forward_ad.exit_dual_level(level=number)


def test_a_level_serves_every_thread(x, t, level):
    dual, found = make_dual(x, t), []
    thread = threading.Thread(target=lambda: found.append(tangent(dual * 2)))
    thread.start()
    thread.join()
    same(found[0], 2, 20, 200)


def test_dual_level_decorates(x, t):
    @dual_level()
    def slope():
        return tangent(make_dual(x, t).sin())

    assert taeda.allclose(slope(), t * x.cos())


# ---- making and taking apart ----


def test_no_dual_without_a_level(x, t):
    with pytest.raises(RuntimeError, match="no level exists, make sure to enter_dual_level"):
        make_dual(x, t)
    assert unpack_dual(x) == (x, None)


def test_the_tangent_is_the_very_tensor(x, t, level):
    dual = make_dual(x, t)
    value, slope = unpack_dual(dual)
    assert slope is t
    assert value.data_ptr() == dual.data_ptr() == x.data_ptr()
    assert tangent(value) is None and tangent(x) is None


def test_a_tangent_is_laid_out_as_its_tensor(level):
    x = taeda.ones(2, 3).t()
    direction = taeda.rand(3, 2)
    slope = tangent(make_dual(x, direction))
    assert slope.stride() == x.stride() and taeda.equal(slope, direction)


def test_unpacked_names(x, t, level):
    made = unpack_dual(make_dual(x, t))
    assert isinstance(made, forward_ad.UnpackedDualTensor)
    assert made._fields == ("primal", "tangent")


@pytest.mark.parametrize(
    ("primal", "direction", "error", "text"),
    [
        (taeda.ones(3), taeda.ones(2), RuntimeError, r"of size \[3\] while .* of size \[2\]"),
        (taeda.ones(3), taeda.ones(1), RuntimeError, "different size"),
        (taeda.ones(3), taeda.ones(3, device="meta"), RuntimeError, "on cpu, its tangent on meta"),
        (taeda.ones(3, dtype=taeda.int64), taeda.ones(3), ValueError, "primal to be floating point or complex.*int64"),
        (taeda.ones(3), taeda.ones(3, dtype=taeda.bool), ValueError, "tangent to be floating point or complex.*bool"),
        (taeda.ones(3), 1.0, TypeError, "tangent to be a Tensor, but got: float"),
        ([1.0], taeda.ones(1), TypeError, "primal to be a Tensor, but got: list"),
    ],
)  # fmt: skip
def test_what_makes_no_dual(primal, direction, error, text, level):
    with pytest.raises(error, match=text):
        make_dual(primal, direction)


def test_no_dual_of_a_dual(x, t, level):
    dual = make_dual(x, t)
    with pytest.raises(RuntimeError, match="already has a forward gradient"):
        make_dual(dual, t)
    with pytest.raises(RuntimeError, match="itself has a forward gradient"):
        make_dual(x, dual)
    with pytest.raises(RuntimeError, match="Invalid level given to make_dual: 1"):
        make_dual(x, t, level=1)


def test_a_dual_prints_its_tangent(x, t, level):
    assert "tangent=tensor([  1.,  10., 100.]" in repr(make_dual(x, t))


# ---- who passes tangents on ----


def test_detach_and_data_drop_the_tangent(x, t, level):
    dual = make_dual(x, t) * 1
    assert tangent(dual.detach()) is None
    assert tangent(dual.data) is None
    assert tangent(copy.deepcopy(dual)) is None


def test_steps_and_factories_have_none(x, t, level):
    dual = make_dual(x, t)
    assert tangent(dual > 1) is None
    assert tangent(taeda.ones_like(dual)) is None
    assert tangent(dual.argmax()) is None


def test_no_grad_does_not_apply(x, t, level):
    with taeda.no_grad():
        same(tangent(make_dual(x, t) * 2), 2, 20, 200)


def test_inference_mode_does(x, t, level):
    dual = make_dual(x, t)
    with taeda.inference_mode():
        assert tangent(dual * 2) is None


def test_a_number_without_dimensions_counts(level):
    scale = make_dual(taeda.tensor(2.0, dtype=DTYPE), taeda.tensor(3.0, dtype=DTYPE))
    filled = taeda.zeros(2, dtype=DTYPE).index_fill(0, taeda.tensor([1]), scale)
    same(tangent(filled), 0, 3)
    same(tangent(values(1, 2) * scale), 3, 6)


def test_promotion_carries_the_tangent(t, level):
    dual = make_dual(taeda.ones(3), taeda.ones(3))
    made = dual * t
    assert tangent(made).dtype is DTYPE
    same(tangent(made), 1, 10, 100)


def test_results_do_not_share_the_tangent_of_their_arguments(x, t, level):
    dual = make_dual(x, t)
    for made in (
        dual + 1,
        dual.contiguous() + 0,
        taeda.cat([dual]),
        dual.clone(),
        dual.expand(3).clone(),
    ):
        made.mul_(5)
        same(t, 1, 10, 100)


def test_subclasses_carry_tangents(x, t, level):
    class Mine(taeda.Tensor):
        pass

    dual = make_dual(x.as_subclass(Mine), t)
    made = dual * 2
    assert type(made) is Mine
    same(taeda.Tensor.as_subclass(tangent(made), taeda.Tensor), 2, 20, 200)


def test_values_computed_without_vectors_still_have_derivatives(level):
    a = taeda.tensor([[2.0, 1.0], [1.0, 3.0]], dtype=DTYPE)
    direction = taeda.eye(2, dtype=DTYPE)
    slope = tangent(taeda.linalg.eigvalsh(make_dual(a, direction)))
    assert taeda.allclose(slope, taeda.ones(2, dtype=DTYPE))


def test_empty_tensors(level):
    dual = make_dual(taeda.ones(0, 3), taeda.ones(0, 3))
    assert tangent(dual * 2).shape == (0, 3)
    assert tangent(dual.sum(0)).tolist() == [0, 0, 0]


# ---- refusals ----


def test_out_is_refused(x, t, level):
    dual, out = make_dual(x, t), taeda.empty(3, dtype=DTYPE)
    with pytest.raises(
        NotImplementedError,
        match=r"add\.Tensor that does not support it because it writes into out=",
    ):
        taeda.add(dual, 1, out=out)
    with pytest.raises(NotImplementedError, match="writes into out="):
        taeda.add(x, 1, out=dual)


def test_operators_of_libraries_are_refused(x, t, level):
    @taeda.library.custom_op("forward_ad_tests::twice", mutates_args=())
    def twice(value: taeda.Tensor) -> taeda.Tensor:
        return value * 2

    with pytest.raises(NotImplementedError, match=r"forward_ad_tests::twice.* does not support it"):
        twice(make_dual(x, t))


# ---- views and writes in place ----


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
    lambda y: y.zero_(), lambda y: y.fill_(3), lambda y: y.normal_(), lambda y: y.copy_(taeda.ones(3)), lambda y: y.logical_not_(),
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


# ---- with backward ----


def test_forward_over_reverse(x, t, level):
    dual = make_dual(x.requires_grad_(), t)
    for function, bend in (
        (lambda v: v**3, 6 * x),
        (taeda.exp, x.exp()),
        (lambda v: (v * v).view(3, 1)[:, 0] * v, 6 * x),
    ):
        (slope,) = grad(function(dual).sum(), dual)
        assert taeda.allclose(tangent(slope), (bend * t).detach())


def test_forward_over_reverse_keeps_what_was_overwritten(x, t, level):
    dual = make_dual(x.requires_grad_(), t) * 1
    made = dual.clone()
    made.mul_(dual)
    (slope,) = grad(made.sum(), dual)
    same(tangent(slope), 2, 20, 200)


def test_a_saved_tangent_that_was_written_is_noticed(x, t, level):
    dual = make_dual(x.requires_grad_(), t)
    made = dual.exp() * dual
    t.mul_(2)
    with pytest.raises(RuntimeError, match=r"tangent of an input of mul.*modified by an inplace"):
        grad(made.sum(), dual)


def test_tangents_are_kept_for_hooks_as_they_were(x, t, level):
    dual = make_dual(x.requires_grad_(), t) * 1
    with taeda.autograd.graph.allow_mutation_on_saved_tensors():
        made = (dual**3).sum()
        dual.zero_()
        (slope,) = grad(made, x, create_graph=True)
        same(tangent(slope), 6, 120, 1800)


def test_reverse_over_forward(x, t, level):
    x.requires_grad_(), t.requires_grad_()
    slope = tangent((make_dual(x, t) ** 3).sum())
    by_x, by_t = grad(slope, (x, t))
    assert taeda.allclose(by_x, (6 * x * t).detach())
    assert taeda.allclose(by_t, (3 * x**2).detach())


@pytest.mark.parametrize(
    "name", ["softmax", "prod", "cumprod", "var", "solve", "layer_norm", "in place"]
)
def test_both_orders_agree_with_backward_twice(name, level):
    def in_place(v):
        y = v * 2
        y[1:].mul_(v[:3].clone())
        return y.sin()

    function = {
        "softmax": lambda v: v.softmax(0), "prod": lambda v: v.prod(), "cumprod": lambda v: v.cumprod(0), "var": lambda v: v.var(),
        "solve": lambda v: taeda.linalg.solve(v.view(2, 2), v[:2]), "in place": in_place,
        "layer_norm": lambda v: taeda.layer_norm(v, (4,), v, v),
    }[name]  # fmt: skip
    x, t = values(0.3, 1.2, -0.7, 2.1).requires_grad_(), values(1, -1, 2, 0.5)
    weight = taeda.linspace(1, 2, function(x).numel(), dtype=DTYPE).view(function(x).shape)
    (first,) = grad((function(x) * weight).sum(), x, create_graph=True)
    (expected,) = grad(first @ t, x)
    (slope,) = grad((function(dual := make_dual(x, t)) * weight).sum(), dual)
    assert taeda.allclose(tangent(slope), expected)
    (found,) = grad((tangent(function(make_dual(x, t))) * weight).sum(), x)
    assert taeda.allclose(found, expected)


def test_a_leaf_as_tangent_is_not_written(x, t, level):
    dual = make_dual(x.clone(), t.requires_grad_())
    dual.mul_(3)
    same(tangent(dual), 3, 30, 300)
    same(t, 1, 10, 100)
    (by_t,) = grad(tangent(dual).sum(), t)
    same(by_t, 3, 3, 3)
