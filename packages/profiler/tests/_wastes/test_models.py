"""Models written the slow way: each has a program that triggers it, and the same mended."""

import pytest

from taeda.profiler._wastes import models

EVALUATION = "model.eval()\nmodel(x)\nmodel.train()"

#: by the class of the waste: the parts that waste, and the parts that do not
PAIRS = {
    "HandwrittenAttention": (
        {
            "setup": "q = taeda.randn(2, 4, 32, 16)",
            "body": "F.softmax(q @ q.transpose(-2, -1) / 4, -1) @ q",
        },
        {
            "setup": "q = taeda.randn(2, 4, 32, 16)",
            "body": "F.scaled_dot_product_attention(q, q, q)",
        },
    ),
    "GraphsInEvaluation": (
        {"body": EVALUATION},
        {"body": EVALUATION.replace("model(x)", "with taeda.inference_mode():\n    model(x)")},
    ),
}


def test_every_waste_has_its_pair():
    assert set(PAIRS) == set(models.__all__)


@pytest.mark.parametrize("waste", PAIRS)
def test_a_program_that_wastes_hears_of_its_line(hears_of_its_line, waste):
    hears_of_its_line(waste, PAIRS[waste][0])


@pytest.mark.parametrize("waste", PAIRS)
def test_the_mended_program_hears_nothing(hears_nothing, waste):
    hears_nothing(PAIRS[waste][1])
