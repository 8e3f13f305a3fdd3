"""Dimensions by their names, and names for new tensors."""

from __future__ import annotations

import pytest

import taeda

X = taeda.arange(24.0).reshape(2, 3, 4)

BY_NAME = {
    "sum": (lambda x, d: x.sum(d), 1),
    "sum of several": (lambda x, d: x.sum([d]), 1),
    "sum by keyword": (lambda x, d: taeda.sum(x, dim=d), 1),
    "axis": (lambda x, d: x.mean(axis=d), 1),
    "softmax": (lambda x, d: x.softmax(d), 1),
    "log_softmax": (lambda x, d: taeda.log_softmax(x, d), 1),
    "max": (lambda x, d: x.max(d).values, 1),
    "median": (lambda x, d: taeda.median(x, d).indices, 1),
    "kthvalue": (lambda x, d: x.kthvalue(2, d).values, 1),
    "mode": (lambda x, d: x.mode(d).values, 1),
    "std": (lambda x, d: x.std(d), 1),
    "var": (lambda x, d: x.var(d, keepdim=True), 1),
    "logsumexp": (lambda x, d: x.logsumexp(d), 1),
    "prod": (lambda x, d: x.prod(d), 1),
    "cumsum": (lambda x, d: x.cumsum(d), 1),
    "cumprod": (lambda x, d: x.cumprod(d), 1),
    "any": (lambda x, d: x.any(d), 1),
    "select": (lambda x, d: x.select(d, 1), 1),
    "narrow": (lambda x, d: x.narrow(d, 1, 2), 1),
    "unbind": (lambda x, d: x.unbind(d)[0], 1),
    "chunk": (lambda x, d: x.chunk(3, d)[2], 1),
    "split": (lambda x, d: x.split(2, d)[0], 1),
    "squeeze": (lambda x, d: x[:, :1].squeeze(d), 1),
    "index_fill": (lambda x, d: x.index_fill(d, taeda.tensor([0]), 9.0), 1),
    "topk": (lambda x, d: x.topk(2, d).values, 1),
    "cat": (lambda x, d: taeda.cat([x, x], d), 1),
    "norm": (lambda x, d: x.norm(2, d), 1),
    "transpose": (lambda x, d: x.transpose(d, 0), 1),
    "size": (lambda x, d: taeda.tensor(x.size(d)), 1),
    "stride": (lambda x, d: taeda.tensor(x.stride(d)), 1),
}


@pytest.mark.parametrize("case", BY_NAME)
def test_a_name_stands_for_a_dimension(case):
    call, dim = BY_NAME[case]
    x = X.rename("N", "C", "L")
    made = call(x, "C")
    assert made.rename(None).tolist() == call(X, dim).tolist()
    assert made.names == call(x, dim).names


@pytest.mark.parametrize("name", ["zeros", "ones", "empty", "rand", "randn"])
def test_factories_take_names(name):
    function = getattr(taeda, name)
    assert function(2, 3, names=("N", "C")).names == ("N", "C")
    assert function((2, 3), names=["N", None], dtype=taeda.float64).names == ("N", None)
    assert function(2, names=None).names == (None,)
    assert function(2, names=("N",), requires_grad=True).requires_grad
    with pytest.raises(RuntimeError, match="1 names"):
        function(2, 3, names=("N",))


def test_other_factories():
    assert taeda.full((2,), 3.0, names=("N",)).names == ("N",)
    assert taeda.tensor([[1, 2]], names=("N", "C")).names == ("N", "C")
    with pytest.raises(TypeError, match="names"):
        taeda.arange(3, names=("N",))


def test_what_is_no_name_keeps_its_error():
    with pytest.raises(RuntimeError, match="'Z' not found"):
        X.rename("N", "C", "L").sum("Z")
    with pytest.raises(TypeError, match="sum"):
        X.sum("Z")
    with pytest.raises(TypeError, match="div"):
        X.div("floor")
    with pytest.raises(TypeError, match="sum"):
        X.sum(dim=1.5)
    with pytest.raises(TypeError, match="add"):
        X.add("C")
