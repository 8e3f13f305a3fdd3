"""The uses of parts above the op table: a use follows from its number, and what should not be
raised is found.
"""

from __future__ import annotations

import sys
from pathlib import Path
from random import Random

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "hunt"))
import fuzz_parts
from fuzz_children import Range

import taeda


def quiet(*_):
    return None


@pytest.mark.filterwarnings("ignore")
def test_a_use_follows_from_its_number():
    found = fuzz_parts.parts(r"nn\.(Linear|LSTM)$|SGD|Normal$|DataLoader")
    assert len(found) >= 5
    once, again = (
        [fuzz_parts.attempt(found, Range(3, at, 1, ""), at, quiet) for at in range(20)]
        for _ in range(2)
    )
    assert once == again


@pytest.mark.filterwarnings("ignore")
def test_every_kind_of_part_comes_to_a_result():
    for pattern in (
        r"nn\.ReLU$",
        r"functional\.relu$",
        r"optim\.SGD",
        r"\.Normal$",
        "SequentialSampler",
    ):
        found = fuzz_parts.parts(pattern)
        ends = [fuzz_parts.attempt(found, Range(1, at, 1, ""), at, quiet)[0] for at in range(40)]
        assert "result" in ends, (pattern, ends)


@pytest.mark.parametrize(
    "error", [KeyError("x"), AttributeError("x"), AssertionError(), SystemError("x")]
)
def test_what_is_not_documented_is_told(error):
    def breaks(part, random, say):
        raise error

    outcome, _ = fuzz_parts.attempt([("part", None, breaks)], Range(0, 0, 1, ""), 0, quiet)
    assert outcome.startswith(f"undocumented: {type(error).__name__}")


def test_arguments_have_the_types_that_are_said():
    def function(size: int, rate: float, on: bool, x: taeda.Tensor, many: tuple[int, ...] = ()):
        """Takes one of each."""

    function.__annotations__ = {
        "size": "int",
        "rate": "float",
        "on": "bool",
        "x": "Tensor",
        "many": "tuple[int, ...]",
    }
    for seed in range(50):
        args, kwargs = fuzz_parts.bound(function, Random(seed))
        assert [type(a) for a in args[:3]] == [int, float, bool]
        assert len(args) == 4 and isinstance(args[3], taeda.Tensor)
        assert isinstance(kwargs.get("many", ()), tuple)
