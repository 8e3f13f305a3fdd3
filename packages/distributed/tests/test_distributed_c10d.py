"""Groups and collectives under the name by which many scripts import them."""

from __future__ import annotations

import pytest

import taeda.distributed as dist
from taeda.distributed import distributed_c10d as c10d


@pytest.mark.parametrize("name", c10d.__all__)
def test_a_listed_name_is_that_of_the_package(name):
    found = getattr(c10d, name)
    assert getattr(dist, name, found) is found


def test_the_default_group():
    with pytest.raises(ValueError, match="_get_default_group: there is no default process group"):
        c10d._get_default_group()
    dist.init_process_group("fake", store=dist.HashStore(), rank=0, world_size=2)
    try:
        assert c10d._get_default_group() is dist.group.WORLD
    finally:
        dist.destroy_process_group()
