"""Types beside Tensors and plain numbers that cross by torch's headers; tensors that get another size."""

from __future__ import annotations

from pathlib import Path

import pytest

import taeda
from taeda.utils.cpp_extension import load

SOURCES = Path(__file__).parent / "torch_sources"


@pytest.fixture(scope="module")
def zoo(tmp_path_factory):
    load(
        "torch_crossings",
        [SOURCES / "crossings.cpp"],
        extra_cflags=["-O0", "-Wall", "-Wextra", "-Werror"],
        build_directory=tmp_path_factory.mktemp("crossings"),
        is_python_module=False,
    )
    return taeda.ops.zoo


def test_lists_of_tensors_that_may_be_missing(zoo):
    x = taeda.ones(2)
    assert zoo.total([x, x], [None, x, None]).item() == 6
    assert zoo.total([x], []).item() == 2
    assert zoo.given([x, None, x]) == 2 and zoo.given([]) == 0
    assert zoo.sum([1, 2, 3]) == 6


@pytest.mark.parametrize("value", [True, 3, -(2**62), 2.5, 1 + 2j])
def test_numbers_of_every_kind(zoo, value):
    made = zoo.echoed(value)
    assert made == value and type(made) is type(value)
    assert zoo.turned(value) == complex(taeda.tensor(value, dtype=taeda.complex64).mul(1j).item())
    assert zoo.times(taeda.ones(1), value).item() == value


@pytest.mark.parametrize(
    "text", ["one", "one two", "", " ", "3:a 4:", "d\u00e9j\u00e0 vu", "a" * 3000]
)
def test_texts(zoo, text):
    assert zoo.words(text) == text.split(" ")


def test_lists_of_several_kinds_at_once(zoo):
    assert zoo.mixed() == (["a", "b:c"], [True, False], [1, 2])


@pytest.mark.parametrize("size", [[6], [2, 2], [3, 2], [2, 4], [0], [], [1, 7, 1], [5, 0]])
@pytest.mark.parametrize("like", ["rows", "columns", "empty"])
def test_other_sizes(zoo, like, size):
    x = {
        "rows": taeda.arange(6.0).reshape(2, 3),
        "columns": taeda.arange(6.0).reshape(2, 3).t(),
        "empty": taeda.ones(0, 3),
    }[like]
    made, filled = zoo.resized(x, size)
    wanted = x.clone()
    wanted.resize_(size)
    kept = min(made.numel(), x.numel())
    assert made.shape == taeda.Size(size)
    assert made.flatten()[:kept].tolist() == wanted.flatten()[:kept].tolist()
    assert taeda.equal(filled, taeda.ones(x.shape))


def test_an_argument_keeps_its_size(zoo):
    x, out = taeda.ones(2), taeda.empty(2)
    assert zoo.twice(x, out=out) is out and out.tolist() == [2, 2]
    with pytest.raises(
        NotImplementedError, match=r"from \[0\] to \[2\]: an argument of the operator keeps"
    ):
        zoo.twice(x, out=taeda.empty(0))
    with pytest.raises(RuntimeError, match="negative dimension -1"):
        zoo.resized(x, [-1])


def test_errors_by_their_words(zoo):
    with pytest.raises(ValueError, match="a value"):
        zoo.throws(0)
    with pytest.raises(RuntimeError, match=r"an error$"):
        zoo.throws(1)
