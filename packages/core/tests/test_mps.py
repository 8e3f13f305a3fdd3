"""The rest of absent devices."""

import pytest

import taeda


def test_the_rest_of_absent_devices_refuses_or_answers():
    mps, mtia, xpu = taeda.mps, taeda.mtia, taeda.xpu
    assert mtia.memory.memory_stats() == {}
    assert not mps.profiler.is_capturing_metal() and not mps.profiler.is_metal_capture_enabled()
    for call in (
        *(mps.event.Event, mps.profiler.profile, mps.profiler.start, mps.profiler.stop),
        *(lambda: mps.profiler.metal_capture("x"), mtia.default_stream, mtia.snapshot),
        *(mps.current_allocated_memory, mps.driver_allocated_memory),
        *(mtia.record_memory_history, lambda: xpu.get_stream_from_external(0)),
    ):
        with pytest.raises(RuntimeError, match="needs a"):
            call()
