"""What a second call, which goes by a plan, may depend on: numbers, dtypes, modes, memory, classes."""

from __future__ import annotations

import pytest
from planned_calls import differences

import taeda
from taeda.distributed.tensor import _dispatch


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("ranks", "sizes"), [(2, {}), (3, {"n": 2, "m": 1, "k": 1})], ids=["parts", "empty parts"]
)
def test_a_call_gives_the_same_whatever_was_called_before(ranks, sizes):
    calls, found = differences(ranks, 1, rows="[a-dmp]", variants=3, **sizes)
    assert calls > 1000
    assert found == []


@pytest.mark.filterwarnings("ignore")
def test_the_test_finds_a_fact_that_is_left_out(monkeypatch):
    key = _dispatch._key

    def without_default(*args):
        before = taeda.get_default_dtype
        monkeypatch.setattr(taeda, "get_default_dtype", lambda: None)
        try:
            return key(*args)
        finally:
            monkeypatch.setattr(taeda, "get_default_dtype", before)

    monkeypatch.setattr(_dispatch, "_key", without_default)
    sizes = {"n": 2, "m": 1, "k": 1}
    assert differences(3, 1, rows="(exp|sqrt|sin|cos)", bases=3, variants=8, **sizes)[1]
