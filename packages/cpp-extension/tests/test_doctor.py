"""The toolkit's part of `python -m taeda`."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from taeda.utils.cpp_extension import _doctor
from taeda.utils.cpp_extension._doctor import CHECKS, FACTS


@pytest.mark.parametrize("name", CHECKS)
def test_every_check_holds_and_says_what_it_found(name):
    assert CHECKS[name]() == "compiled and called"


def test_without_a_compiler_the_check_is_left_out(monkeypatch):
    monkeypatch.setenv("CXX", "no-such-compiler")
    assert CHECKS["extensions"]().startswith("left out: there is no C++ compiler here")


def test_a_wrong_answer_is_no_success(monkeypatch):
    wrong = SimpleNamespace(doubled=lambda x: x)
    monkeypatch.setattr(_doctor, "load_inline", lambda *args, **options: wrong)
    with pytest.raises(AssertionError):
        CHECKS["extensions"]()


def test_the_cache_is_where_the_environment_says(own_cache, monkeypatch):
    assert FACTS["cache of extensions"]() == f"{own_cache} (not made yet)"
    own_cache.mkdir()
    assert FACTS["cache of extensions"]() == str(own_cache)
    monkeypatch.delenv("TAEDA_EXTENSIONS_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(own_cache))
    assert FACTS["cache of extensions"]().startswith(str(own_cache / "taeda_extensions"))
