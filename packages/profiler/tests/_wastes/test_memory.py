"""Memory that grows: each has a program that triggers it, and the same mended."""

import pytest

from taeda.profiler._wastes import memory

#: by the class of the waste: the parts that waste, and the parts that do not
PAIRS = {
    "RetainedGraphs": (
        {"setup": "kept = []", "body": "kept.append(model(x).square().mean())"},
        {"setup": "kept = []", "body": "kept.append(model(x).square().mean().detach())"},
    ),
}


def test_every_waste_has_its_pair():
    assert set(PAIRS) == set(memory.__all__)


@pytest.mark.parametrize("waste", PAIRS)
def test_a_program_that_wastes_hears_of_its_line(hears_of_its_line, waste):
    hears_of_its_line(waste, PAIRS[waste][0])


@pytest.mark.parametrize("waste", PAIRS)
def test_the_mended_program_hears_nothing(hears_nothing, waste):
    hears_nothing(PAIRS[waste][1])


HOLDERS = {
    "list": ("kept = []", "kept.append(model(x).square().mean())", "kept ({file}:15) holds"),
    "dict": ("kept = {}", "kept[step] = model(x).square().mean()", "kept ({file}:15) holds"),
    "sum": ("kept = 0", "kept = kept + model(x).square().mean()", "kept ({file}:15) holds"),
    "augmented": ("kept = 0", "kept += model(x).square().mean()", "kept ({file}:15) holds"),
}


@pytest.mark.parametrize("holder", HOLDERS)
def test_the_holder_of_graphs_is_named_with_its_line(hears_of_its_line, tmp_path, holder):
    setup, body, words = HOLDERS[holder]
    finding = hears_of_its_line("RetainedGraphs", {"setup": setup, "body": body})
    assert words.format(file=tmp_path / "script.py") in finding.text
