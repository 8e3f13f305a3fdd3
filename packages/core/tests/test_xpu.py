"""Devices of kind xpu: absent."""

import pytest

import taeda


def test_questions_about_absent_devices_have_answers():
    assert taeda.xpu.memory_allocated() == 0
    assert (taeda.xpu.get_arch_list(), taeda.mtia.memory_stats()) == ([], {})
    with taeda.xpu.device(None), taeda.xpu.device_of(taeda.ones(1)), taeda.mtia.device(-1):
        pass
    with pytest.raises(RuntimeError, match="needs a xpu device"), taeda.xpu.device(0):
        pass


@pytest.mark.parametrize("kind", ["xpu", "mtia"])
def test_streams_of_absent_devices_refuse(kind):
    module = getattr(taeda, kind)
    refused = pytest.raises(RuntimeError, match=rf"needs a {kind} device")
    for call in (
        *(module.Stream, module.Event, module.current_stream, lambda: module.set_stream(None)),
        *(lambda: module.stream(1), lambda: module.StreamContext(1)),
    ):
        with refused:
            call()
    with module.stream(None):
        pass
    for name in ("query", "synchronize", "record_event"):
        with refused:
            getattr(module.Stream, name)(object.__new__(module.Stream))
    for name in ("wait_event", "wait_stream"):
        with refused:
            getattr(module.Stream, name)(object.__new__(module.Stream), None)
    for name in ("record", "query", "synchronize", "wait"):
        with refused:
            getattr(module.Event, name)(object.__new__(module.Event))
    with refused:
        module.Event.elapsed_time(object.__new__(module.Event), None)
