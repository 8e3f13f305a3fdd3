"""Every argument at every extreme: each kind of argument is changed, and what should not be raised
is found.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "hunt"))
import extremes
from fuzz_children import Range
from samples import ROWS, samples

import taeda


def said(name):
    sample = next(iter(samples(name)))
    return {text for text, _ in extremes.variations(sample)}


def test_each_kind_of_argument_is_changed():
    assert {"dim: -9223372036854775808", "self: no elements", "self: 64 dimensions"} <= said(
        "cumsum"
    )
    assert {"self: complex32", "self: uint16", "self: nan"} <= said("exp")
    assert {"alpha: nan", "alpha: True"} <= said("add.Tensor")
    assert {"stride: [9223372036854775807]", "padding: []"} <= said("conv2d")
    assert {"tensors: []", "tensors: meta all"} <= said("cat")


def test_tensors_get_enormous_sizes_and_strides_without_memory():
    sample = next(iter(samples("matmul")))
    made = dict(extremes.shapes(sample))
    assert {"all tensors: expanded in all", "first tensor: strides, none in 0"} <= made.keys()
    forms = dict(extremes.of_shape(sample.tensors()[0]))
    tensors = [make() for make in forms.values()]
    assert all(t.device.type == "meta" or t.numel() == 0 for t in tensors)
    assert any(t.numel() > 2**62 for t in tensors) and any(2**62 in t.stride() for t in tensors)
    assert {extremes.ended(call) for call in made.values()} <= {"result", "RuntimeError"}


def test_a_call_does_not_change_the_tensors_of_the_next():
    sample = next(iter(samples("fill_.Scalar" if "fill_.Scalar" in ROWS else "zero_")))
    before = [t.clone() for t in sample.tensors()]
    for _, call in extremes.variations(sample):
        extremes.ended(call)
    assert all(map(taeda.equal, sample.tensors(), before))


@pytest.mark.parametrize("error", [KeyError("x"), SystemError("x"), AssertionError("x")])
def test_what_is_not_documented_is_told(error):
    def breaks():
        raise error

    assert extremes.ended(breaks).startswith("undocumented")


@pytest.mark.filterwarnings("ignore")
def test_a_range_of_rows_is_called(monkeypatch):
    monkeypatch.setattr(extremes.resource, "setrlimit", lambda *_: None)
    ended = list(extremes.cases(Range(0, 0, 1, "^(relu|neg)$"), lambda *_: None))
    assert len(ended) > 20
    assert {kind for kind, _ in ended} >= {"result"}
    assert [finding for _, finding in ended if finding] == []
