"""Gradients through masked tensors."""

from __future__ import annotations

import pytest
from masks import MASK, REDUCTIONS, UNARY, X, same_masked

import taeda
from taeda.masked import as_masked_tensor, masked_tensor

#: functions that have no gradient, and one whose gradient of a masked result is of no use here
FLAT = {"isnan", "signbit", "eq", "ne", "le", "ge", "gt", "lt"}


@pytest.mark.filterwarnings("ignore:Anomaly Detection")
@pytest.mark.parametrize("name", [*UNARY, *REDUCTIONS, "softmax", "log_softmax", "logsumexp"])
def test_gradients_under_anomaly_mode(name):
    """Those of what counts alone, whatever stands elsewhere: 0, infinity, NaN."""
    function = getattr(taeda, name)
    x = X.abs() / 7 + (1 if "acosh" in name or name == "arccosh" else 0.01)
    more = {"dim": 1} if name in {*REDUCTIONS, "softmax", "log_softmax", "logsumexp"} else {}
    for elsewhere in (0.0, float("inf"), float("nan")):
        bad = x.masked_fill(~MASK, elsewhere).requires_grad_()
        with taeda.autograd.detect_anomaly():
            made = function(as_masked_tensor(bad, MASK), **more)
            if not made.requires_grad:
                assert name in FLAT | {"argmax", "argmin", "floor", "ceil", "trunc"}
                return
            made.sum().backward()
        assert not bad.grad[~MASK].any()
        good = x.clone().requires_grad_()
        if more:
            rows = [function(good[i][MASK[i]], dim=0).sum() for i in range(2)]
            taeda.stack(rows).sum().backward()
        else:
            function(good)[MASK].sum().backward()
        assert taeda.allclose(bad.grad, good.grad.masked_fill(~MASK, 0))


def test_leaves_have_masked_gradients():
    x = masked_tensor(X, MASK, requires_grad=True)
    (x * x).sum().backward()
    same_masked(x.grad, 2 * X, MASK)
    (x * 3).sum().backward()
    same_masked(x.grad, 2 * X + 3, MASK)
    assert x.is_leaf and not as_masked_tensor(X.clone().requires_grad_(), MASK).is_leaf
    x.to_tensor(0).sum().backward()
    assert x.get_data().requires_grad
    same_masked(taeda.func.grad(lambda x: (x * x).sum())(x), 2 * X, MASK)


@pytest.mark.parametrize("write", ["zero_", "neg_", "sigmoid_"])
def test_no_write_into_data_of_the_graph_goes_unseen(write):
    x = taeda.ones(3, requires_grad=True)
    y = as_masked_tensor(x * 2, taeda.tensor([True, False, True]))
    with pytest.raises(RuntimeError, match=r"in-place|inplace"):
        getattr(y.get_data(), write)()
    assert y.get_data().tolist() == [2.0] * 3


def test_names_do_not_get_lost_inside():
    x = taeda.ones(3, names=("N",))
    for make in (masked_tensor, as_masked_tensor):
        with pytest.raises(RuntimeError, match="names"):
            make(x, taeda.tensor([True, False, True]))


@pytest.mark.parametrize("call", [taeda.add, taeda.mul, lambda x, y: x.clone().add_(y)])
def test_names_are_refused_beside_masked_tensors(call):
    plain = taeda.ones(2, 3)
    named = plain.refine_names("N", "C")
    for other in (
        masked_tensor(plain, plain > 0),
        as_masked_tensor(plain, plain > 2),
    ):
        for pair in ((named, other), (other, named)):
            with pytest.raises(RuntimeError, match="names"):
                call(*pair)
