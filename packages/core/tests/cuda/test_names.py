"""Modules of `taeda.cuda` under the names that programs import."""

from __future__ import annotations

import pytest

import taeda


def test_modules_have_what_the_package_has():
    from taeda.cuda import profiler, random, streams

    assert random.manual_seed is taeda.cuda.manual_seed
    assert streams.Event is taeda.cuda.Event and streams.Stream is taeda.cuda.Stream
    assert taeda.cuda.profiler is profiler


@pytest.mark.skipif(taeda.cuda.is_available(), reason="says what is refused without a device")
def test_a_profile_without_a_device_is_refused():
    from taeda.cuda import profiler

    for call in (profiler.start, profiler.stop, profiler.profile().__enter__):
        with pytest.raises(RuntimeError, match="device 'cuda' is not available"):
            call()
