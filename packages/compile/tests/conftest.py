from __future__ import annotations

import itertools

import pytest

from taeda.library import Library

_numbers = itertools.count()


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory):
    """Chains that tests compile are kept apart from those of the user."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TAEDA_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture
def space():
    """A namespace of the test's own, for operators that it defines."""
    library = Library(f"tested{next(_numbers)}", "DEF")
    yield library
    library._destroy()
