from __future__ import annotations

import pytest


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory):
    """Chains that tests compile are kept apart from those of the user."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TAEDA_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        yield
