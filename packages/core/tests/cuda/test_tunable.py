"""Products are not timed against each other: switches are off, all else refuses."""

import pytest

import taeda

tunable = taeda.cuda.tunable


def test_switches_are_off_and_stay_off():
    assert not (tunable.is_enabled() or tunable.tuning_is_enabled())
    assert not tunable.record_untuned_is_enabled()
    for switch in (tunable.enable, tunable.tuning_enable, tunable.record_untuned_enable):
        assert switch(False) is None
        with pytest.raises(NotImplementedError, match="cuBLASLt chooses"):
            switch()


def test_everything_else_refuses():
    rest = [name for name in tunable.__all__ if not name.endswith(("enable", "is_enabled"))]
    assert len(rest) > 10
    for name in rest:
        with pytest.raises(NotImplementedError, match=name):
            getattr(tunable, name)()
