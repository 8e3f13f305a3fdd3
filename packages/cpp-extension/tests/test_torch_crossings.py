"""Types beside Tensors and plain numbers that cross by torch's headers; tensors that get another size."""

from __future__ import annotations

from pathlib import Path

import pytest

import taeda
from taeda.utils.cpp_extension import load

SOURCES = Path(__file__).parent / "torch_sources"


@pytest.fixture(scope="module")
def crossings(tmp_path_factory):
    load(
        "torch_crossings",
        [SOURCES / "crossings.cpp"],
        extra_cflags=["-O0", "-Wall", "-Wextra", "-Werror"],
        build_directory=tmp_path_factory.mktemp("crossings"),
        is_python_module=False,
    )
    return taeda.ops.crossings


def test_lists_of_tensors_that_may_be_missing(crossings):
    x = taeda.ones(2)
    assert crossings.total([x, x], [None, x, None]).item() == 6
    assert crossings.total([x], []).item() == 2
    assert crossings.given([x, None, x]) == 2 and crossings.given([]) == 0
    assert crossings.sum([1, 2, 3]) == 6


@pytest.mark.parametrize("value", [True, 3, -(2**62), 2.5, 1 + 2j])
def test_numbers_of_every_kind(crossings, value):
    made = crossings.echoed(value)
    assert made == value and type(made) is type(value)
    assert crossings.turned(value) == complex(
        taeda.tensor(value, dtype=taeda.complex64).mul(1j).item()
    )
    assert crossings.times(taeda.ones(1), value).item() == value


@pytest.mark.parametrize(
    "text", ["one", "one two", "", " ", "3:a 4:", "d\u00e9j\u00e0 vu", "a" * 3000]
)
def test_texts(crossings, text):
    assert crossings.words(text) == text.split(" ")


def test_lists_of_several_kinds_at_once(crossings):
    assert crossings.mixed() == (["a", "b:c"], [True, False], [1, 2])


@pytest.mark.parametrize("size", [[6], [2, 2], [3, 2], [2, 4], [0], [], [1, 7, 1], [5, 0]])
@pytest.mark.parametrize("like", ["rows", "columns", "empty"])
def test_other_sizes(crossings, like, size):
    x = {
        "rows": taeda.arange(6.0).reshape(2, 3),
        "columns": taeda.arange(6.0).reshape(2, 3).t(),
        "empty": taeda.ones(0, 3),
    }[like]
    made, filled = crossings.resized(x, size)
    wanted = x.clone()
    wanted.resize_(size)
    kept = min(made.numel(), x.numel())
    assert made.shape == taeda.Size(size)
    assert made.flatten()[:kept].tolist() == wanted.flatten()[:kept].tolist()
    assert taeda.equal(filled, taeda.ones(x.shape))


def test_an_argument_keeps_its_size(crossings):
    x, out = taeda.ones(2), taeda.empty(2)
    assert crossings.twice(x, out=out) is out and out.tolist() == [2, 2]
    with pytest.raises(
        NotImplementedError, match=r"from \[0\] to \[2\]: an argument of the operator keeps"
    ):
        crossings.twice(x, out=taeda.empty(0))
    with pytest.raises(RuntimeError, match="negative dimension -1"):
        crossings.resized(x, [-1])


def test_errors_by_their_words(crossings):
    with pytest.raises(ValueError, match="a value"):
        crossings.throws(0)
    with pytest.raises(RuntimeError, match=r"an error$"):
        crossings.throws(1)
