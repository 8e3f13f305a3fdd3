"""Dual tensors: levels, views, writes in place, together with backward, and what is refused.

Values of forward mode are compared for every rule in `rules/`, where gradcheck and gradgradcheck
take both modes.
"""

from __future__ import annotations

import copy
import gc
import threading
import weakref

import pytest
from duals import DTYPE, same, tangent, values

import taeda
import taeda.autograd.forward_ad as forward_ad
from taeda._library.low_level import scoped_library
from taeda.autograd import grad
from taeda.autograd.forward_ad import dual_level, make_dual, unpack_dual

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
        (taeda.ones(3, dtype=taeda.int64), taeda.ones(3), ValueError,
            "primal to be floating point or complex.*int64"),
        (taeda.ones(3), taeda.ones(3, dtype=taeda.bool), ValueError,
            "tangent to be floating point or complex.*bool"),
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


# ---- refusals ----


# ---- views and writes in place ----


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
        "softmax": lambda v: v.softmax(0), "prod": lambda v: v.prod(),
        "cumprod": lambda v: v.cumprod(0), "var": lambda v: v.var(),
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


def test_a_dual_tensor_has_no_tangent_where_forward_mode_is_off():
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(taeda.ones(2), taeda.ones(2))
        with forward_ad._set_fwd_grad_enabled(False):
            assert forward_ad.unpack_dual(dual).tangent is None
        assert forward_ad.unpack_dual(dual).tangent.tolist() == [1.0, 1.0]


def test_an_operator_that_a_library_overrode_has_tangents_again():
    """What stays of an override must not make a built-in operator one of the user's."""
    with scoped_library("aten", "IMPL") as lib:
        lib.impl("sinh", lambda x: x.exp(), "CPU")
        assert taeda.sinh(taeda.zeros(1)) == 1
    with dual_level():
        y = make_dual(taeda.zeros(2), taeda.ones(2)).sinh()
        assert unpack_dual(y).tangent.tolist() == [1.0, 1.0]
    with pytest.raises(TypeError):
        taeda.ones(2).sum(0, keepdim=1)


FUNCTIONS = {
    "sum": lambda x: x.sum(),
    "mean": lambda x: x.mean(0),
    "cumsum": lambda x: x.cumsum(0),
    "flip": lambda x: x.flip(0),
    "t": lambda x: x.t(),
    "clone": lambda x: x.clone(),
    "detach": lambda x: x * x.detach(),
    "view": lambda x: x.view(1, 2),
    "select": lambda x: x[0],
    "exp": lambda x: x.exp(),
    "max": lambda x: x.max(),
    "matmul": lambda x: x @ x,
    "cat": lambda x: taeda.cat([x, x]),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_duals_of_samples_are_those_of_one_after_the_other(name):
    function = FUNCTIONS[name]
    x, many = taeda.tensor([0.5, 2.0]), taeda.tensor([[1.0, 0.5], [0.0, 3.0], [2.0, 1.0]])

    def along(value, slope):
        with dual_level():
            found = unpack_dual(function(make_dual(value, slope)))
            assert found.primal.shape == found.tangent.shape
            return found.tangent

    for value, slope, places in ((x, many, (None, 0)), (many, x, (0, None)), (many, many, (0, 0))):
        found = taeda.vmap(along, places)(value, slope)
        pairs = [(v, s) for v, s in zip(value.expand(3, 2), slope.expand(3, 2), strict=True)]
        expected = taeda.stack([along(*pair) for pair in pairs])
        assert found.device == expected.device and taeda.allclose(found, expected), places
