"""A result shares memory with an argument only where the schema, or this list, says so: also where
the numbers among the arguments leave nothing to do.
"""

from __future__ import annotations

import itertools

import pytest
from samples import ROWS, function, samples, tensors

import taeda

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")  # of degrees of freedom, of one
#: rows of which a result may be an argument, or a view of one, though their schema does not say so
MAY: frozenset[str] = frozenset()
_MOST = 40  # variations of a sample


def variations(sample):
    """The call with its numbers as they are, and with each of them 0, 1 or gone."""
    names = list(sample.kwargs)
    given = [*sample.args, *sample.kwargs.values()]
    for chosen in itertools.islice(itertools.product(*map(neutral, given)), _MOST):
        count = len(sample.args)
        yield chosen[:count], dict(zip(names, chosen[count:], strict=True))


def neutral(value):
    if isinstance(value, bool):
        return [value, not value]
    if isinstance(value, (int, float)):
        return [value, type(value)(0), type(value)(1)]
    if isinstance(value, (list, tuple)) and value and set(map(type, value)) <= {int}:
        kind = type(value)
        return [value, kind([0] * len(value)), kind([1] * len(value)), kind()]
    return [value]


def test_a_chain_of_one_matrix_is_a_copy():
    x = taeda.ones(2, 2)
    assert not places(taeda.chain_matmul(x)) & places(x)


def places(value):
    return {t.untyped_storage().data_ptr() for t in tensors(value) if t.numel()}


def says_so(row):
    return row.schema.name in MAY or "(a" in str(row.schema)


@pytest.mark.parametrize("sizes", [{}, {"n": 1, "m": 1, "k": 1}], ids=["usual", "of one"])
@pytest.mark.parametrize("name", [name for name, row in ROWS.items() if not says_so(row)])
def test_results_have_memory_of_their_own(name, sizes):
    row = ROWS[name]
    try:
        calls = list(samples(row, **sizes))
    except RuntimeError:
        assert sizes  # a window that is larger than one
        return
    for sample in calls:
        for args, kwargs in variations(sample):
            try:
                made = function(row)(*args, **kwargs)
            except (RuntimeError, ValueError, TypeError, IndexError, NotImplementedError):
                continue  # what the numbers may not be
            shared = places(made) & places((args, kwargs))
            assert not shared, f"{sample} with {args} {kwargs}"
            assert not any(
                made is given for given in (*args, *kwargs.values()) if taeda.is_tensor(made)
            )
