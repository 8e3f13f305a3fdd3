"""What counts as a difference between two builds, on encoded values made for the purpose."""

from __future__ import annotations

import sys

import by_path
import numpy as np
import pytest

import taeda

same_as = by_path.load("tools/hunt/same_as.py")


def tensor(values, dtype="float32"):
    return same_as.encode(taeda.tensor(values, dtype=getattr(taeda, dtype)))


def raw(words, dtype):
    return ("tensor", dtype, (len(words),), np.array(words, "u4").tobytes())


@pytest.mark.parametrize(
    "value",
    [
        1,
        2.5,
        None,
        "text",
        True,
        1j,
        [1, (2.0, None)],
        {"a": [1]},
        taeda.float16,
        taeda.device("meta"),
        taeda.strided,
    ],
)
def test_plain_values_come_back(value):
    assert same_as.decode(same_as.encode(value)) == value


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "complex64", "int64", "bool", "uint8"])
@pytest.mark.parametrize("shape", [(), (0, 3), (2, 3)])
def test_tensors_come_back(dtype, shape):
    x = taeda.ones(shape, dtype=getattr(taeda, dtype))
    back = same_as.decode(same_as.encode(x.mT if x.dim() > 1 else x))
    assert back.dtype is x.dtype and taeda.equal(back, x.mT if x.dim() > 1 else x)


SAME = [
    (tensor([1.0]), tensor([1.0])),
    (raw([0x7FC00000], "float32"), raw([0xFFC00001], "float32")),  # NaN and NaN
    (("list", [tensor([1.0])]), ("tuple", [tensor([1.0])])),
    (("plain", float("nan")), ("plain", float("nan"))),
]
OTHER = [
    (tensor([0.0]), tensor([-0.0])),
    (tensor([1.0]), tensor([[1.0]])),
    (tensor([1.0]), tensor([1.0], "float64")),
    (tensor([1], "int64"), tensor([2], "int64")),
    (("list", [tensor([1.0])]), ("tuple", [tensor([2.0])])),
    (("refusal", "TypeError"), ("refusal", "ValueError")),
    (("refusal", "TypeError"), tensor([1.0])),
    (("plain", 1), ("plain", 2)),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_what_counts_as_the_same(one, other):
    assert not same_as.differ(one, other)


@pytest.mark.parametrize(("one", "other"), OTHER)
def test_what_differs(one, other):
    assert same_as.differ(one, other)


def test_a_build_is_the_same_as_itself_and_its_refusals_count():
    named = list(
        same_as.calls_of(("float32", "bool"), r"^(add\.Tensor|rand|split\.Tensor|linspace)$")
    )
    calls = [call for _, call in named]
    ones = same_as.run(sys.executable, calls)
    assert same_as.compare([name for name, _ in named], ones, ones) == ([], {})
    changed = [(("refusal", "TypeError"), *rest) for _, *rest in ones]
    wrong, _ = same_as.compare([name for name, _ in named], changed, ones)
    assert len(wrong) == len(calls) > 4
