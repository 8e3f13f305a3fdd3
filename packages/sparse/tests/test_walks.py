"""Random walks through the layouts: every number is where it was, every part what it has to be."""

from __future__ import annotations

import itertools

import pytest
from sparse_walks import facts, parts, take, walk

import taeda

DTYPE = taeda.float64


def _first_layouts(seed):
    given = walk(seed)
    return given, taeda.tensor(given.numbers, dtype=DTYPE).reshape(given.shape)


@pytest.mark.parametrize("part", range(8))
def test_numbers_survive_every_walk(part):
    for seed in range(part * 50, part * 50 + 50):
        given, x = _first_layouts(seed)
        now = x
        for layout in given.layouts:
            now = take(taeda, now, given, layout)
            assert str(now.layout).endswith(layout), (seed, layout)
            assert taeda.equal(now.to_dense(), x), (seed, layout)
            facts(now)


def _in_one_list(nested, levels):
    for _ in range(levels):
        nested = [*itertools.chain.from_iterable(nested)]
    return nested


@pytest.mark.parametrize("part", range(8))
@pytest.mark.parametrize("by", ["sparse_csr", "sparse_csc", "sparse_bsr", "sparse_bsc"])
def test_parts_are_those_of_plain_python(by, part):
    for seed in range(part * 25, part * 25 + 25):
        given, x = _first_layouts(seed)
        _, _, *both, _ = facts(take(taeda, x, given, by))
        if given.batch:
            found = [*zip(*(_in_one_list(one, given.batch - 1) for one in both), strict=True)]
        else:
            found = [tuple(both)]
        assert found == parts(given, by), (seed, by)


@pytest.mark.parametrize("seed", range(0, 60, 3))
def test_gradients_of_walks(seed):
    given, x = _first_layouts(seed)
    leaf = x.clone().requires_grad_()
    now, weight = leaf, taeda.arange(x.numel(), dtype=DTYPE).reshape(x.shape)
    for layout in given.layouts:
        now = take(taeda, now, given, layout)
    (now.to_dense() * weight).sum().backward()
    stored = leaf.grad != 0
    assert taeda.equal(leaf.grad, weight * stored)
    assert not (weight * (x != 0))[~stored].any()  # every number that is there has its gradient
