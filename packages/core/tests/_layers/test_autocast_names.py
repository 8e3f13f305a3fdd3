"""Older names of autocast's state, a device in each: they read and write the same state."""

from __future__ import annotations

import pytest

import taeda

OLDER = {
    "cpu": (taeda.get_autocast_cpu_dtype, taeda.set_autocast_cpu_dtype),
    "cuda": (taeda.get_autocast_gpu_dtype, taeda.set_autocast_gpu_dtype),
}


@pytest.mark.parametrize("device", OLDER)
def test_the_dtype_is_that_of_the_device(device):
    get, put = OLDER[device]
    before = taeda.get_autocast_dtype(device)
    other = taeda.float16 if before is taeda.bfloat16 else taeda.bfloat16
    try:
        put(other)
        assert get() is taeda.get_autocast_dtype(device) is other
        taeda.set_autocast_dtype(device, before)
        assert get() is before
    finally:
        taeda.set_autocast_dtype(device, before)


def test_the_switch_is_that_of_the_cpu():
    assert not taeda.is_autocast_cpu_enabled()
    with taeda.autocast("cpu"):
        assert taeda.is_autocast_cpu_enabled()
    taeda.set_autocast_cpu_enabled(True)
    try:
        assert taeda.is_autocast_enabled("cpu")
    finally:
        taeda.set_autocast_cpu_enabled(False)
    assert not taeda.is_autocast_enabled("cpu")
