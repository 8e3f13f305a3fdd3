"""Lists of tensors by device and dtype."""

import pytest

import taeda
from taeda.utils._foreach_utils import _group_tensors_by_device_and_dtype as grouped

X = [taeda.ones(1), taeda.ones(2, dtype=taeda.float64), taeda.ones(3), taeda.ones(1, device="meta")]
CPU, META = taeda.device("cpu"), taeda.device("meta")


def test_others_go_where_the_first_goes():
    found = grouped([X, [X[0], None, X[2], X[3]], []], with_indices=True)
    assert list(found) == [(CPU, taeda.float32), (CPU, taeda.float64), (META, taeda.float32)]
    lists, places = found[CPU, taeda.float32]
    assert places == [0, 2]
    assert [[t is X[at] for t, at in zip(one, places, strict=True)] for one in lists[:2]] == [
        [True] * 2
    ] * 2
    assert lists[2] == []
    assert found[CPU, taeda.float64][0][1] == [None]
    assert grouped([X])[META, taeda.float32][1] == []


@pytest.mark.parametrize(
    ("lists", "fact"),
    [([], "has none"), ([[]], "has none"), ([X, X[:2]], r"got \[2\]"), ([[None]], "None at 0")],
)
def test_refusals(lists, fact):
    with pytest.raises(RuntimeError, match=fact):
        grouped(lists)
