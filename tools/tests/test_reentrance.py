"""The arguments that change others do so, and a call follows from its number."""

from __future__ import annotations

import operator
import sys
from collections import Counter
from pathlib import Path
from random import Random

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "hunt"))
import reentrance
from fuzz import chosen_rows
from fuzz_children import Range

import taeda

TYPES = reentrance.armed_types()


@pytest.mark.parametrize(
    ("value", "ask"),
    [
        (3, operator.index),
        (3, float),
        (2.5, lambda armed: armed.item()),
        ([], len),
        ([], list),
        (taeda.ones(2), lambda armed: armed + 1),
        (taeda.ones(2), lambda armed: armed.__del__()),
        (taeda.ones(2, requires_grad=True), lambda armed: armed.sum().backward()),
    ],
)
def test_who_is_asked_acts(value, ask):
    done = []
    for seed in range(20):  # a tensor is armed in one of three ways
        name, armed = reentrance.arm(value, lambda *_: done.append(1), Random(seed), TYPES)
        assert name
        with_what = {"Last": "__del__", "Own": "__torch_function__"}.get(name)
        if with_what is None or hasattr(armed, with_what):
            try:
                ask(armed)
            except AttributeError:
                continue  # another of the three ways
    assert done


def facts(x):
    nbytes = x.untyped_storage().nbytes()
    return x.shape, x.stride(), x.requires_grad, x.data_ptr(), x.is_shared(), nbytes, x.tolist()


def test_every_change_of_a_tensor_and_of_a_list_is_one():
    random = Random(0)
    for at in range(len(reentrance.changes(taeda.ones(2, 3)))):
        x = taeda.ones(2, 3)
        name, change = reentrance.changes(x)[at]
        before = facts(x)
        change()
        assert name == "grad" or facts(x) != before, name
    for at in range(len(reentrance.disturb([1, 2], random))):
        items = [1, 2]
        reentrance.disturb(items, random)[at][1]()
        assert items != [1, 2]


@pytest.mark.filterwarnings("ignore")
def test_a_call_follows_from_its_number():
    rows, given, told = chosen_rows("^(cat|sum)$"), Range(5, 0, 12, "^(cat|sum)$"), []
    for _ in range(2):
        for number in range(12):
            reentrance.make(rows, given, number, lambda number, text: told.append((number, text)))
    assert told[:12] == told[12:]
    assert any("armed" in text and "Index" in text for _, text in told)


@pytest.mark.filterwarnings("ignore")
def test_which_armed_arguments_acted_is_known():
    rows, given, acted = chosen_rows("^(cat|sum)$"), Range(5, 0, 60, "^(cat|sum)$"), set()
    for number in range(60):
        acted |= set(reentrance.make(rows, given, number, lambda *_: None)[1])
    assert {"Index", "Own", "Items", "Last", "thread"} <= acted


def test_an_operation_that_is_never_reached_is_a_fault_when_it_had_calls_enough(
    capsys, monkeypatch
):
    told = Counter({"a\tcalls": 20, "a\tOwn": 1, "b\tcalls": 20, "c\tcalls": 3})
    assert reentrance.unreached(reentrance.table(told)) == ["b"]
    assert not reentrance.judged(told, every=True)
    assert "never reached: b (20 calls)" in capsys.readouterr().out
    monkeypatch.setitem(reentrance.UNREACHED, "b", "takes nothing")
    assert reentrance.judged(told, every=False)
