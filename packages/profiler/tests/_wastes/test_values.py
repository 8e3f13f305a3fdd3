"""Types and copies that nobody wanted: each has a program that triggers it, and the same mended."""

import pytest

from taeda.profiler._wastes import values

#: by the class of the waste: the parts that waste, and the parts that do not
PAIRS = {
    "Doubles": (
        {"setup": "big = taeda.randn(256, 256, dtype=taeda.float64)", "body": "big @ big"},
        {"setup": "big = taeda.randn(256, 256)", "body": "big @ big"},
    ),
    "Copies": (
        {"setup": "wide = taeda.randn(256, 256)", "body": "wide.t().contiguous()"},
        {"setup": "wide = taeda.randn(256, 256).t().contiguous()", "body": "wide.contiguous().sum(0)"},
    ),
    "BytesNormalised": (
        {"setup": "images = taeda.randint(0, 256, (64, 3, 32, 32), dtype=taeda.uint8)",
         "body": "((images.float() / 255) - 0.5).mean()"},
        {"setup": "images = taeda.randint(0, 256, (64, 3, 32, 32), dtype=taeda.uint8).float() / 255",
         "body": "images.mean()"},
    ),
}  # fmt: skip


def test_every_waste_has_its_pair():
    assert set(PAIRS) == set(values.__all__)


@pytest.mark.parametrize("waste", PAIRS)
def test_a_program_that_wastes_hears_of_its_line(hears_of_its_line, waste):
    hears_of_its_line(waste, PAIRS[waste][0])


@pytest.mark.parametrize("waste", PAIRS)
def test_the_mended_program_hears_nothing(hears_nothing, waste):
    hears_nothing(PAIRS[waste][1])


WIDE = "wide = taeda.randn(64, 8, 64).transpose(0, 2)"

#: ways in which a tensor out of order is copied, each in every step
COPIES = {
    "contiguous": "wide.contiguous()",
    "clone": "wide.clone(memory_format=taeda.contiguous_format)",
    "reshape": "wide.reshape(64, -1)",
    "flatten": "wide.flatten(1)",
    "ravel": "wide.ravel()",
    "a layer": "nn.Flatten()(wide)",
}


@pytest.mark.parametrize("way", COPIES)
def test_a_copy_in_every_step_hears_of_its_line(hears_of_its_line, way):
    hears_of_its_line("Copies", {"setup": WIDE, "body": COPIES[way]})


def test_a_tensor_of_its_step_may_be_copied(hears_nothing):
    hears_nothing({"body": "taeda.randn(64, 8, 64).transpose(0, 2).flatten(1)"})
