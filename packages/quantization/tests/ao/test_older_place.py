"""The modules of `taeda.ao.nn` at their older place."""

import importlib

import pytest

import taeda
from taeda import nn


@pytest.mark.parametrize("name", ["quantized", "quantizable", "qat", "intrinsic"])
def test_what_a_package_gives_is_the_same_at_both_places(name):
    older, today = getattr(nn, name), getattr(taeda.ao.nn, name)
    assert today.__all__
    for entry in today.__all__:
        assert getattr(older, entry) is getattr(today, entry)


@pytest.mark.parametrize(
    "path",
    [
        "quantized.dynamic",
        "quantized.functional",
        "quantized.modules.linear",
        "quantized.dynamic.modules.rnn",
        "qat.dynamic",
        "intrinsic.qat",
        "intrinsic.quantized.dynamic",
        "intrinsic.modules.fused",
    ],
)
def test_modules_below_are_found_at_both_places(path):
    older = importlib.import_module(f"taeda.nn.{path}")
    assert older is importlib.import_module(f"taeda.ao.nn.{path}")
    found = nn
    for part in path.split("."):
        found = getattr(found, part)
    assert found is older


def test_no_other_module_is_there():
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("taeda.nn.quantized.nothing")
