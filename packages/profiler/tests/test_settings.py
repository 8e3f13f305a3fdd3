"""What can be asked of a profile."""

import pytest

import taeda
from taeda.profiler import ProfilerActivity, profile


def names(prof):
    return [event.name for event in prof.events()]


def test_only_the_processor_can_be_recorded():
    with pytest.warns(UserWarning, match="CUDA"):
        prof = profile(activities=[ProfilerActivity.CUDA])
    with prof:
        taeda.ones(1)
    assert names(prof) == []
    with pytest.raises(TypeError, match="ProfilerActivity"):
        profile(activities=["cpu"])
