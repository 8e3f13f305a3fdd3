"""The cpu as a device with streams."""

import taeda


def test_the_cpu_has_one_device_and_one_stream_at_a_time():
    cpu = taeda.cpu
    assert (cpu.is_available(), cpu.device_count(), cpu.current_device()) == (True, 1, "cpu")
    cpu.synchronize()
    before, mine = cpu.current_stream(), cpu.Stream()
    with cpu.stream(mine):
        assert cpu.current_stream() is mine
        with cpu.stream(None):
            assert cpu.current_stream() is mine
    assert cpu.current_stream() is before


def test_events_mark_work_that_is_done():
    stream, event = taeda.cpu.Stream(), taeda.cpu.Event()
    event.record(stream)
    stream.wait_event(event)
    event.wait(stream)
    event.synchronize()
    assert event.query() and stream.record_event(event) is event
    assert isinstance(stream.record_event(), taeda.cpu.Event)
