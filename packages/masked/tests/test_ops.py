"""The path of PyTorch's own help."""

import taeda
from taeda.masked import _ops


def test_its_functions_are_those_of_the_package():
    assert {getattr(_ops, name) for name in _ops.__all__} == {
        getattr(taeda.masked, name) for name in _ops.__all__
    }
