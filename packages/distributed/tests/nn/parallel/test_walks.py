"""Which tensors a module gives back."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from functools import partial
from types import SimpleNamespace

import pytest

import taeda
from taeda import nn
from taeda.nn.parallel._walks import tensors_in, watch_outputs

T = taeda.ones(2)


@dataclass
class Data:
    out: object


class Slots:
    __slots__ = ("empty", "out")

    def __init__(self) -> None:
        self.out = T

    def method(self) -> None:
        """Its object holds the tensor."""


FORMS = [
    T, [T], (1, T), {T}, frozenset([T]), deque([[T]]), {"a": {"b": T}}, Data([T]),
    SimpleNamespace(out=T), Slots(), Slots().method, (lambda t: lambda: t)(T), partial(print, T),
    partial(print, out=T), type("List", (list,), {})([T]),
]  # fmt: skip


@pytest.mark.parametrize("form", FORMS, ids=lambda form: type(form).__name__)
def test_tensors_are_found(form):
    assert [one is T for one in tensors_in(form)] == [True]


def test_modules_and_cycles_are_not_searched():
    held = [nn.Linear(1, 1), taeda, Data, "word", None]
    held.append(held)
    assert tensors_in(held) == []


class Teller:
    def __init__(self) -> None:
        self.told: list[bool] = []

    def tell(self, output) -> None:
        self.told.append(output.averages)


def test_a_backward_that_comes_by_an_output_is_told():
    x, teller = taeda.ones(2, requires_grad=True), Teller()
    y, z = x * 2, x * 3
    assert len(watch_outputs([y, z, y], True, teller.tell)) == 2
    assert len(watch_outputs(x, True, teller.tell)) == 0  # a leaf was not computed
    watch_outputs(z, False, teller.tell)
    y.sum().backward()
    assert teller.told == [True]
    z.sum().backward(retain_graph=True)
    assert teller.told == [True, True, False]
    del teller
    z.sum().backward()
