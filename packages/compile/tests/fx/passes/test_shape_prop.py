from __future__ import annotations

import taeda
from taeda import fx, nn
from taeda.fx.passes.shape_prop import ShapeProp


def test_every_value_has_its_facts():
    model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(4 * 36, 2))
    gm = fx.symbolic_trace(model)
    x = taeda.randn(2, 3, 8, 8).to(memory_format=taeda.channels_last)
    assert ShapeProp(gm).propagate(x).equal(model(x))
    facts = {n.name: n.meta["tensor_meta"] for n in gm.graph.nodes}
    assert {name: tuple(f.shape) for name, f in facts.items()} == {
        "input_1": (2, 3, 8, 8), "_0": (2, 4, 6, 6), "_1": (2, 4, 6, 6), "_2": (2, 144),
        "_3": (2, 2), "output": (2, 2),
    }  # fmt: skip
    assert facts["input_1"].memory_format is taeda.channels_last
    assert facts["_3"].requires_grad
    assert not facts["input_1"].requires_grad


def test_several_values_and_none():
    gm = fx.symbolic_trace(lambda x: (x.split(1), x.shape[0]))
    ShapeProp(gm).propagate(taeda.ones(2, 3, dtype=taeda.int32))
    metas = {n.name: n.meta for n in gm.graph.nodes}
    assert [f.shape for f in metas["split"]["tensor_meta"]] == [(1, 3), (1, 3)]
    assert metas["getitem"]["type"] is int
    assert "tensor_meta" not in metas["getitem"]


def test_nothing_is_computed_on_the_meta_device():
    model = nn.Linear(10, 20, device="meta")
    gm = fx.symbolic_trace(nn.Sequential(model))
    made = ShapeProp(gm).propagate(taeda.empty(5, 10, device="meta"))
    assert made.device.type == "meta"
    assert made.shape == (5, 20)
