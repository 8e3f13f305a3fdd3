from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import taeda
from taeda import fx, nn
from taeda._core_api import programs as _core
from taeda.compiler._graph.capture import Capture, captured, parameters_of


def test_a_call_as_a_graph_with_names_of_the_caller():
    layer, shift = nn.Linear(2, 2), taeda.ones(2)
    known = {id(layer.weight): "weight"}
    made = captured(Capture(), lambda x: (layer(x) + shift, x), (taeda.ones(1, 2),), ["x"], known)
    assert list(made.constants) == ["weight", "_param_constant0", "_tensor_constant0"]
    x = taeda.randn(3, 2)
    found = fx.GraphModule(made.constants, made.graph)(x)
    assert found[0].equal(layer(x) + shift) and found[1] is x


def test_what_it_writes_is_named():
    seen, other = taeda.zeros(2), taeda.zeros(2)
    made = captured(Capture(), lambda x: seen[:].add_(x) + other, (taeda.ones(2),), ["x"])
    assert [t is seen for t in made.written] == [True]


@pytest.mark.parametrize("modes", [True, False])
def test_regions_without_gradients(modes):
    def f(x):
        with taeda.no_grad():
            return x * 2

    made = captured(Capture(), f, (taeda.ones(2),), ["x"], modes=modes)
    assert any(n.target is taeda.set_grad_enabled for n in made.graph.nodes) is modes


def test_why_there_is_no_graph():
    assert captured(Capture(), lambda x: x * x.item(), (taeda.ones(1),), ["x"]) == "a value is read"


def test_names_of_arguments():
    assert parameters_of(lambda a, b, *more: 0, 4) == ["a", "b", "arg2", "arg3"]
    assert parameters_of(nn.Linear(1, 1), 1) == ["input"]


class FromOutside:
    """A function in C that nobody sees, as far as tracers go: its result depends on what it is given."""

    def __call__(self, x):
        with _core.hidden(_core.TRACE):
            return x * 2 if x.sum().item() > 0 else x.clone()


@pytest.mark.parametrize(
    "f",
    [
        lambda x: x + FromOutside()(x),
        lambda x: x + FromOutside()(x)[:1],
        lambda x: (x + 1, FromOutside()(x)),
        lambda x: x + taeda.from_numpy(np.ones(2, np.float32)),
        lambda x: x + taeda.frombuffer(bytearray(8), dtype=taeda.float32),
    ],
)
def test_memory_of_the_call_that_no_operator_made_is_no_constant(f):
    """It would be baked in: the graph would give the result of the first argument for all others."""
    said = captured(Capture(), f, (taeda.ones(2),), ["x"])
    assert isinstance(said, str) and "make it before the call" in said


def test_memory_of_before_is_a_constant_whoever_made_it():
    array, view = taeda.from_numpy(np.ones(2, np.float32)), taeda.arange(6.0)[2:4]
    made = captured(
        Capture(), lambda x: x + array * view + taeda.tensor(3.0), (taeda.ones(2),), ["x"]
    )
    assert len(made.constants) == 3
    assert fx.GraphModule(made.constants, made.graph)(taeda.ones(2)).tolist() == [6.0, 7.0]


def test_memory_of_a_thread_beside_the_call():
    def f(x):
        with ThreadPoolExecutor(1) as pool:
            return x + pool.submit(lambda: x * 2).result()

    assert "make it before the call" in captured(Capture(), f, (taeda.ones(2),), ["x"])
