"""Tables by the identity of tensors, and weak references to them."""

from __future__ import annotations

import copy
import gc

import pytest

import taeda
from taeda.utils.weak import TensorWeakRef, WeakIdKeyDictionary, WeakIdRef, WeakTensorKeyDictionary


def test_keys_by_identity():
    x, y = taeda.ones(2), taeda.ones(2)
    table = WeakTensorKeyDictionary({x: "x"})
    table[y] = "y"
    assert (table[x], table[y], len(table)) == ("x", "y", 2)
    assert x in table and taeda.ones(2) not in table and 3 not in table
    assert table.get(taeda.ones(2), "none") == "none"
    assert [k is x or k is y for k in table] == [True, True]
    del table[x]
    assert list(table.values()) == ["y"]
    with pytest.raises(KeyError):
        table[x]


def test_an_entry_goes_with_its_key():
    x, y = taeda.ones(2), taeda.ones(2)
    table = WeakIdKeyDictionary([(x, 1), (y, 2)])
    assert len(table.keyrefs()) == 2
    del x
    gc.collect()
    assert next(iter(table.values())) == 2 and len(table) == 1
    for _ in table:
        table.pop(y)
    assert len(table) == 0 and not table


def test_a_gradient_keeps_its_entry():
    x = taeda.ones(2, requires_grad=True)
    (x * 2).sum().backward()
    table = WeakIdKeyDictionary({x.grad: "kept"})
    gc.collect()
    assert table.get(x.grad) == "kept"


def test_copies_and_joins():
    x, y = taeda.ones(1), taeda.ones(1)
    table = WeakIdKeyDictionary({x: [1]})
    shallow, deep = copy.copy(table), copy.deepcopy(table)
    assert shallow[x] is table[x] and deep[x] == [1] and deep[x] is not table[x]
    assert table == shallow and table != WeakIdKeyDictionary({y: [1]})
    assert len(table | {y: [2]}) == 2
    table |= {y: [2]}
    assert table[y] == [2] and table.setdefault(x, 3) == [1]
    with pytest.raises(TypeError):
        hash(table)


def test_references():
    x, y = taeda.ones(1), taeda.ones(1)
    assert WeakIdRef(x) == WeakIdRef(x) != WeakIdRef(y) and hash(WeakIdRef(x)) == hash(WeakIdRef(x))
    assert WeakIdRef(x) != 3
    reference, plain = TensorWeakRef(x), WeakIdRef(y)
    assert reference() is x
    del x, y
    gc.collect()
    assert reference() is None and plain() is None and plain != WeakIdRef(reference)
    with pytest.raises(AssertionError, match="wants a tensor, not int"):
        TensorWeakRef(3)
