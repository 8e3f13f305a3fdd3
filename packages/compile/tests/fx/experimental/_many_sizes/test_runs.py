"""What two traces have in common: words that are the same, numbers that may move."""

from __future__ import annotations

import math
from types import SimpleNamespace

import pytest

import taeda
from taeda.fx.experimental._many_sizes.runs import Run, describe, same_constants
from taeda.fx.experimental.symbolic_shapes import ShapeEnv
from taeda.fx.graph import Graph


def run_of(build, **constants):
    graph = Graph()
    build(graph, graph.placeholder("x"))
    made = Run(SimpleNamespace(graph=graph, constants=constants), ShapeEnv(), [])
    describe(made)
    return made


def reshaped(*size):
    return lambda graph, x: graph.output(graph.call_function(taeda.reshape, (x, list(size))))


def test_numbers_move_and_words_stay():
    small, large = run_of(reshaped(2, 3)), run_of(reshaped(5, 3))
    assert small.words == large.words
    assert (small.numbers, large.numbers) == ([2, 3], [5, 3])


@pytest.mark.parametrize(
    "other",
    [
        reshaped(2, 3, 1),
        reshaped(2, 3.0),
        lambda graph, x: graph.output(graph.call_function(taeda.Tensor.view, (x, [2, 3]))),
        lambda graph, x: graph.output((graph.call_function(taeda.reshape, (x, [2, 3])), x)),
        lambda graph, x: graph.output(graph.call_function(taeda.reshape, (x,), {"shape": [2, 3]})),
    ],
)
def test_another_program_has_other_words(other):
    assert run_of(reshaped(2, 3)).words != run_of(other).words


def test_a_nan_is_a_word_and_slices_are_looked_into():
    filled = run_of(
        lambda graph, x: graph.output(graph.call_function(taeda.full_like, (x, math.nan)))
    )
    assert filled.numbers == [0] and "nan" in filled.words[1]
    cut = run_of(lambda graph, x: graph.output(graph.call_function(len, (x, slice(1, None, 2)))))
    assert cut.numbers == [1, 2] and "None" in cut.words[1]


def test_constants_are_the_same_in_every_element():
    one, two = taeda.ones(2), taeda.ones(2)
    a, b = (run_of(reshaped(2), w=w).call for w in (one, two))
    assert same_constants(a, a) and same_constants(a, b)
    two[1] = 3
    assert not same_constants(a, b)
    assert not same_constants(a, run_of(reshaped(2), v=one).call)
    assert not same_constants(a, run_of(reshaped(2), w=taeda.ones(3)).call)
