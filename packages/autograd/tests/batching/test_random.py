"""Random rows of the op table inside of vmap: refused, drawn for each sample, or drawn once."""

from __future__ import annotations

import pytest
from samples import ROWS, samples

import taeda
from taeda.autograd.batching import random
from taeda.func import vmap

SIZE = 3
#: rows of the random family that take no numbers from the generator
CALM = {"native_dropout_backward"}
CALLS = [
    pytest.param(name, number, id=f"{name}-{number}")
    for name, row in ROWS.items()
    if row.family == "random" and name not in CALM
    for number in range(len(list(samples(name))))
]


def leaves(made):
    return [made] if isinstance(made, taeda.Tensor) else [t for part in made for t in leaves(part)]


def run(sample, randomness):
    """The call inside of a map whose samples all have the same tensors."""
    whole = [t.expand(SIZE, *t.shape).clone() for t in sample.tensors()]

    def one(unused, *own):
        rest = iter(own)
        made = sample.map(lambda t: next(rest)).call()
        return list(made) if isinstance(made, tuple) else made

    taeda.manual_seed(0)
    return leaves(vmap(one, randomness=randomness)(taeda.zeros(SIZE), *whole))


@pytest.mark.parametrize(("name", "number"), CALLS)
def test_the_three_ways(name, number):
    sample = list(samples(name))[number]
    key = ROWS[name].schema.name
    calm = not random.draws(key, sample.args, sample.kwargs)
    if not calm:
        with pytest.raises(RuntimeError, match="randomness error mode"):
            run(sample, "error")
    taeda.manual_seed(0)
    plain = leaves(list(samples(name))[number].call())
    same, different = run(sample, "same"), run(sample, "different")
    for a, b, c in zip(plain, same, different, strict=True):
        assert b.shape == c.shape == (SIZE, *a.shape)
        assert a.dtype == b.dtype == c.dtype
        for k in range(SIZE):
            assert b[k].equal(a)  # what one call draws, for each
    assert all(c[0].equal(c[1]) for c in different) == calm
