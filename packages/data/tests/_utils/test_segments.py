"""A worker's shared memory: what is used again, and when."""

from __future__ import annotations

import os

import pytest

import taeda
from taeda.utils.data._utils import segments
from taeda.utils.data._utils.segments import Arena, descriptors_are_short


@pytest.fixture
def arena():
    probe = os.open(os.devnull, os.O_RDONLY)
    made = Arena(probe)
    yield made
    os.close(probe)


def send(arena, tensor):
    """Give a tensor's segment away, as with a batch; its number."""
    segment = arena.holding(tensor)
    arena.sent([segment])
    return segment.id


def test_memory_comes_back_when_the_parent_and_the_worker_hold_it_no_more(arena):
    first = arena.empty((1000,), taeda.float32).fill_(1)
    number = send(arena, first)
    second = arena.empty((1000,), taeda.float32)
    assert second.data_ptr() != first.data_ptr()  # the parent has it
    send(arena, second)
    arena.returned([number])
    third = arena.empty((1000,), taeda.float32)
    assert third.data_ptr() != first.data_ptr()  # this process still uses it
    send(arena, third)
    address = first.data_ptr()
    del first
    assert arena.empty((1000,), taeda.float32).data_ptr() == address


def test_what_a_batch_did_not_use_is_free_at_once(arena):
    address = arena.empty((1000,), taeda.float32).data_ptr()
    arena.sent([])
    assert arena.empty((999,), taeda.float32).data_ptr() == address


def test_forgotten_memory_is_never_written_again(arena):
    addresses = set()
    for _ in range(3):
        tensor = arena.empty((1000,), taeda.float32)
        addresses.add(tensor.data_ptr())
        arena.forgotten([send(arena, tensor)])
        addresses.add(tensor.data_ptr())
        kept = tensor  # noqa: F841 - its mapping lives on while somebody holds it
    assert arena._free == [] and arena._away == {}


def test_free_memory_is_bounded(arena, monkeypatch):
    monkeypatch.setattr(segments, "_KEPT_BYTES", 10_000)
    for n in (4000, 8000, 16000, 32000, 64000, 128000):
        arena.empty((n,), taeda.uint8)
    arena.sent([])
    arena.dropped()
    assert [s.memory.numel() for s in arena._free] == [4000, 8000, 16000, 32000, 64000, 128000]
    monkeypatch.setattr(segments, "_KEPT", 2)
    arena.dropped()
    assert [s.memory.numel() for s in arena._free] == [64000, 128000]


def test_many_large_segments_are_given_up(arena, monkeypatch):
    monkeypatch.setattr(segments, "_KEPT_BYTES", 10_000)
    for _ in range(9):
        arena.empty((50_000,), taeda.uint8)
    arena.sent([])
    before = len(os.listdir("/proc/self/fd"))
    arena.dropped()
    assert len(arena._free) == 4  # four times the largest
    assert len(os.listdir("/proc/self/fd")) == before - 5


@pytest.mark.parametrize("why", ["small", "not allowed", "too many away", "no memory"])
def test_refusals(arena, monkeypatch, why):
    if why == "not allowed":
        arena.allowed = False
    if why == "too many away":
        monkeypatch.setattr(segments, "_MOST_AWAY", 0)
    if why == "no memory":

        def refuse(nbytes):
            raise RuntimeError("memory is out")

        monkeypatch.setattr(segments._sharing, "reserved_file", refuse)
    assert arena.empty((3 if why == "small" else 3000,), taeda.float32) is None
    assert arena.refusal == ("memory is out" if why == "no memory" else None)


def test_room_for_a_stack(arena):
    same = [taeda.ones(600), taeda.zeros(600)]
    assert arena.stack_room(same).shape == (2, 600)
    assert arena.stack_room([]) is None
    assert arena.stack_room([taeda.ones(600), taeda.ones(601)]) is None
    assert arena.stack_room([taeda.ones(600), taeda.ones(600).double()]) is None
    assert arena.stack_room([taeda.ones(600, requires_grad=True)] * 2) is None


def test_descriptors(monkeypatch):
    assert not descriptors_are_short(0)
    monkeypatch.setattr(segments.resource, "getrlimit", lambda _: (40, 40))
    assert descriptors_are_short(0)
