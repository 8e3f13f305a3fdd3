"""Ways of working that may be chosen: what converting and loading do to parameters."""

from __future__ import annotations

import pytest

import taeda
from taeda import __future__ as chosen

NAMES = ("overwrite", "swap")


@pytest.fixture(autouse=True)
def as_before(monkeypatch):
    monkeypatch.setattr(chosen, "_chosen", dict.fromkeys(NAMES, False))


@pytest.mark.parametrize("name", NAMES)
def test_what_is_set_is_kept(name):
    get = getattr(chosen, f"get_{name}_module_params_on_conversion")
    put = getattr(chosen, f"set_{name}_module_params_on_conversion")
    assert get() is False
    put(True)
    assert get() is True
    other = NAMES[1 - NAMES.index(name)]
    assert getattr(chosen, f"get_{other}_module_params_on_conversion")() is False
    assert taeda.__future__ is chosen
