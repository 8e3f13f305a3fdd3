"""What forward mode does after an operation: results that get tangents, and those that do not."""

from __future__ import annotations

import subprocess
import sys

import pytest
from duals import DTYPE, same, tangent

import taeda
from taeda.autograd.forward_ad import make_dual


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


FIRST = {
    "a level": "from taeda.autograd import forward_ad as f\nwith f.dual_level(): assert "
    "f.unpack_dual(f.make_dual(x, x).exp()).tangent is not None",
    "jvp": "from taeda.func import jvp\nassert jvp(taeda.exp, (x,), (x,))[1].shape == (2,)",
    "jacfwd": "from taeda.func import jacfwd\nassert jacfwd(taeda.exp)(x).shape == (2, 2)",
    "grad": "from taeda.func import grad\nassert grad(lambda x: x.exp().sum())(x).shape == (2,)",
    "vmap": "from taeda.func import vmap\nassert vmap(taeda.exp)(x).shape == (2,)",
}


@pytest.mark.parametrize("name", FIRST)
def test_nothing_needs_to_require_a_gradient_before(name):
    code = f"import taeda\nx = taeda.ones(2)\n{FIRST[name]}"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
