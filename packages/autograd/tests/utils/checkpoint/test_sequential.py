"""Chains in segments."""

from __future__ import annotations

import pytest
from checkpoint_programs import VARIANTS, dropout

import taeda
from taeda.utils.checkpoint import checkpoint_sequential


@pytest.mark.parametrize("reentrant", VARIANTS)
@pytest.mark.parametrize("segments", [1, 2, 3, 5, 9])
def test_chains(segments, reentrant):
    chain = [taeda.sin, taeda.exp, dropout, taeda.cos, taeda.tanh]
    results = []
    for run in (plain_chain, checkpoint_sequential):
        taeda.manual_seed(1)
        x = taeda.linspace(0, 1, 20).requires_grad_()
        y = run(chain, segments, x, use_reentrant=reentrant)
        y.sum().backward()
        results.append((y, x.grad))
    assert taeda.equal(results[0][0], results[1][0])
    assert taeda.equal(results[0][1], results[1][1])


def plain_chain(chain, segments, x, use_reentrant):
    for function in chain:
        x = function(x)
    return x


def test_refused_chains():
    x = taeda.ones(1, requires_grad=True)
    with pytest.raises(ValueError, match="Unexpected keyword arguments: more"):
        checkpoint_sequential([taeda.sin], 1, x, use_reentrant=False, more=1)
    with pytest.raises(ValueError, match="at least one segment, got 0"):
        checkpoint_sequential([taeda.sin], 0, x, use_reentrant=False)
    with pytest.warns(UserWarning, match="checkpoint_sequential: the use_reentrant"):
        checkpoint_sequential([taeda.sin, taeda.cos], 2, x)
