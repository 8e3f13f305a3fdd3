"""Derivatives of operators on lists of tensors."""

from __future__ import annotations

import math

import pytest
from derivative_inputs import distinct

import taeda
from taeda.autograd import gradcheck


@pytest.mark.parametrize("p", [1.0, 2.0, 3.0, math.inf])
def test_the_norm_of_all_tensors_together(p):
    a, b = distinct(2, 3), distinct(4, seed=1)
    assert gradcheck(lambda a, b: taeda.ops.aten._global_norm([a, b], p), (a, b))


def test_at_the_origin_the_gradient_is_zero():
    x = taeda.zeros(3, requires_grad=True)
    taeda.ops.aten._global_norm([x], 2.0).backward()
    assert x.grad.tolist() == [0, 0, 0]


def test_equal_extremes_share_it():
    a, b = taeda.tensor([3.0, 1.0], requires_grad=True), taeda.tensor([-3.0], requires_grad=True)
    taeda.ops.aten._global_norm([a, b], math.inf).backward()
    assert (a.grad.tolist(), b.grad.tolist()) == ([0.5, 0], [-0.5])


def test_counting_has_no_slope():
    x = taeda.ones(3, requires_grad=True)
    made = taeda.ops.aten._global_norm([x], 0.0)
    assert made.item() == 3
    made.backward()
    assert x.grad is None or not x.grad.any()
