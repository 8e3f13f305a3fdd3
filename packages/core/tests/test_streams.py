"""Streams and events of the processor: nothing waits, and a mark is a time."""

from __future__ import annotations

import time

import pytest

import taeda
from taeda import Event, Stream, accelerator, cuda

no_device = pytest.mark.skipif(cuda.is_available(), reason="a CUDA device is the default here")


def test_a_stream_has_nothing_to_wait_for():
    stream, other = Stream("cpu"), Stream("cpu", priority=-1)
    assert stream.query() and other.priority == -1 and stream.device == taeda.device("cpu")
    stream.synchronize()
    stream.wait_stream(other)
    stream.wait_event(other.record_event())
    with stream as entered:
        assert entered is stream and stream == other and hash(stream) == hash(other)
    assert repr(stream) == "taeda.Stream device_type=cpu, device_index=-1, stream_id=0"


def test_an_event_is_the_time_at_which_it_was_recorded():
    begin, end = (Event("cpu", enable_timing=True) for _ in range(2))
    begin.record()
    time.sleep(0.002)
    assert Stream("cpu").record_event(end) is end
    assert 2 <= begin.elapsed_time(end) < 60_000
    assert end.elapsed_time(begin) == -begin.elapsed_time(end)
    assert end.query()
    end.synchronize()
    end.wait()


def test_what_an_event_refuses():
    timed, plain = Event("cpu", enable_timing=True), Event("cpu")
    with pytest.raises(ValueError, match="must be recorded"):
        timed.elapsed_time(timed)
    plain.record()
    with pytest.raises(ValueError, match="enable_timing=True"):
        plain.elapsed_time(timed)
    with pytest.raises(NotImplementedError, match="interprocess"):
        Event("cpu", interprocess=True)


@no_device
def test_the_default_is_the_processor_where_there_is_no_accelerator():
    assert Stream().device == Event().device == taeda.device("cpu")
    for ask in (accelerator.current_stream, lambda: accelerator.set_stream(Stream())):
        with pytest.raises(RuntimeError, match="none is available"):
            ask()


@pytest.mark.parametrize("kind", [Stream, Event])
def test_devices_without_streams_say_so(kind):
    with pytest.raises(RuntimeError, match="type 'meta' have no streams"):
        kind("meta")


def test_set_stream_wants_a_stream():
    with pytest.raises(TypeError, match=r"wanted a taeda\.Stream, got int"):
        accelerator.set_stream(1)


def test_streams_of_cuda_are_streams():
    assert issubclass(cuda.Stream, Stream) and issubclass(cuda.Event, Event)
