"""Environment variables of this package."""

from __future__ import annotations

import pytest

from taeda.distributed import _settings
from taeda.distributed._settings import DebugLevel


@pytest.fixture(autouse=True)
def as_before(monkeypatch):
    monkeypatch.setattr(_settings, "_level", None)


def test_our_spelling_goes_before_the_other(monkeypatch):
    monkeypatch.delenv("TAEDA_X_TEST", raising=False)
    assert _settings.env("X_TEST", "neither") == "neither"
    monkeypatch.setenv("TORCH_X_TEST", "theirs")
    assert _settings.env("X_TEST") == "theirs"
    monkeypatch.setenv("TAEDA_X_TEST", "")
    assert _settings.env("X_TEST") == ""


@pytest.mark.parametrize("word", ["off", "INFO", "Detail"])
def test_levels_come_from_the_environment_once(word, monkeypatch):
    monkeypatch.setenv("TAEDA_DISTRIBUTED_DEBUG", word)
    assert _settings.get_debug_level() is DebugLevel[word.upper()]
    monkeypatch.setenv("TAEDA_DISTRIBUTED_DEBUG", "smoke")
    assert _settings.get_debug_level() is DebugLevel[word.upper()]
    with pytest.raises(ValueError, match="is 'SMOKE'; it takes one of OFF, INFO, DETAIL"):
        _settings.set_debug_level_from_env()


def test_levels_that_are_set_stay():
    _settings.set_debug_level(2)
    assert _settings.get_debug_level() is DebugLevel.DETAIL
    with pytest.raises(ValueError, match="7"):
        _settings.set_debug_level(7)
