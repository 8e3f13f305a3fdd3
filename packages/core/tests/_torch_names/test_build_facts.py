"""What programs ask about how the library was built."""

from __future__ import annotations

import pytest

import taeda
from taeda._torch_names import build_facts


def test_answers():
    assert build_facts.compiled_with_cxx11_abi() is True
    assert build_facts.get_device_module() is taeda.cpu
    for kind in ("cpu", "cuda", "mps", "xpu"):
        assert build_facts.get_device_module(kind) is getattr(taeda, kind)
    assert build_facts.get_device_module(taeda.device("cuda:1")) is taeda.cuda
    with pytest.raises(RuntimeError, match="Device 'meta' does not have a corresponding module"):
        build_facts.get_device_module("meta")
