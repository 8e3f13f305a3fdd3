"""Counting while a program runs, by module."""

import pytest
from flop_counts import counted

import taeda
from taeda.utils.flop_counter import FlopCounterMode, register_flop_formula
from taeda.utils.flop_counter._formulas import FORMULAS

nn = pytest.importorskip("taeda.nn", reason="layers and their gradients are counted")


ops = taeda.ops.aten


def test_modules_have_counts_of_their_own():
    model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
    counts = counted(lambda: model(taeda.zeros(5, 3))).get_flop_counts()
    assert sum(counts["Sequential.0"].values()) == 2 * 5 * 12
    assert sum(counts["Sequential.2"].values()) == 2 * 5 * 8
    assert counts["Sequential"] == counts["Global"]


def test_formulas_of_ones_own():
    def five(self, *, out_shape):
        return 5 * out_shape[0]

    def raw(self, *, out_val):
        return int(out_val.sum())

    raw._get_raw = True
    assert (
        counted(lambda: taeda.zeros(3).exp(), custom_mapping={ops.exp: five}).get_total_flops()
        == 15
    )
    assert (
        counted(lambda: taeda.zeros(3).exp(), custom_mapping={ops.exp: raw}).get_total_flops() == 3
    )
    assert counted(lambda: taeda.zeros(3).exp()).get_total_flops() == 0
    try:
        register_flop_formula([ops.exp, ops.sin])(five)
        assert counted(lambda: taeda.zeros(3).exp().sin()).get_total_flops() == 30
    finally:
        del FORMULAS[ops.exp], FORMULAS[ops.sin]
    with pytest.raises(ValueError, match="packets"):
        register_flop_formula(taeda.exp)


def test_it_counts_again_from_zero():
    counter = FlopCounterMode(display=False)
    for _ in range(2):
        with counter:
            taeda.zeros(2, 3) @ taeda.zeros(3, 4)
        assert counter.get_total_flops() == 48


@pytest.mark.parametrize("name", ["mm", "addmm", "bmm", "add"])
def test_calls_with_a_target_count_as_those_without(name):
    matrix = taeda.ones(2, 3, 3) if name == "bmm" else taeda.ones(3, 3)
    call = getattr(taeda, name)
    given = [matrix] * (3 if name == "addmm" else 2)
    with FlopCounterMode(display=False) as plain:
        call(*given)
    with FlopCounterMode(display=False) as counted:
        call(*given, out=taeda.empty_like(matrix))
    assert counted.get_total_flops() == plain.get_total_flops()
    assert (counted.get_total_flops() == 0) == (name == "add")
