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
