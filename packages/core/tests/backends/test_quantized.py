"""The engine of quantized operators is a name that programs set."""

from __future__ import annotations

import pytest

from taeda.backends import quantized


def test_every_engine_can_be_chosen(monkeypatch):
    monkeypatch.setattr(quantized, "engine", "x86")
    for name in quantized.supported_engines:
        quantized.engine = name
        assert quantized.engine == name


def test_another_name_is_refused_and_changes_nothing():
    before = quantized.engine
    with pytest.raises(RuntimeError, match="not a valid value for quantized engine"):
        quantized.engine = "foo"
    assert quantized.engine == before
