"""Recurrences step by step against numpy, and the kernels of all steps against the steps."""

from __future__ import annotations

import numpy as np
import pytest
from layer_references import recurrent_step

import taeda
from taeda.nn.modules import _recurrence as recurrence

GATES = {"RNN_TANH": ("tanh", 1), "RNN_RELU": ("relu", 1), "LSTM": ("LSTM", 4), "GRU": ("GRU", 3)}


def drawn(*shape):
    return taeda.randn(shape, dtype=taeda.float64)


def given(mode, batch=2, projection=0):
    """(weights, first states) of 3 inputs and 4 units."""
    taeda.manual_seed(0)
    rows, width = 4 * GATES[mode][1], projection or 4
    weights = recurrence.Weights(
        drawn(rows, 3),
        drawn(rows, width),
        drawn(rows),
        drawn(rows),
        drawn(width, 4) if projection else None,
    )
    states = (drawn(batch, width), drawn(batch, 4)) if mode == "LSTM" else (drawn(batch, width),)
    return weights, states


def named(weights):
    w = {
        "weight_ih": weights.input,
        "weight_hh": weights.hidden,
        "bias_ih": weights.input_bias,
        "bias_hh": weights.hidden_bias,
    }
    if weights.projection is not None:
        w["weight_hr"] = weights.projection
    return {name: t.numpy() for name, t in w.items()}


@pytest.mark.parametrize(("mode", "projection"), [*((mode, 0) for mode in GATES), ("LSTM", 2)])
def test_one_step(mode, projection):
    weights, states = given(mode, projection=projection)
    x = drawn(2, 3)
    made = recurrence.STEPS[mode](x @ weights.input.T + weights.input_bias, states, weights)
    cell = states[1].numpy() if len(states) > 1 else None
    wanted = recurrent_step(GATES[mode][0], x.numpy(), states[0].numpy(), cell, named(weights), "")
    for a, b in zip(made, wanted, strict=False):
        np.testing.assert_allclose(a.numpy(), b)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("mode", GATES)
def test_the_kernel_of_all_steps_is_the_steps(mode, reverse):
    weights, states = given(mode)
    x = drawn(5, 2, 3)
    step = recurrence.STEPS[mode]
    output, last = recurrence.walk(step, x, states, weights, None, reverse)
    wanted = {}
    for t in range(5)[::-1] if reverse else range(5):
        states = step(x[t] @ weights.input.T + weights.input_bias, states, weights)
        wanted[t] = states[0]
    taeda.testing.assert_close(output, taeda.stack([wanted[t] for t in range(5)]))
    for a, b in zip(last, states, strict=True):
        taeda.testing.assert_close(a, b)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("mode", GATES)
def test_packed_rows_are_sequences_of_their_own(mode, reverse):
    weights, states = given(mode, batch=3)
    lengths, step = [4, 2, 1], recurrence.STEPS[mode]
    sequences = [drawn(n, 3) for n in lengths]
    sizes = [sum(n > t for n in lengths) for t in range(4)]
    rows = taeda.cat([s[t : t + 1] for t in range(4) for s in sequences if len(s) > t])
    output, last = recurrence.walk(step, rows, states, weights, sizes, reverse)
    parts = output.split(sizes)
    for k, sequence in enumerate(sequences):
        first = tuple(s[k : k + 1] for s in states)
        alone, ends = recurrence.walk(step, sequence.unsqueeze(1), first, weights, None, reverse)
        own = taeda.stack([parts[t][k] for t in range(lengths[k])])
        taeda.testing.assert_close(own, alone[:, 0])
        for a, b in zip(last, ends, strict=True):
            taeda.testing.assert_close(a[k : k + 1], b)


def test_layers_feed_the_next_and_both_ways_are_joined():
    weights, states = given("GRU")
    rows = 12
    upper = recurrence.Weights(drawn(rows, 8), drawn(rows, 4), drawn(rows), drawn(rows))
    first = (taeda.stack([states[0]] * 4),)
    x = drawn(3, 2, 3)
    output, (last,) = recurrence.walk_layers(
        "GRU", x, first, [weights, weights, upper, upper], None, 2, 0.0
    )
    step = recurrence.gru_step
    below = [recurrence.walk(step, x, states, weights, None, way)[0] for way in (False, True)]
    above = [
        recurrence.walk(step, taeda.cat(below, -1), states, upper, None, way)
        for way in (False, True)
    ]
    taeda.testing.assert_close(output, taeda.cat([o for o, _ in above], -1))
    taeda.testing.assert_close(last[2:], taeda.stack([s for _, (s,) in above]))


def test_steps_without_biases_and_without_inputs():
    weights, states = given("RNN_TANH")
    bare = recurrence.Weights(weights.input, weights.hidden, None, None)
    x = drawn(1, 2, 3)
    output, _ = recurrence.walk(recurrence.tanh_step, x, states, bare, None, False)
    taeda.testing.assert_close(
        output[0], (x[0] @ weights.input.T + states[0] @ weights.hidden.T).tanh()
    )
