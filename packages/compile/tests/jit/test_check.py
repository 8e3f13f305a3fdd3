from __future__ import annotations

import taeda
from taeda.fx.experimental.proxy_tensor import make_fx
from taeda.jit._check import first_difference, mismatches


def difference(f, g, numbers=True, x=None):
    one, other = (make_fx(h)(taeda.ones(3) if x is None else x) for h in (f, g))
    return first_difference(one.graph, other.graph, lambda n: taeda.ones(3), numbers=numbers)


def test_the_first_node_that_differs_is_named():
    assert difference(lambda x: x.sin() + 1, lambda x: x.sin() + 1) == ""
    assert "%2 = aten.add.Tensor(%1, 2)" in difference(lambda x: x.sin() + 1, lambda x: x.sin() + 2)
    assert difference(lambda x: x.sin() + 1, lambda x: x.sin() + 2, numbers=False) == ""
    assert "aten.cos" in difference(lambda x: x.sin(), lambda x: x.cos(), numbers=False)
    assert "the end" in difference(lambda x: x.sin(), lambda x: x.sin().cos(), numbers=False)
    assert difference(lambda x: x.sin(), lambda x: x.clone().sin(), numbers=False) == ""


def test_other_results_are_counted_from_one():
    a = taeda.ones(2)
    assert list(mismatches((a, [a]), (a, [a]), 1e-5)) == []
    (text,) = mismatches((a, [a]), (a, [a + 1]), 1e-5)
    assert text.startswith("Output nr 2.")
