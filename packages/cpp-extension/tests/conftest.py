"""Every test builds in a folder of its own."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("TAEDA_EXTENSIONS_DIR", str(tmp_path / "cache"))
    for name in ("MAX_JOBS", "CXX"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "cache"
