"""The operations on a plain dictionary that stores have in common."""

from __future__ import annotations

import pytest

from taeda.distributed import DistStoreError
from taeda.distributed._stores.table import Table


def test_counters_begin_at_nothing_and_refuse_words():
    table = Table()
    assert [table.add(b"n", step) for step in (5, -7)] == [5, -2]
    table.values[b"w"] = b"seven"
    with pytest.raises(DistStoreError, match="'w': its value b'seven' is no number"):
        table.add(b"w", 1)
    assert table.values[b"w"] == b"seven"


@pytest.mark.parametrize(
    ("old", "expected", "answer", "left"),
    [
        (None, b"", b"new", b"new"),
        (None, b"x", b"x", None),
        (b"x", b"x", b"new", b"new"),
        (b"x", b"y", b"x", b"x"),
        (b"x", b"", b"x", b"x"),
        (b"", b"", b"new", b"new"),
    ],
)
def test_compare_and_set(old, expected, answer, left):
    table = Table()
    if old is not None:
        table.values[b"k"] = old
    assert table.compare_set(b"k", expected, b"new") == answer
    assert table.values.get(b"k") == left


def test_queues_are_first_in_first_out_and_gone_when_empty():
    table = Table()
    assert table.pop(b"q") is None and table.queue_length(b"q") == 0 and not table.has(b"q")
    for value in (b"1", b"2"):
        table.push(b"q", value)
    assert table.has(b"q") and table.queue_length(b"q") == 2 and len(table) == 1
    assert [table.pop(b"q"), table.pop(b"q"), table.pop(b"q")] == [b"1", b"2", None]
    assert len(table) == 0


def test_deleting_takes_value_and_queue():
    table = Table()
    table.append(b"k", b"a")
    table.append(b"k", b"b")
    table.push(b"k", b"entry")
    assert table.values[b"k"] == b"ab"
    assert table.delete(b"k") is True and table.delete(b"k") is False
    assert not table.has(b"k")
