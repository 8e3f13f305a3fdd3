"""Each row of "Right here, wrong there" in docs/parity.md has a test of its name here."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest

import taeda
from taeda import nn
from taeda.nn import functional as F

REPOSITORY = Path(__file__).parents[2]


def _derivative(function, at, dtype=taeda.float32):
    x = taeda.tensor([at], dtype=dtype, requires_grad=True)
    function(x).sum().backward()
    return x.grad.item()


def compiled_remainder():
    program = taeda.compile(lambda a, b: a % b)
    for n in (5, 17, 33, 100):
        a, b = taeda.linspace(-4, 4, n), taeda.full((n,), math.inf)
        for _ in range(3):
            assert taeda.equal(program(a, b), a % b), n


def arange_of_bfloat16():
    wanted = taeda.arange(0, 10, 0.1, dtype=taeda.float64).bfloat16()
    assert taeda.equal(taeda.arange(0, 10, 0.1, dtype=taeda.bfloat16), wanted)


def rrelu_in_a_checkpoint():
    layer, grads = nn.Sequential(nn.RReLU(), nn.RReLU()), []
    values = taeda.linspace(-2, 2, 50)
    for run in (layer, lambda x: taeda.utils.checkpoint.checkpoint(layer, x, use_reentrant=False)):
        x = values.clone().requires_grad_()
        taeda.manual_seed(1)
        run(x).sum().backward()
        grads.append(x.grad)
    assert taeda.equal(*grads)


def scatter_by_a_small_index():
    index = taeda.tensor([[0, 1], [2, 3]])
    for call in (
        lambda x, s: x.scatter(0, index, s),
        lambda x, s: x.scatter_add(0, index, s),
        lambda x, s: x.scatter_reduce(0, index, s, "amax"),
        lambda x, s: x.scatter_reduce(0, index, s, "prod"),
    ):
        x = taeda.zeros(4, 3, requires_grad=True)
        source = taeda.ones(4, 3, requires_grad=True)
        call(x, source).sum().backward()
        assert source.grad.shape == (4, 3)
        assert not source.grad[2:].any()
        assert not source.grad[:, 2].any()


def attention_with_a_nan():
    q, k, v = (taeda.randn(1, 1, 8, 16) for _ in range(3))
    q[0, 0, 3, 0] = math.nan
    rows = F.scaled_dot_product_attention(q, k, v).isnan().all(-1).flatten()
    assert rows.tolist() == [i == 3 for i in range(8)]


def norms_of_large_numbers():
    row = taeda.tensor([[1e30, 2e30, 3e30]])
    wanted = taeda.tensor([[-1.2247449, 0.0, 1.2247449]])
    taeda.testing.assert_close(F.layer_norm(row, (3,)), wanted)
    taeda.testing.assert_close(F.group_norm(row.reshape(1, 3, 1), 1).reshape(1, 3), wanted)
    assert taeda.linalg.vector_norm(taeda.full((4,), 1e25)).item() == pytest.approx(2e25)
    assert F.normalize(taeda.full((1, 4), 1e25)).tolist() == [[0.5] * 4]


def norms_of_a_constant():
    for number in (-3e4, 1e7, 1e10):
        x = taeda.full((2, 8, 9, 9), number)
        for made in (F.batch_norm(x, None, None, training=True), F.instance_norm(x)):
            assert not made.any(), number


def std_beyond_the_root_of_the_range():
    x = taeda.arange(16.0, dtype=taeda.float64)
    assert (x * 1e160).std().item() == pytest.approx(x.std().item() * 1e160)


def norm_of_ten_million_numbers():
    x = taeda.full((10**7,), 0.1)
    wanted = math.sqrt(10**7) * taeda.tensor(0.1).double().item()
    assert x.norm().item() == pytest.approx(wanted, rel=1e-6)


def gradients_of_a_frequent_token():
    places = taeda.zeros(4000, dtype=taeda.int64)
    for dtype in (taeda.bfloat16, taeda.float16):
        table = taeda.ones(1, 1, dtype=dtype, requires_grad=True)
        F.embedding(places, table).sum().backward()
        assert table.grad.item() == 4000


def mean_of_many_equal_halves():
    x = taeda.full((70000, 4), 0.5, dtype=taeda.float16, requires_grad=True)
    F.cross_entropy(x, taeda.zeros(70000, dtype=taeda.int64)).backward()
    assert x.grad.double().abs().sum().item() == pytest.approx(1.5, rel=1e-2)


def losses_of_large_numbers():
    assert F.soft_margin_loss(taeda.tensor([-100.0]), taeda.tensor([1.0])).item() == 100


def ldexp_of_negative_exponents():
    assert _derivative(lambda x: taeda.ldexp(x, taeda.tensor([-2])), 1.0) == 0.25


def derivatives_of_small_and_large_arguments():
    assert _derivative(taeda.expm1, -40.0) == pytest.approx(math.exp(-40))
    assert _derivative(taeda.sinc, 1e-5) == pytest.approx(-(math.pi**2) * 1e-5 / 3, rel=1e-4)
    for size in (1e-25, 1e-19, 1e25):
        slope = _derivative(lambda x: taeda.angle(taeda.complex(x, x * 2)), size)
        assert math.isfinite(slope), size


def tangent_of_scattered_products():
    made = taeda.func.jvp(
        lambda s: taeda.ones(2).scatter_reduce(0, taeda.tensor([0, 0]), s, "prod"),
        (taeda.tensor([2.0, 3.0]),),
        (taeda.ones(2),),
    )
    assert made[1].tolist() == [5, 0]


def unsigned_beside_negative_and_large():
    assert not (taeda.tensor([3], dtype=taeda.uint8) < -1).item()
    assert not (taeda.tensor([1], dtype=taeda.uint8) == 2**53 + 1).item()
    assert taeda.gcd(taeda.tensor([-(2**63)]), taeda.tensor([6])).item() == 2


def bessel_at_infinity():
    x = taeda.tensor([math.inf])
    assert taeda.i0(x).item() == taeda.special.i1(x).item() == math.inf


def a_schedule_inside_another():
    rates = taeda.optim.lr_scheduler
    optimizer = taeda.optim.SGD([nn.Parameter(taeda.ones(1))], 0.1)
    inner = rates.SequentialLR(
        optimizer,
        [rates.ConstantLR(optimizer, 0.5, 2), rates.ConstantLR(optimizer, 0.2)],
        [2],
    )
    outer, seen = rates.SequentialLR(optimizer, [inner], []), []
    for _ in range(3):
        seen.append(round(optimizer.param_groups[0]["lr"], 6))
        optimizer.step()
        outer.step()
    assert seen == [0.05, 0.05, 0.02]


def a_small_index_of_another_rank():
    x, source = taeda.zeros(2, 3, requires_grad=True), taeda.ones(2, 3, requires_grad=True)
    x.scatter_add(0, taeda.zeros(0, dtype=taeda.int64), source).sum().backward()
    assert source.grad.shape == (2, 3)
    assert not source.grad.any()


HERE = {
    name.replace("_", " "): function
    for name, function in list(globals().items())
    if callable(function) and getattr(function, "__module__", "") == __name__ and name[0] != "_"
}


def _rows():
    page = (REPOSITORY / "docs/parity.md").read_text()
    section = page.partition("## Right here, wrong there")[2]
    return re.findall(r"^\| \*([^*]+)\* \|", section, re.MULTILINE)


def test_every_row_has_its_test_and_every_test_its_row():
    assert sorted(_rows()) == sorted(HERE)


@pytest.mark.parametrize("name", sorted(HERE))
def test_it_is_right(name):
    HERE[name]()
