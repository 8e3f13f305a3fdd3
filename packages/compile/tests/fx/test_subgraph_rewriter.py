from __future__ import annotations

import pytest

import taeda
from taeda import fx, nn


def test_every_place_is_replaced_once():
    def program(x, w1, w2):
        a = taeda.cat([w1, w2]).sum()
        b = taeda.cat([w1, w2]).sum()
        return x + a + b

    gm = fx.symbolic_trace(program)
    found = fx.replace_pattern(
        gm, lambda a, b: taeda.cat([a, b]).sum(), lambda a, b: taeda.stack([a, b]).max()
    )
    gm.graph.lint()
    assert len(found) == 2
    x = taeda.ones(2)
    assert gm(x, x, x * 3).tolist() == [7, 7]
    assert [n.target for n in found[0].nodes_map if n.op == "call_method"] == ["sum"]


def test_overlapping_places_first_wins():
    gm = fx.symbolic_trace(lambda x: taeda.neg(taeda.neg(taeda.neg(x))))
    found = fx.replace_pattern(gm, lambda x: taeda.neg(taeda.neg(x)), lambda x: x.clone())
    gm.graph.lint()
    assert len(found) == 1
    assert gm(taeda.tensor(2.0)).item() == -2


def test_chained_places_follow_each_other():
    gm = fx.symbolic_trace(lambda x: taeda.relu(taeda.relu(x)))
    assert len(fx.replace_pattern(gm, lambda x: taeda.relu(x), lambda x: x * 2)) == 2
    gm.graph.lint()
    assert gm(taeda.tensor(3.0)).item() == 12


def test_values_used_elsewhere_and_other_literals_prevent_a_match():
    def program(x):
        y = taeda.exp(x)
        return taeda.log(y) + y

    gm = fx.symbolic_trace(program)
    assert not fx.replace_pattern(gm, lambda x: taeda.log(taeda.exp(x)), lambda x: x.clone())
    gm = fx.symbolic_trace(lambda x: taeda.sum(x, 1))
    assert not fx.replace_pattern(gm, lambda x: taeda.sum(x, 0), lambda x: x)
    gm = fx.symbolic_trace(lambda x: x + 1)
    assert not fx.replace_pattern(gm, lambda x: x + True, lambda x: x)


def test_modules_match_by_type_and_replacements_bring_theirs():
    class Pattern(nn.Module):
        def __init__(self):
            super().__init__()
            self.act = nn.ReLU()

        def forward(self, x):
            return self.act(x)

    class New(nn.Module):
        def __init__(self):
            super().__init__()
            self.new = nn.Linear(2, 2)

        def forward(self, x):
            return self.new(x)

    gm = fx.symbolic_trace(nn.Sequential(nn.Linear(2, 2), nn.ReLU()))
    new = New()
    assert len(fx.replace_pattern(gm, fx.symbolic_trace(Pattern()), fx.symbolic_trace(new))) == 1
    gm.graph.lint()
    x = taeda.ones(1, 2)
    assert gm(x).equal(new(gm.get_submodule("0")(x)))


def test_refusals():
    gm = fx.symbolic_trace(lambda x: x + 1)
    with pytest.raises(ValueError, match="the pattern has 1 parameters and the replacement 2"):
        fx.replace_pattern(gm, lambda x: x + 1, lambda x, y: x)
    with pytest.raises(ValueError, match="computes nothing"):
        fx.replace_pattern(gm, lambda x: x, lambda x: x)
