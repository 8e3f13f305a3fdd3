"""Groups with a backend for each type of device, as far as that shows without a GPU."""

from __future__ import annotations

import pytest

import taeda
import taeda.distributed as dist
from taeda.distributed._groups.by_device import GroupByDevice, backends_of, named

BOTH = "cpu:fake,cuda:fake"


@pytest.fixture
def both():
    dist.init_process_group(BOTH, store=dist.HashStore(), rank=0, world_size=2)
    yield dist.group.WORLD
    dist.destroy_process_group()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("gloo", {"cpu": "gloo"}),
        ("NCCL", {"cuda": "nccl"}),
        ("cpu:gloo", {"cpu": "gloo"}),
        ("cuda:nccl", {"cuda": "nccl"}),
        ("cuda:nccl, cpu:mpi", {"cuda": "nccl", "cpu": "mpi"}),
    ],
)
def test_text_names_backends(text, found):
    backends = backends_of(text)
    assert backends == found
    assert backends_of(named(backends)) == backends


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, "named by a str"),
        ("cpu:gloo,cuda", "written 'cpu:gloo,cuda:nccl'"),
        ("cpu:gloo:nccl", "written"),
        ("cpu:smoke", "unknown backend 'smoke'"),
        ("cpu:gloo,cpu:mpi", "two backends for one device"),
        ("cuda:gloo", "'gloo' carries tensors of the cpu only, not of 'cuda'"),
        ("cpu:nccl", "'nccl' carries tensors of the cuda only"),
        ("xpu:fake", "cpu and cuda only, not of 'xpu'"),
    ],
)
def test_what_names_none_is_refused(text, words):
    with pytest.raises(ValueError, match=words):
        backends_of(text)


def test_a_group_knows_its_backends(both):
    assert isinstance(both, GroupByDevice)
    assert dist.get_backend() == dist.get_backend_config() == both.name() == BOTH
    assert both.device_types == ("cpu", "cuda") and both.device == taeda.device("cpu")
    assert both.lane("cpu") is both and both.lane("cuda") is not both
    assert dist.get_backend(dist.new_group([0])) == BOTH
    assert dist.get_backend_config(dist.new_group([0], backend="fake")) == "cpu:fake"


def test_a_device_that_nothing_carries_is_refused():
    with pytest.raises(ValueError, match=r"'cpu:fake' carries tensors of the cpu only"):
        dist.init_process_group(
            "fake", store=dist.HashStore(), rank=0, world_size=1, device_id=taeda.device("cuda", 0)
        )
    assert not dist.is_initialized()


def test_collectives_go_by_the_device_of_their_tensors(both):
    dist.all_reduce(taeda.ones(2))
    dist.barrier()  # has no tensors
    assert (both._seq, both.lane("cuda")._seq) == (2, 0)
    assert dist.all_reduce(taeda.ones(2), async_op=True).wait()


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_what_breaks_one_breaks_the_group(both, device):
    both.lane(device)._break(RuntimeError("the wire is cut"))
    with pytest.raises(dist.DistBackendError, match="the wire is cut"):
        dist.all_reduce(taeda.ones(2))


def test_all_of_it_ends(both):
    other = both.lane("cuda")
    group = dist.new_group([0, 1])
    dist.destroy_process_group(group)
    assert group._closed and group.lane("cuda")._closed and not other._closed
