"""Texts of trees, of any depth, against Python's own reader and writer."""

from __future__ import annotations

import json
import sys
from random import Random

import pytest

from taeda._io.safetensors import FormatError
from taeda._io.tree.text import _Parser, _pieces, dump, parse


def tree(draw, depth):
    kind = draw.randrange(8 if depth else 6)
    if kind < 6:
        return [None, True, -3, 1.5e-7, 'a"\\\n€\ud800', ""][kind]
    parts = [tree(draw, depth - 1) for _ in range(draw.randrange(4))]
    return parts if kind == 6 else {f"k{i}\n": part for i, part in enumerate(parts)}


@pytest.mark.parametrize("seed", range(200))
def test_it_agrees_with_the_standard_library(seed):
    value = tree(Random(seed), 5)
    text = json.dumps(value, separators=(",", ":"))
    assert "".join(_pieces(value)) == text == dump(value)
    for given in (text, json.dumps(value, indent=2), json.dumps(value, ensure_ascii=False)):
        assert _Parser(given).tree() == value == parse(given)


NO_ARRAYS = ["[", "[1", "[1,", "[1,]", "[,1]", "]", "[1}", "[1 2]", "[NaN]", "[1]]", "[:]"]
NO_OBJECTS = ["{", '{"a"', '{"a":', '{"a":1', '{"a":1,}', "{1:2}", '{"a":1]', '{"a" 1}', "{,}"]
WRONG = [*NO_ARRAYS, *NO_OBJECTS, '{"a":1,"a":2}', "", "1 2", "nul", "01", "-", '"', '"\\x"', ":"]


@pytest.mark.parametrize("text", WRONG)
def test_what_is_no_json_is_refused(text):
    for read in (parse, lambda given: _Parser(given).tree()):
        with pytest.raises(FormatError):
            read(text)


def test_deep_ones_come_back_and_deeper_ones_are_refused():
    limit = sys.getrecursionlimit()
    value = "x"
    for _ in range(900):
        value = {"dict": [[1, value]]}
    sys.setrecursionlimit(300)
    try:
        text = dump(value)
        assert dump(parse(text)) == text
    finally:
        sys.setrecursionlimit(limit)
    with pytest.raises(FormatError, match="deeply"):
        parse("[" * 100_000)
