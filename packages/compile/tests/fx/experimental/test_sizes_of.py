from __future__ import annotations

import random

import taeda
from taeda.fx.experimental._sizes_of import symbolic_layout
from taeda.fx.experimental.symbolic_shapes import ShapeEnv


def test_formulas_of_any_layout_give_its_numbers():
    rng = random.Random(3)
    for _ in range(200):
        shape = [rng.choice([0, 1, 2, 3, 5]) for _ in range(rng.randint(0, 4))]
        x = taeda.empty(shape).permute(rng.sample(range(len(shape)), len(shape)))
        if x.dim() and rng.random() < 0.5:
            x = x.narrow(0, 0, max(x.shape[0] - 1, 0)).unsqueeze(rng.randint(0, 1))
        if rng.random() < 0.3:
            x = x.expand(4, *x.shape)
        env = ShapeEnv(duck_shape=rng.random() < 0.5)
        sizes, strides, offset = symbolic_layout(env, x, "x", None)
        assert tuple(env.size_hint(e) for e in sizes) == tuple(x.shape)
        assert tuple(env.size_hint(e) for e in strides) == x.stride()
        assert env.size_hint(offset) == x.storage_offset()


def test_a_stride_that_no_size_gives_has_a_symbol():
    env = ShapeEnv()
    _, strides, offset = symbolic_layout(env, taeda.empty(7, 5)[::2, 1:4], "x", None)
    assert [str(s) for s in strides] == ["s2", "1"] and str(offset) == "1"
    assert env.var_to_sources["s2"] == ["x.stride(0)"] and env.var_to_val["s2"] == 10
