from __future__ import annotations

import math

import pytest

import taeda
from taeda import fx, nn
from taeda.fx.operator_schemas import ArgsKwargsPair, normalize_function, normalize_module


def same_call(function, args, kwargs=None):
    """Normalized arguments, which must give what the arguments themselves give."""
    found = normalize_function(function, args, kwargs)
    named = normalize_function(function, args, kwargs, normalize_to_only_use_kwargs=True)
    wanted = function(*args, **(kwargs or {}))
    assert named.args == ()
    assert function(*found.args, **found.kwargs).equal(wanted)
    assert function(**named.kwargs).equal(wanted)
    return found


def test_defaults_are_filled_in_and_the_call_stays_the_same():
    x = taeda.randn(2, 3)
    found = same_call(nn.functional.dropout, (x,), {"training": False})
    assert found.args[1:] == (0.5, False, False) and found.kwargs == {}
    same_call(taeda.add, (x, 1), {"alpha": 3})
    same_call(taeda.sum, (x,))
    same_call(taeda.sum, (x, 0))
    same_call(taeda.cat, ([x, x],))
    assert normalize_function(taeda.ops.aten.add.Tensor, (x, x)).kwargs == {"alpha": 1}


def test_what_has_no_plain_signature_gives_none():
    assert normalize_function(math.sqrt, (2.0,)) is None  # positional only
    assert normalize_function(lambda *args: args, (1,)) is None
    assert normalize_function(nn.functional.relu, (1, 2, 3, 4)) is None  # does not fit


def test_types_tell_overloads_apart():
    x = taeda.ones(2, 2)
    with pytest.raises(RuntimeError, match=r"2 overloads .*Pass arg_types"):
        normalize_function(taeda.ops.aten.max, (x, 0))
    found = normalize_function(taeda.ops.aten.max, (x, 0), arg_types=(taeda.Tensor, int))
    assert found.args[1:] == (0, False)
    found = normalize_function(taeda.ops.aten.max, (x, x), arg_types=(taeda.Tensor, taeda.Tensor))
    assert len(found.args) == 2


def test_nodes():
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(2, 2)

        def forward(self, x):
            return nn.functional.relu(self.linear(x)).tanh()

    gm = fx.symbolic_trace(Model())
    x, linear, relu, tanh, _ = gm.graph.nodes
    assert linear.normalized_arguments(gm) == ArgsKwargsPair((x,), {})
    assert linear.normalized_arguments(gm, normalize_to_only_use_kwargs=True).kwargs == {"input": x}
    assert relu.normalized_arguments(gm).args == (linear, False)
    assert tanh.normalized_arguments(gm) is None
    assert x.normalized_arguments(gm) is None
    with pytest.raises(RuntimeError, match="no submodule linear in Module"):
        normalize_module(nn.Module(), "linear", (x,))
