"""Frames of C as text."""

import pytest

import taeda
from taeda.utils import get_cpp_backtrace


def test_frames_are_numbered_from_the_innermost():
    lines = get_cpp_backtrace().splitlines()
    assert len(lines) > 3
    assert [line.partition(":")[0] for line in lines] == [f"frame #{i}" for i in range(len(lines))]
    fewer = get_cpp_backtrace(frames_to_skip=2, maximum_number_of_frames=3).splitlines()
    assert len(fewer) == 3 and fewer[0].partition(": ")[2] == lines[2].partition(": ")[2]
    assert get_cpp_backtrace(maximum_number_of_frames=0) == ""


@pytest.mark.parametrize("name", ["frames_to_skip", "maximum_number_of_frames"])
def test_numbers_below_zero_are_refused(name):
    with pytest.raises(ValueError, match=f"{name} is -1"):
        get_cpp_backtrace(**{name: -1})
    assert taeda.utils.get_cpp_backtrace is get_cpp_backtrace
