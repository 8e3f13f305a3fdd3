from __future__ import annotations

import pickle

import pytest

import taeda

aten = taeda.ops.aten


def test_they_ask_the_tensor():
    x = taeda.ones(2, 3, 4)[:, 1:]
    assert aten.sym_size.int(x, 1) == aten.sym_size(x, 1) == 2
    assert aten.sym_size.default(x) == aten.sym_size(x) == x.shape
    assert aten.sym_stride.int(x, 0) == 12 and aten.sym_stride(x) == (12, 4, 1)
    assert aten.sym_numel.default(x) == aten.sym_numel(x) == 16
    assert aten.sym_storage_offset(x) == 4
    with pytest.raises(TypeError, match=r"aten\.sym_numel|positional"):
        aten.sym_numel(x, 1)
    with pytest.raises(IndexError):
        aten.sym_size.int(x, 3)


def test_names_and_pickles():
    assert str(aten.sym_size.int) == "aten.sym_size.int" and str(aten.sym_size) == "aten.sym_size"
    assert aten.sym_size.overloads() == ["default", "int"]
    assert aten.sym_size.int is aten.sym_size.int
    for operator in (aten.sym_size, aten.sym_size.int, aten.sym_numel.default):
        assert pickle.loads(pickle.dumps(operator)) is operator
    with pytest.raises(AttributeError, match="sym_weight"):
        aten.sym_weight


def test_pin_memory_asks_the_tensor():
    class Asked(taeda.Tensor):
        def pin_memory(self, device=None):
            return device

    x = taeda.ones(2).as_subclass(Asked)
    pin = taeda.ops.aten._pin_memory
    assert pin(x) is None and pin.default(x, "cuda") == "cuda" and pin.overloads() == ["default"]
