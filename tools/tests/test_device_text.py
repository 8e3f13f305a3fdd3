"""The session finds a difference, and names every loop of a table."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

TOOLS = Path(__file__).parents[1] / "cuda"


@pytest.fixture(scope="module")
def tool():
    spec = importlib.util.spec_from_file_location("device_text", TOOLS / "device_text.py")
    module = importlib.util.module_from_spec(spec)
    before = list(sys.path)
    try:
        spec.loader.exec_module(module)
        yield module
    finally:
        sys.path[:] = before


def test_every_line_of_a_table_has_a_loop(tool):
    symbols = {symbol for symbol, _, _ in tool.loops("unary")}
    lines = tool.entries("unary")
    assert len(lines) >= 108 and {symbol for _, _, symbol in lines} <= symbols


def test_one_changed_bit_is_seen_and_nans_are_equal(tool):
    wanted = np.array([1.0, np.nan, -0.0, np.inf], "f4")
    made = wanted.copy()
    made.view("u4")[1] ^= 1
    assert not len(tool.differing(made.view("u1"), wanted.view("u1"), "F32"))
    made.view("u4")[2] ^= 0x80000000
    assert tool.differing(made.view("u1"), wanted.view("u1"), "F32").tolist() == [2]


def test_a_difference_is_told_with_the_operands(tool):
    x = np.array([[1.5]], "f4").view("u1")
    line = tool.told(
        "exp F32 flat", np.array([0]), np.array([2], "f4"), np.array([3], "f4"), "F32", [x], ["F32"]
    )
    assert "exp F32 flat: 1 differ; at 0 of [[1.5]]" in line


def test_division_by_multiplication_is_exact(tool):
    for size in (1, 2, 3, 7, 819, 65537, 2**31 - 1):
        factor, shift = tool.magic(size)
        for index in (0, 1, size - 1, size, size + 1, 2**31 - 1):
            assert ((index * factor >> 32) + index) >> shift == index // size


def test_a_family_without_a_table_is_refused_with_the_way_out(tool, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["device_text.py", "--family", "reduce"])
    with pytest.raises(SystemExit) as stopped:
        tool.main()
    assert stopped.value.code == 2 and "--nvrtc" in capsys.readouterr().err
