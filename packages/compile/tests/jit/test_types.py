"""The types of what `script` and `trace` give, and names that libraries read."""

from __future__ import annotations

import copy
import pickle

import pytest

import taeda
from taeda import jit, nn

pytestmark = pytest.mark.filterwarnings("ignore:taeda.jit.script gives")


def double(x):
    return x * 2


def state_of(module):
    return {name: {k: id(v) for k, v in m.__dict__.items()} for name, m in module.named_modules()}


def test_results_are_of_the_types():
    layer = nn.Linear(2, 2)
    scripted, traced = jit.script(layer), jit.trace(layer, taeda.ones(1, 2))
    assert isinstance(scripted, jit.ScriptModule) and isinstance(traced, jit.ScriptModule)
    assert isinstance(scripted, nn.Linear) and not isinstance(layer, jit.ScriptModule)
    assert isinstance(jit.script(double), jit.ScriptFunction)
    for other in (double, layer, scripted, None, 3):
        assert not isinstance(other, jit.ScriptFunction)
    assert not isinstance(jit.script(double), jit.ScriptModule)
    assert issubclass(jit.TracedModule, jit.ScriptModule)
    with pytest.raises(TypeError, match="makes them"):
        jit.ScriptFunction()


def test_what_is_scripted_stays_itself():
    scripted, traced = jit.script(nn.Linear(2, 2)), jit.trace(nn.Linear(2, 2), taeda.ones(1, 2))
    function = jit.script(double)
    assert jit.script(scripted) is scripted and jit.script(traced) is traced
    assert jit.script(function) is function
    assert isinstance(copy.deepcopy(scripted), jit.ScriptModule)
    assert pickle.loads(pickle.dumps(scripted))(taeda.ones(1, 2)).shape == (1, 2)


def test_script_never_changes_a_module():
    model = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.Sequential(nn.ReLU())).eval()
    before, keys = state_of(model), list(model.state_dict())
    scripted = jit.script(model)
    scripted(taeda.ones(4, 2))
    scripted.train()
    scripted.note = 1
    scripted[2].add_module("more", nn.ReLU())
    assert state_of(model) == before and list(model.state_dict()) == keys
    assert not model.training and list(scripted.state_dict()) == keys


def test_classes_of_users():
    class Old(jit.ScriptModule):
        def __init__(self):
            super().__init__()
            self.size = jit.Attribute(3, int)

        @jit.script_method
        def forward(self, x):
            return x * self.size

    assert isinstance(Old(), jit.ScriptModule) and Old()(taeda.ones(1)).tolist() == [3.0]
    assert not isinstance(jit.script(nn.Linear(2, 2)), Old)


def test_names_that_libraries_read():
    class Many:
        @jit._overload_method
        def f(self, x: int) -> int: ...

        @jit._overload_method
        def f(self, x: str) -> str: ...  # noqa: F811 - the forms of one method

        def f(self, x):  # noqa: F811
            return x

    assert Many().f("a") == "a" and jit._overload(double) is double
    assert jit._script_if_tracing(double) is double and jit._unwrap_optional(2) == 2
    with pytest.raises(AssertionError, match="null optional"):
        jit._unwrap_optional(None)
    assert not jit.is_scripting() and not jit.is_tracing()


def test_a_traced_function_is_of_the_type_of_functions():
    made = jit.trace(double, (taeda.ones(2),))
    assert isinstance(made, jit.ScriptFunction)
    assert not isinstance(jit.trace(nn.Linear(2, 2), taeda.ones(1, 2)), jit.ScriptFunction)
