"""Functions of the library that have a graph without values, with any sizes of their arguments.

A check of values that a kernel does as well is the kernel's; sizes are asked in ways that leave
them symbols.
"""

from __future__ import annotations

import warnings

import pytest

import taeda
import taeda.nn.functional as F
from taeda import nn
from taeda.fx.experimental.proxy_tensor import make_fx


def normal(*shape):
    return taeda.randn(*shape, generator=taeda.Generator().manual_seed(3))


def pooled(n, size):
    return F.max_pool2d(normal(n, 2, size, size), 2, return_indices=True)


def masked(x):
    y = x.clone()
    y[x > 0] = 0.0
    return y


# Each: a function, and its arguments by one number.
WITHOUT_VALUES = {
    "one_hot": (lambda x: F.one_hot(x, 90), lambda n: (taeda.arange(n),)),
    "cov": (taeda.cov, lambda n: (normal(n, n + 1),)),
    "corrcoef": (taeda.corrcoef, lambda n: (normal(n, n + 1),)),
    "max_unpool2d": (lambda x, i: F.max_unpool2d(x, i, 2), lambda n: pooled(n, 2 * n)),
    "masked assignment": (masked, lambda n: (normal(n, n + 1),)),
    "masked index_put": (
        lambda x: x.index_put((x > 0,), taeda.tensor(2.0)),
        lambda n: (normal(n, n + 1),),
    ),
}


@pytest.mark.parametrize("mode", ["real", "fake", "symbolic"])
@pytest.mark.parametrize("name", WITHOUT_VALUES)
def test_graphs_without_values(name, mode):
    f, given = WITHOUT_VALUES[name]
    gm = make_fx(f, tracing_mode=mode)(*given(5))
    for n in (5, 6, 8) if mode == "symbolic" else (5,):
        assert gm(*given(n)).equal(f(*given(n)))


@pytest.mark.parametrize("mode", ["real", "fake", "symbolic"])
def test_the_check_stays_in_the_graph(mode):
    gm = make_fx(lambda x: F.one_hot(x, 3), tracing_mode=mode)(taeda.tensor([0, 1, 2, 1]))
    for bad in (3, -1):
        with pytest.raises(RuntimeError, match="out of bounds"):
            gm(taeda.tensor([0, bad, 2, 1]))


@pytest.mark.parametrize("mode", ["fake", "symbolic"])
def test_a_value_that_nobody_wrote_decides_no_error(mode):
    """The memory of a fake may hold anything, so what a program says of it is not its error."""
    args = normal(3, 5), normal(5).abs()
    trace = make_fx(lambda x, w: taeda.cov(x, aweights=w), tracing_mode=mode)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(RuntimeError, match="a value is read"):
            trace(*args)


FACTORS = [2, 3.0, 0.5, 1.5, 0.75, 0.1, 1 / 3, 2.6]


@pytest.mark.parametrize("factor", FACTORS)
def test_a_factor_of_symbols_is_that_of_numbers(factor):
    """Where the product of floats is exact the size stays a symbol, else it is a number."""
    f = lambda x: F.interpolate(x, scale_factor=factor)  # noqa: E731
    gm = make_fx(f, tracing_mode="symbolic")(normal(2, 3, 30, 13))
    assert gm(normal(2, 3, 30, 13)).equal(f(normal(2, 3, 30, 13)))
    exact = factor in (2, 3.0, 0.5, 1.5, 0.75)
    for rows in range(11, 60, 4):
        x = normal(4, 3, rows, 17)
        if exact:
            assert gm(x).equal(f(x)), rows
        else:
            with pytest.raises(RuntimeError, match="traced for other sizes"):
                gm(x)


# Modules, their input by three sizes of which all are dynamic, but for channels that weights fix.
SPATIAL = {
    "interpolate": lambda x: F.interpolate(x, size=(x.shape[2] * 2, x.shape[3] + 3)),
    "bilinear": lambda x: F.interpolate(x, size=x.shape[2:], mode="bilinear"),
    "area": lambda x: F.interpolate(x, size=(x.shape[2] - 1, x.shape[3]), mode="area"),
    "Upsample": nn.Upsample(scale_factor=2, mode="bilinear"),
    "UpsamplingNearest2d": nn.UpsamplingNearest2d(scale_factor=2),
    "affine_grid": lambda x: F.affine_grid(
        taeda.eye(2, 3).expand(x.shape[0], 2, 3), x.shape, align_corners=False
    ),
    "adaptive": lambda x: F.adaptive_avg_pool2d(x, x.shape[3] - 4),
    "Conv2d": nn.Conv2d(3, 4, 3, padding=1),
    "ConvTranspose2d": nn.ConvTranspose2d(3, 4, 3, stride=2),
    "BatchNorm2d": nn.BatchNorm2d(3).eval(),
    "GroupNorm": nn.GroupNorm(3, 3),
    "InstanceNorm2d": nn.InstanceNorm2d(3),
    "MaxPool2d": nn.MaxPool2d(2),
    "AvgPool2d": nn.AvgPool2d(3, 2),
    "AdaptiveAvgPool2d": nn.AdaptiveAvgPool2d(1),
    "ZeroPad2d": nn.ZeroPad2d(2),
    "ReflectionPad2d": nn.ReflectionPad2d(2),
    "Flatten": nn.Flatten(),
    "Softmax2d": nn.Softmax2d(),
    "GELU": nn.GELU(),
    "ChannelShuffle": nn.ChannelShuffle(3),
    "Dropout": nn.Dropout().eval(),
}


@pytest.mark.parametrize("name", SPATIAL)
def test_no_size_is_fixed(name):
    f = SPATIAL[name]
    with taeda.no_grad():
        gm = make_fx(f, tracing_mode="symbolic")(normal(2, 3, 12, 17))
        for n, height, width in ((2, 12, 17), (5, 21, 13), (4, 14, 34)):
            x = normal(n, 3, height, width)
            assert gm(x).equal(f(x)), (n, height, width)
