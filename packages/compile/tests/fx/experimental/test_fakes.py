"""Traces without values: the same graphs, and nothing happens."""

from __future__ import annotations

import pytest

import taeda
from taeda import nn
from taeda.func import grad
from taeda.fx.experimental._fakes import fake_of, fakes_of
from taeda.fx.experimental.proxy_tensor import make_fx


def model():
    layers = (nn.Linear(4, 5), nn.BatchNorm1d(5), nn.ReLU(), nn.Dropout(0.5), nn.Linear(5, 2))
    return nn.Sequential(*layers)


PROGRAMS = {
    "views": lambda x: (x.sin() + 1).view(-1).sum(),
    "gradient": grad(lambda x: x.sin().square().sum()),
    "factories": lambda x: taeda.zeros(2, 4) + x[:2] + taeda.tensor([1.0, 2, 3, 4]),
    "writes": lambda x: x.clone().mul_(2).add_(x),
    "dtypes": lambda x: x.to(taeda.float64).argmax(1),
    "several": lambda x: x.split(1) + tuple(x.max(0)),
    "conv": lambda x: nn.functional.conv1d(x[:, None], taeda.ones(2, 1, 2), stride=2),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_fakes_give_the_graph_that_values_give(name):
    x = taeda.randn(3, 4)
    real, fake = make_fx(PROGRAMS[name])(x), make_fx(PROGRAMS[name], tracing_mode="fake")(x)
    assert fake.code == real.code
    y = taeda.randn(3, 4)
    taeda.testing.assert_close(fake(y), PROGRAMS[name](y), rtol=0, atol=0)


def test_nothing_happens_to_arguments_modules_or_the_generator():
    net, x, total = model(), taeda.randn(3, 4), taeda.ones(2)
    x_before, before = x.clone(), {k: v.clone() for k, v in net.state_dict().items()}
    state = taeda.get_rng_state()

    def step(x):
        x.mul_(2)
        out = net(x)
        total.add_(out.detach().sum(0))
        out.sum().backward()
        return out

    make_fx(step, tracing_mode="fake")(x)
    assert x.equal(x_before) and total.tolist() == [1, 1]
    assert all(v.equal(before[k]) for k, v in net.state_dict().items())
    assert taeda.get_rng_state().equal(state)
    assert all(p.grad is None for p in net.parameters())


def spin(x):
    while x.sum() > 0:  # on memory that nobody wrote this may never end
        x = x + 1
    return x


@pytest.mark.parametrize(
    "f",
    [
        lambda x: x.sum().item(), lambda x: x if x.sum() > 0 else -x, lambda x: x.nonzero(),
        lambda x: x[x > 0], lambda x: x.tolist(), lambda x: x.numpy(), spin, taeda.unique,
    ],
)  # fmt: skip
def test_values_are_refused(f):
    with pytest.raises(RuntimeError, match="there is no graph of this call"):
        make_fx(f, tracing_mode="fake")(taeda.ones(3, 4))


def test_no_kernel_runs():
    # 1 GiB in each result, of which nothing is touched
    wide = taeda.ones(1).expand(1 << 14, 1 << 14)
    gm = make_fx(lambda x: x.exp().log().sum(1), tracing_mode="fake")(wide)
    assert [n.name for n in gm.graph.nodes] == ["x", "exp", "log", "sum_1", "output"]
    assert gm(taeda.ones(2, 3)).shape == (2,)


def test_what_a_fake_is_like():
    x = nn.Parameter(taeda.ones(4, 6).T)
    made = fake_of(x)
    assert isinstance(made, nn.Parameter) and made.requires_grad
    assert (made.shape, made.stride(), made.dtype) == (x.shape, x.stride(), x.dtype)
    assert fake_of(x, (3, 5)).stride() == (1, 3)  # the order of the dimensions stays
    assert fake_of(taeda.ones(1, 3).expand(2, 3), (4, 5)).stride() == (0, 1)
    tree = fakes_of({"a": x, "b": [x, 3]})
    assert tree["a"] is tree["b"][0] and tree["b"][1] == 3


def test_the_mode_is_one_of_three():
    with pytest.raises(ValueError, match="'real', 'fake' or 'symbolic', got 'none'"):
        make_fx(abs, tracing_mode="none")
