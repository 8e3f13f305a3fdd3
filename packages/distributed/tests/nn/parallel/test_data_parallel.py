"""The wrapper of one device."""

from __future__ import annotations

import pytest

import taeda
from taeda import nn
from taeda.nn.parallel import DataParallel
from taeda.nn.parallel.data_parallel import data_parallel


class Add(nn.Module):
    def forward(self, x, y=0, *, z=0):
        return x + y + z


def test_it_calls_its_module():
    wrapped = DataParallel(Add(), device_ids=["cpu", "cpu"], output_device="cpu", dim=1)
    assert wrapped(1, 2, z=3) == 6 and wrapped.dim == 1
    assert wrapped.device_ids == ["cpu", "cpu"] and wrapped.output_device == "cpu"
    assert DataParallel(Add()).device_ids == []
    inner = DataParallel(nn.Linear(2, 3))
    assert [*inner.state_dict()] == ["module.weight", "module.bias"]


def test_as_a_function():
    assert data_parallel(Add(), (1, 2), module_kwargs={"z": 3}) == 6
    assert data_parallel(Add(), taeda.ones(2)).tolist() == [1, 1]


def test_several_devices_are_refused():
    for call in (
        lambda: DataParallel(Add(), [0, 1]),
        lambda: data_parallel(Add(), 1, ["cpu", "cuda:0"]),
    ):
        with pytest.raises(ValueError, match="one device here; start a process for each"):
            call()
