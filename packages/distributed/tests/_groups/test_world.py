"""The groups of this process, and a world for a thread."""

from __future__ import annotations

import threading

import pytest

import taeda.distributed as dist
from taeda.distributed._groups import world


def test_a_thread_may_have_a_world_of_its_own():
    seen = {}

    def run():
        seen["own"] = world.enter_thread_world()
        seen["now"] = world.world()
        world.leave_thread_world()
        world.leave_thread_world()
        seen["after"] = world.world()

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert seen["own"] is seen["now"] is not seen["after"] is world.world()
    assert (seen["own"].default, seen["own"].groups, seen["own"].count) == (None, [], 0)


def test_which_group_is_meant():
    with pytest.raises(ValueError, match="barrier: there is no default process group yet"):
        world.the_group(None, "barrier")
    assert world.the_group(dist.GroupMember.NON_GROUP_MEMBER, "barrier") is None
    assert repr(dist.GroupMember.NON_GROUP_MEMBER) == "GroupMember.NON_GROUP_MEMBER"
    with pytest.raises(TypeError, match="barrier: group is a ProcessGroup or None, not int"):
        world.the_group(3, "barrier")
    assert dist.group.WORLD is None
    dist.init_process_group("fake", store=dist.HashStore(), rank=0, world_size=2)
    try:
        default = world.the_group(None, "barrier")
        assert default is dist.group.WORLD is dist.GroupMember.WORLD
        assert world.the_group(default, "barrier") is default
    finally:
        dist.destroy_process_group()
