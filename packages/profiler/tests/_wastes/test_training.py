"""Steps of training: each has a program that triggers it, and the same mended."""

import pytest

from taeda.profiler._wastes import training

#: by the class of the waste: the parts that waste, and the parts that do not
PAIRS = {
    "KeptGradients": ({"clear": "pass"}, {"clear": "model.zero_grad()"}),
    "FrozenParts": (
        {"setup": "frozen = nn.Linear(32, 32)", "inputs": "frozen(x)"},
        {"setup": "frozen = nn.Linear(32, 32).requires_grad_(False)", "inputs": "frozen(x)"},
    ),
    "PlainOptimizers": ({"form": ", foreach=False, fused=False"}, {"form": ", lr=0.01"}),
}  # fmt: skip


def test_every_waste_has_its_pair():
    assert set(PAIRS) == set(training.__all__)


@pytest.mark.parametrize("waste", PAIRS)
def test_a_program_that_wastes_hears_of_its_line(hears_of_its_line, waste):
    hears_of_its_line(waste, PAIRS[waste][0])


@pytest.mark.parametrize("waste", PAIRS)
def test_the_mended_program_hears_nothing(hears_nothing, waste):
    hears_nothing(PAIRS[waste][1])


ADVICE = {
    "foreach=False, fused=False": "Leave its foreach and fused unset",
    "": "Where Adam, AdamW or SGD",
}


@pytest.mark.parametrize("form", ADVICE)
def test_the_advice_is_one_that_the_optimizer_has(hears_of_its_line, form):
    kind = "Adam" if form else "RMSprop"
    setup = f"optimizer = taeda.optim.{kind}(model.parameters(), {form})"
    assert ADVICE[form] in hears_of_its_line("PlainOptimizers", {"setup": setup}).text
