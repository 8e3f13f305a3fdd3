"""Engines and devices that do not fit are refused before a group begins."""

from __future__ import annotations

import pytest

import taeda
import taeda.distributed as dist
from taeda.distributed._setup.checks import check_device, check_engine, chosen_backends


def test_backends_that_are_chosen_for_nobody():
    assert set(chosen_backends(None)) == ({"cpu", "cuda"} if dist.is_nccl_available() else {"cpu"})
    assert chosen_backends("cpu:fake,cuda:fake") == {"cpu": "fake", "cuda": "fake"}


def test_an_engine_that_is_none():
    check_engine("fake")
    with pytest.raises(ValueError, match="stands for none"):
        check_engine("undefined")


@pytest.mark.skipif(taeda.cuda.is_available(), reason="this refusal is of machines without a GPU")
def test_nccl_without_a_card():
    with pytest.raises(dist.DistBackendError, match=r"NCCL's library|sees none"):
        check_engine("nccl")


@pytest.mark.parametrize("device", [0, "cuda:1", taeda.device("meta")])
def test_a_device_that_no_backend_carries(device):
    check_device({"cpu": "gloo"}, None)
    check_device({"cpu": "gloo"}, "cpu")
    with pytest.raises(ValueError, match="carries tensors of the cpu only"):
        check_device({"cpu": "gloo"}, device)
