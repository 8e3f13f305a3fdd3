"""Checkpoints: the same gradients for less memory."""

from __future__ import annotations

import functools

import pytest
from checkpoint_programs import VARIANTS, again, allocated, layers, leaves, plainly

import taeda
from taeda.utils.checkpoint import (
    checkpoint,
)


def gradients(run):
    x, w = leaves()
    run(layers, x * 1, w).square().sum().backward()
    return x.grad, w.grad, taeda.rand(1)


@pytest.mark.parametrize("reentrant", VARIANTS)
def test_gradients_are_those_of_the_plain_call_bit_for_bit(reentrant):
    run = functools.partial(checkpoint, use_reentrant=reentrant)
    for got, wanted in zip(gradients(run), gradients(plainly), strict=True):
        assert taeda.equal(got, wanted)


@pytest.mark.parametrize("reentrant", VARIANTS)
def test_only_inputs_and_outputs_stay(reentrant):
    x = taeda.zeros(10_000, requires_grad=True)
    w = taeda.ones(10_000, requires_grad=True)
    before = allocated()
    plain = layers(x, w)
    whole = allocated() - before
    del plain
    y = checkpoint(layers, x, w, use_reentrant=reentrant)
    assert allocated() - before < whole / 10
    y.sum().backward()
    del y
    x.grad = w.grad = None
    assert allocated() - before < 1000


# ---- what the variant that records can do ----


def test_keywords_and_nested_structures():
    x, y, z = (taeda.full((1,), v, requires_grad=True) for v in (1.0, 2.0, 3.0))

    def function(first, pair, *, last, times=1):
        return {"a": (first * pair[0]["y"]).exp() * times, "b": last.square()}

    made = again(function, x, [{"y": y}], last=z, times=2)
    (made["a"] + made["b"]).backward()
    e2 = taeda.tensor(2.0).exp()
    assert x.grad.item() == (2 * e2 * 2).item() and y.grad.item() == (2 * e2).item()
    assert z.grad.item() == 6


# ---- what goes wrong ----


REFUSED = {
    "keywords": ({"use_reentrant": True, "scale": 2}, "Unexpected keyword arguments: scale"),
    "context": (
        {"use_reentrant": True, "context_fn": lambda: None},
        "only supported when use_reentrant=False",
    ),
    "debug": ({"use_reentrant": True, "debug": True}, "only supported when use_reentrant=False"),
    "check": (
        {"use_reentrant": False, "determinism_check": "all"},
        r"\('default', 'none'\), got 'all'",
    ),
}


@pytest.mark.parametrize(("options", "fact"), REFUSED.values(), ids=REFUSED)
def test_options_that_do_not_go_together(options, fact):
    with pytest.raises(ValueError, match=fact):
        checkpoint(taeda.exp, taeda.ones(1, requires_grad=True), **options)


# ---- the variant that runs backward inside backward ----


def test_without_a_word_the_reentrant_variant_warns():
    with pytest.warns(UserWarning, match="use_reentrant parameter should be passed") as seen:
        checkpoint(taeda.exp, taeda.ones(1, requires_grad=True))
    assert seen[0].filename == __file__
    with pytest.warns(UserWarning, match="None of the inputs"):
        checkpoint(taeda.exp, taeda.ones(1), use_reentrant=True)


# ---- chains ----


# ---- chosen operations are kept ----
