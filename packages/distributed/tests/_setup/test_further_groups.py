"""Groups of some ranks."""

from __future__ import annotations

import pytest

import taeda.distributed as dist


def ranks_of(groups):
    return [
        dist.get_process_group_ranks(g)
        for g in groups
        if g is not dist.GroupMember.NON_GROUP_MEMBER
    ]


def test_some_ranks(fake):
    assert dist.new_group([0, 2]) is dist.GroupMember.NON_GROUP_MEMBER
    assert dist.get_process_group_ranks(dist.new_group([3, 1])) == [1, 3]
    assert dist.get_process_group_ranks(dist.new_group()) == [0, 1, 2, 3]
    with pytest.raises(ValueError, match="outside"):
        dist.new_group([7])
    with pytest.raises(ValueError, match="twice"):
        dist.new_group([1, 1])


def test_ranks_that_lie_together(fake):
    mine, every = dist.new_subgroups(2)
    assert dist.get_process_group_ranks(mine) == [0, 1] and len(every) == 2
    with pytest.raises(ValueError, match="3"):
        dist.new_subgroups(3)


def test_ranks_by_a_list(fake):
    mine, every = dist.new_subgroups_by_enumeration([[0, 2], [1, 3]])
    assert dist.get_process_group_ranks(mine) == [1, 3] and len(every) == 2
    with pytest.raises(ValueError, match="a rank is in two of the groups"):
        dist.new_subgroups_by_enumeration([[0, 1], [1, 3]])


def test_a_group_is_cut(fake):
    mine = dist.split_group(dist.group.WORLD, [[0, 3], [1, 2]])
    assert dist.get_process_group_ranks(mine) == [1, 2]
    assert dist.split_group(dist.group.WORLD, [[0, 3]]) is None
