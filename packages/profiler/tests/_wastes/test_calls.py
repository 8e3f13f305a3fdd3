"""Calls that cost more than their work: each has a program that triggers it, and the same mended."""

import pytest

from taeda.profiler._wastes import calls

GROWING = "grown = x[:1]\nfor i in range(1, 40):\n    grown = taeda.cat([grown, x[i:i + 1]])"

#: by the class of the waste: the parts that waste, and the parts that do not
PAIRS = {
    "SmallOperations": ({"body": "[x[i].sum() for i in range(128)]"}, {"body": "x.sum(1)"}),
    "GrowingConcatenation": (
        {"body": GROWING},
        {"body": "taeda.cat([x[i:i + 1] for i in range(1, 40)])"},
    ),
    "NumbersOfPython": (
        {"setup": "numbers = [0.5] * 2000", "body": "taeda.tensor(numbers)"},
        {"setup": "numbers = taeda.tensor([0.5] * 2000)", "body": "numbers.sum()"},
    ),
    "NumbersRead": (
        {"setup": "total = 0.0", "body": "total += loss.item()"},
        {"setup": "total = taeda.zeros(())", "body": "total += loss.detach()"},
    ),
}  # fmt: skip


def test_every_waste_has_its_pair():
    assert set(PAIRS) == set(calls.__all__)


@pytest.mark.parametrize("waste", PAIRS)
def test_a_program_that_wastes_hears_of_its_line(hears_of_its_line, waste):
    hears_of_its_line(waste, PAIRS[waste][0])


@pytest.mark.parametrize("waste", PAIRS)
def test_the_mended_program_hears_nothing(hears_nothing, waste):
    hears_nothing(PAIRS[waste][1])


#: loops of small work that are not made of operators
LOOPS = {
    "a model for each sample": "[model(x[i:i + 1]) for i in range(100)]",
    "a function of nn for each row": "[F.softmax(x[i], 0) for i in range(100)]",
}


@pytest.mark.parametrize("loop", LOOPS)
def test_a_loop_of_small_calls_hears_of_its_line(hears_of_its_line, loop):
    hears_of_its_line("SmallOperations", {"body": LOOPS[loop]})


def test_the_gain_of_reading_numbers_is_honest_on_the_cpu(hears_of_its_line):
    finding = hears_of_its_line("NumbersRead", PAIRS["NumbersRead"][0])
    assert finding.gain == "12 reads: little on the CPU, but on a device each lets it run dry"
