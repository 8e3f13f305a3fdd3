"""Trees among the concrete arguments of a trace."""

from __future__ import annotations

import copy
import pickle

import pytest

from taeda import nn
from taeda.fx import PH, Interpreter, Transformer, symbolic_trace


def mixed(d, pair, k=3, *, flag=False):
    return d["b"] if flag else d["a"] + pair[0] * pair[1] * k


TREES = {"d": {"a": PH, "b": 5}, "pair": [PH, (PH)], "flag": False}
GIVEN = ({"a": 1, "b": 5}, [2, 3])


def total(values):
    found = 0
    for value in values.values():
        found += value
    return found


def test_a_walk_through_a_dict_is_unrolled():
    traced = symbolic_trace(total, concrete_args={"values": {"a": PH, "b": PH, "c": PH}})
    assert traced({"a": 1, "b": 2, "c": 4}) == 7
    names = [n.name for n in traced.graph.nodes if n.op == "placeholder"]
    assert names == ["values_1", "values_2", "values_3"]


@pytest.mark.parametrize(
    "change",
    [lambda g: g, copy.deepcopy, copy.copy, lambda g: pickle.loads(pickle.dumps(g)),
     lambda g: Transformer(g).transform()],
)  # fmt: skip
def test_calls_with_trees_and_other_arguments(change):
    traced = change(symbolic_trace(mixed, concrete_args=TREES))
    assert traced(*GIVEN) == mixed(*GIVEN) == 19
    assert traced(pair=[2, 3], d={"a": 1, "b": 5}, k=4) == 25
    assert Interpreter(traced).run(*GIVEN, 4, False) == 25


def test_another_tree_or_constant_is_refused():
    traced = symbolic_trace(mixed, concrete_args=TREES)
    with pytest.raises(TypeError, match=r"d was traced as .*'b'.* this call gives .*: trace again"):
        traced({"a": 1}, [2, 3])
    with pytest.raises(AssertionError, match="d_2 has been specialized to have value 5"):
        traced({"a": 1, "b": 6}, [2, 3])


class Nested(nn.Module):
    def forward(self, batch, scale=2):
        return batch["x"] * batch["o"][0] * scale


def test_methods_bare_placeholders_and_empty_trees():
    traced = symbolic_trace(Nested(), concrete_args={"batch": {"x": PH, "o": (PH,)}})
    assert traced({"x": 2, "o": (3,)}) == 12
    assert symbolic_trace(lambda x: x + 1, concrete_args={"x": PH})(1) == 2
    assert symbolic_trace(lambda x, e: x, concrete_args={"e": []})(1, []) == 1
    assert repr(PH) == "PH" and pickle.loads(pickle.dumps(PH)) is PH
