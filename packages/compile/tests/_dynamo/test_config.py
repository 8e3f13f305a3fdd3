"""Limits of compile, as attributes."""

from __future__ import annotations

import pytest

import taeda


def test_the_limit_acts():
    config = taeda._dynamo.config
    before = config.recompile_limit
    config.cache_size_limit = 2
    try:
        f = taeda.compile(lambda x: x + 1)
        for n in range(1, 6):
            assert f(taeda.ones(n)).numel() == n
        assert sum(map(len, f.__taeda_compiled__.traces.values())) == 2
    finally:
        config.recompile_limit = before
    assert config.cache_size_limit == before


def test_what_nothing_acts_on_is_refused():
    with pytest.raises(AttributeError, match="recompile_limit"):
        taeda._dynamo.config.guard_nn_modules = True
    with pytest.raises(AttributeError, match="recompile_limit"):
        taeda._dynamo.config.verbose
    with pytest.raises(ValueError, match="positive int"):
        taeda._dynamo.config.recompile_limit = 0
