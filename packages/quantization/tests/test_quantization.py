"""The package, and the old names of eager mode in it."""

from __future__ import annotations

import pytest

import taeda


def test_old_names_are_those_of_ao():
    for name in ("quantize_dynamic", "prepare", "convert", "QuantStub", "default_qconfig"):
        assert getattr(taeda.quantization, name) is getattr(taeda.ao.quantization, name)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = taeda.quantization.nothing
