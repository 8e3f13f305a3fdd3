"""Reductions and the names of backends."""

from __future__ import annotations

import pytest

from taeda.distributed import Backend, ReduceOp, reduce_op, supports_complex


def test_a_reduction_is_its_kind():
    assert ReduceOp.SUM == ReduceOp.RedOpType.SUM == ReduceOp(0)
    assert ReduceOp.SUM != ReduceOp.MAX and ReduceOp.SUM != "SUM"
    assert {ReduceOp.SUM: 1}[ReduceOp(ReduceOp.SUM)] == 1
    assert repr(ReduceOp.AVG) == "<ReduceOp.AVG>" and ReduceOp.BXOR.name == "BXOR"
    assert reduce_op.PRODUCT is ReduceOp.PRODUCT
    factor = ReduceOp.premul_sum(3)
    assert factor == ReduceOp.PREMUL_SUM and factor.factor == 3
    with pytest.raises(ValueError, match="17"):
        ReduceOp(17)


def test_orders_and_bits_have_no_meaning_for_complex_numbers():
    named = {kind.name for kind in ReduceOp.RedOpType if supports_complex(ReduceOp(kind))}
    assert named == {"SUM", "AVG", "PRODUCT", "PREMUL_SUM"}


def test_names_of_backends():
    assert Backend("GLOO") == "gloo" == Backend.GLOO
    for name, words in (("smoke", "unknown backend 'smoke'; there are 'mpi'"), (3, "not by int")):
        with pytest.raises(ValueError, match=words):
            Backend(name)


def test_a_backend_of_ones_own(monkeypatch):
    monkeypatch.setattr(Backend, "backend_list", [*Backend.backend_list])
    monkeypatch.setattr(Backend, "_makers", {})
    Backend.register_backend("Mine", print, devices="cpu")
    try:
        assert Backend("MINE") == "mine" == Backend.MINE
        assert Backend._makers == {"mine": (print, False, "cpu")}
        with pytest.raises(RuntimeError, match="'mine' is registered already"):
            Backend.register_backend("mine", print)
        with pytest.raises(TypeError, match="callable, not int"):
            Backend.register_backend("other", 3)
    finally:
        del Backend.MINE
