from __future__ import annotations

from pathlib import Path

from taeda._io.cache_place import cache_place


def test_who_names_the_folder(monkeypatch):
    monkeypatch.setenv("TAEDA_CACHE_DIR", "/one")
    monkeypatch.setenv("XDG_CACHE_HOME", "/two")
    monkeypatch.setenv("HOME", "/three")
    assert cache_place("chains") == Path("/one/chains")
    monkeypatch.delenv("TAEDA_CACHE_DIR")
    assert cache_place("chains") == Path("/two/taeda/chains")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_place("chains") == Path("/three/.cache/taeda/chains")
