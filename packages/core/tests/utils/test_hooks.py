"""Handles of hooks."""

from __future__ import annotations

import pickle
from collections import OrderedDict

from taeda.utils.hooks import RemovableHandle


class Table(OrderedDict):
    """A dict that can be referred to weakly, also after pickling."""


def test_remove_takes_the_hook_out_and_may_be_repeated():
    table = Table()
    handle = RemovableHandle(table)
    table[handle.id] = print
    handle.remove()
    handle.remove()
    assert not table


def test_leaving_the_block_removes_from_all_tables():
    first, second, third = Table(), Table(), Table()
    with RemovableHandle(first, extra_dict=[second, third]) as handle:
        for table in (first, second, third):
            table[handle.id] = print
    assert not first
    assert not second
    assert not third


def test_a_handle_keeps_no_table_alive():
    table = Table()
    handle = RemovableHandle(table)
    del table
    handle.remove()


def test_ids_differ():
    table = Table()
    assert RemovableHandle(table).id != RemovableHandle(table).id


def test_pickled_with_its_table():
    table = Table()
    handle = RemovableHandle(table)
    table[handle.id] = print
    again, copied = pickle.loads(pickle.dumps((table, handle)))
    copied.remove()
    assert not again
    assert table
