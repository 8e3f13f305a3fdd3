"""Batch normalization folded into layers, dropout taken out, parts of a graph as modules."""

from __future__ import annotations

import pytest

import taeda
from taeda import fx, nn
from taeda.fx.experimental.optimization import (
    extract_subgraph,
    fuse,
    matches_module_pattern,
    remove_dropout,
    replace_node_module,
)

PAIRS = [
    (nn.Conv1d(2, 3, 3, bias=False), nn.BatchNorm1d(3), (4, 2, 9)),
    (nn.Conv2d(2, 4, 3, padding=1, groups=2), nn.BatchNorm2d(4, affine=False), (2, 2, 6, 5)),
    (nn.Conv3d(1, 2, 2), nn.BatchNorm3d(2), (2, 1, 4, 4, 4)),
    (nn.Linear(5, 3), nn.BatchNorm1d(3), (4, 5)),
]


def learned(model, shape):
    """The model in eval mode, its statistics those of some batches."""
    taeda.manual_seed(1)
    model.train()
    for _ in range(3):
        model(taeda.randn(*shape) * 3 + 1)
    return model.eval()


def norms(module):
    return [m for m in module.modules() if isinstance(m, nn.modules.batchnorm._BatchNorm)]


@pytest.mark.parametrize(("layer", "norm", "shape"), PAIRS, ids=lambda v: type(v).__name__)
def test_pairs_become_one_layer(layer, norm, shape):
    model = learned(nn.Sequential(layer, norm, nn.ReLU()), shape)
    x = taeda.randn(*shape)
    folded = fuse(model)
    assert [n.op for n in folded.graph.nodes].count("call_module") == 2
    assert folded(x).allclose(model(x), atol=1e-5) and len(norms(model)) == 1
    again = fuse(fx.symbolic_trace(model), no_trace=True)
    assert again(x).equal(folded(x))


def stays(model, shape):
    x = taeda.randn(*shape)
    folded = fuse(model)
    assert "call_module" in [n.op for n in folded.graph.nodes]
    assert any(n.target.endswith("bn") for n in folded.graph.nodes if n.op == "call_module")
    if not model.training:
        assert folded(x).allclose(model(x), atol=1e-5)


class Twice(nn.Module):
    """Calls that say `way`."""

    def __init__(self, way, **options):
        super().__init__()
        self.way, self.conv, self.bn = way, nn.Conv2d(1, 1, 1), nn.BatchNorm2d(1, **options)

    def forward(self, x):
        y = self.conv(x)
        if self.way == "result twice":
            return self.bn(y) + y
        if self.way == "layer twice":
            return self.bn(self.conv(y))
        if self.way == "norm twice":
            return self.bn(self.bn(y))
        return self.bn(y)


@pytest.mark.parametrize("way", ["result twice", "layer twice", "norm twice"])
def test_what_is_used_elsewhere_stays(way):
    stays(learned(Twice(way), (2, 1, 4, 4)), (2, 1, 4, 4))


def test_what_is_not_the_same_for_every_batch_stays():
    shape = (2, 1, 4, 4)
    stays(Twice("once").train(), shape)
    stays(Twice("once", track_running_stats=False).eval(), shape)
    hooked = learned(Twice("once"), shape)
    hooked.conv.register_forward_hook(lambda m, args, out: out * 2)
    assert "bn" in [n.target for n in fuse(hooked).graph.nodes]


def test_in_place_the_model_itself_has_the_folded_layer():
    model = learned(nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2)), (2, 1, 5, 5))
    before = model[0].weight.clone()
    fuse(model)
    assert model[0].weight.equal(before)
    graph = fx.symbolic_trace(model)
    fuse(graph, inplace=True, no_trace=True)
    assert not graph.get_submodule("0").weight.equal(before)


def test_remove_dropout():
    model = nn.Sequential(
        nn.Linear(3, 3), nn.Dropout(0.9), nn.Sequential(nn.AlphaDropout(), nn.ReLU())
    )
    x = taeda.randn(4, 3)
    assert remove_dropout(model)(x).equal(model.eval()(x))
    assert len(list(model)) == 3


def test_parts_of_a_graph():
    model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
    traced = fx.symbolic_trace(model)
    _, first, relu, last, _ = traced.graph.nodes
    part = extract_subgraph(traced, [relu, last], [first], [last, relu])
    value = taeda.randn(5, 4)
    assert part(value)[0].equal(model[2](model[1](value)))
    with pytest.raises(ValueError, match="name it in inputs"):
        extract_subgraph(traced, [last], [first], [last])


def test_a_module_is_replaced_at_its_path():
    traced = fx.symbolic_trace(nn.Sequential(nn.Sequential(nn.ReLU())))
    modules = dict(traced.named_modules())
    _, node, out = traced.graph.nodes
    replace_node_module(node, modules, nn.Tanh())
    assert traced(taeda.ones(1)).equal(taeda.ones(1).tanh())
    with pytest.raises(ValueError, match="calls no module"):
        replace_node_module(out, modules, nn.Tanh())
    assert not matches_module_pattern((nn.Conv2d, nn.BatchNorm2d), out, modules)
