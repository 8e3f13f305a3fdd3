"""Tensors of one run with the history of another."""

from __future__ import annotations

import taeda
from taeda.compiler._replay.relinked import relinked


def test_derivatives_go_on_behind_the_ends_as_often_as_asked():
    w = taeda.randn(3, requires_grad=True)
    stand_in, own = w * 1, w * 1  # of the run again, and of the caller
    (value,) = relinked([stand_in.sin()], [stand_in], [own])
    expected = own.sin()
    for _ in range(3):
        assert value.allclose(expected)
        assert value.requires_grad
        (value,) = taeda.autograd.grad(value.sum(), own, create_graph=True)
        (expected,) = taeda.autograd.grad(expected.sum(), own, create_graph=True)
    (found,) = taeda.autograd.grad(value.sum(), w, retain_graph=True)
    assert found.allclose(taeda.autograd.grad(expected.sum(), w)[0])


def test_what_has_no_history_stays():
    plain = taeda.ones(2)
    assert relinked([plain], [], [])[0] is plain


def test_a_tensor_may_be_an_end_twice():
    w = taeda.ones(3, requires_grad=True)
    (value,) = relinked([w * w], [w, w], [w, w])
    (found,) = taeda.autograd.grad(value.sum(), w)
    assert found.tolist() == [2, 2, 2]
