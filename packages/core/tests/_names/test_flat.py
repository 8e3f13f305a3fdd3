"""flatten and unflatten by names."""

from __future__ import annotations

import pytest

import taeda


def images():
    return taeda.arange(120.0).reshape(2, 3, 4, 5).rename("N", "C", "H", "W")


@pytest.mark.parametrize(
    "call",
    [
        lambda x: x.flatten(["C", "H", "W"], "features"),
        lambda x: x.flatten(dims=["C", "H", "W"], out_dim="features"),
        lambda x: x.flatten("C", "W", "features"),
        lambda x: taeda.flatten(x, 1, 3, "features"),
        lambda x: x.flatten(1, -1, out_dim="features"),
    ],
)
def test_flatten_and_back(call):
    made = call(images())
    assert made.names == ("N", "features")
    assert made.rename(None).tolist() == images().rename(None).flatten(1).tolist()
    for back in (
        made.unflatten("features", [("C", 3), ("H", 4), ("W", 5)]),
        made.unflatten("features", (3, 4, 5), names=("C", "H", "W")),
        made.unflatten(1, (("C", 3), ("H", 4), ("W", -1))),
    ):
        assert back.names == ("N", "C", "H", "W")
        assert back.rename(None).tolist() == images().rename(None).tolist()


def test_gradients_pass():
    x = taeda.ones(2, 3, names=("N", "C"), requires_grad=True)
    x.flatten(["N", "C"], "all").unflatten("all", [("C", 3), ("N", 2)]).sum().backward()
    assert x.grad.tolist() == [[1.0] * 3] * 2


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda x: x.flatten(["C", "W"], "F"), RuntimeError),
        (lambda x: x.flatten(["H", "C"], "F"), RuntimeError),
        (lambda x: x.flatten(["C", "H"], "N"), RuntimeError),
        (lambda x: x.flatten(["C", "Z"], "F"), RuntimeError),
        (lambda x: x.flatten([], "F"), RuntimeError),
        (lambda x: x.flatten("C", "H"), TypeError),
        (lambda x: x.flatten(["C", "H"]), TypeError),
        (lambda x: x.flatten(1), RuntimeError),
        (lambda x: x.unflatten("C", [("A", 2), ("B", 2)]), RuntimeError),
        (lambda x: x.unflatten("C", [("N", 3)]), RuntimeError),
        (lambda x: x.unflatten("C", ["A", "B"]), TypeError),
        (lambda x: x.unflatten("Z", [("A", 3)]), RuntimeError),
    ],
)
def test_refusals(call, error):
    with pytest.raises(error):
        call(images())
