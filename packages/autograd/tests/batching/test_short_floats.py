"""vmap of sums and products of short floats rounds as often as one sample's call does: once."""

from __future__ import annotations

import warnings

import pytest
from samples import samples
from vmap_of_rows import BY_RULES, PATTERNS, looped, mapped, names_of

import taeda
from taeda.autograd.batching import NeedsValue

EPSILON = {taeda.bfloat16: 2.0**-8, taeda.float16: 2.0**-11}
FAMILIES = [*BY_RULES["conv"], *BY_RULES["matmul"], *BY_RULES["norm"], *BY_RULES["loss"]]


def _apart(made, wanted):
    if isinstance(wanted, (tuple, list)):
        return any(_apart(a, b) for a, b in zip(made, wanted, strict=True))
    if made.dtype is not wanted.dtype:
        return True
    width = 2.1 * EPSILON.get(wanted.dtype, 1e-5)
    return not taeda.allclose(made.double(), wanted.double(), rtol=width, atol=1e-6, equal_nan=True)


def _faults(name, dtype):
    try:
        variants = [list(samples(name, dtype, seed=k, m=4, n=3, k=2)) for k in range(3)]
    except (RuntimeError, TypeError, NotImplementedError):
        return  # not a row for these
    for alike in zip(*variants, strict=True):
        count = len(alike[0].tensors())
        if not count or len({v.text for v in alike}) > 1:
            continue
        for pattern, dim in PATTERNS.items():
            dims = [dim(k, count) for k in range(count)]
            try:
                wanted = looped(list(alike), dims)
                made = None if wanted is None else mapped(list(alike), dims)
            except (NeedsValue, RuntimeError, NotImplementedError, TypeError, ValueError):
                continue  # what is refused is the subject of other tests
            if made is not None and _apart(made, wanted):
                yield f"{alike[0]} with {pattern}"


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize("family", FAMILIES)
def test_a_mapped_call_is_rounded_as_often_as_a_call_alone(family, dtype):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = [fault for name in names_of(family) for fault in _faults(name, dtype)]
    assert not found, "\n".join(found)


def test_running_statistics_of_short_floats_are_kept():
    x = taeda.randn(2, 4, 3).bfloat16()
    means, spreads = taeda.zeros(2, 3).bfloat16(), taeda.ones(2, 3).bfloat16()
    alone = [(means[i].clone(), spreads[i].clone()) for i in range(2)]
    norm = taeda.nn.functional.batch_norm
    made = taeda.func.vmap(lambda x, m, v: norm(x, m, v, training=True))(x, means, spreads)
    for i, (mean, spread) in enumerate(alone):
        taeda.testing.assert_close(made[i], norm(x[i], mean, spread, training=True))
        taeda.testing.assert_close(means[i], mean)
        taeda.testing.assert_close(spreads[i], spread)
