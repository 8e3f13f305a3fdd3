"""Checkpoints at addresses: what a folder does, in a file system of fsspec."""

from __future__ import annotations

import fsspec
import pytest
from rank_threads import on_threads

import taeda
import taeda.distributed as dist
import taeda.distributed.checkpoint as dcp
from taeda.distributed.checkpoint._places import RemotePath, folder_of, place_of
from taeda.distributed.tensor import Shard, distribute_tensor

WHOLE = taeda.arange(35.0).view(7, 5)


@pytest.fixture
def address(request):
    found = "memory://" + request.node.name.replace("[", "-").replace("]", "")
    yield found
    system = fsspec.filesystem("memory")
    if system.exists(found):
        system.rm(found, recursive=True)


def save_on(ranks, place, dim=0, whole=WHOLE):
    def work(rank):
        mesh = dist.init_device_mesh("cpu", (ranks,))
        state = {"w": distribute_tensor(whole, mesh, [Shard(dim)]), "step": 3}
        dcp.save(state, checkpoint_id=place)

    on_threads(ranks, work)


@pytest.mark.parametrize("scheme", ["memory", "file"])
def test_another_number_of_ranks_reads_it_cut_another_way(scheme, address, tmp_path):
    place = address if scheme == "memory" else f"file://{tmp_path}/run"
    for _ in range(2):  # the second replaces the first
        save_on(2, place)
    names = sorted(path.name for path in place_of(place).iterdir())
    assert names == ["2-0.safetensors", "2-1.safetensors", "index.json"]

    def work(rank):
        mesh = dist.init_device_mesh("cpu", (3,))
        state = {"w": distribute_tensor(taeda.zeros(7, 5), mesh, [Shard(1)]), "step": 0}
        dcp.load(state, checkpoint_id=place)
        return state["w"].full_tensor().tolist(), state["step"]

    assert on_threads(3, work) == [(WHOLE.tolist(), 3)] * 3


def test_async_save_and_readers_given_by_hand(address):
    future = dcp.async_save({"w": WHOLE.clone()}, storage_writer=dcp.FileSystemWriter(address))
    future.result()
    state = {"w": taeda.zeros(7, 5)}
    dcp.load(state, storage_reader=dcp.FileSystemReader(address))
    assert taeda.equal(state["w"], WHOLE)
    writer = dcp.FileSystemWriter(address, overwrite=False)
    with pytest.raises(dcp.CheckpointException, match="overwrite is False"):
        dcp.save({"w": WHOLE}, storage_writer=writer)


def test_a_save_that_fails_leaves_the_former(address, monkeypatch):
    save_on(1, address)
    monkeypatch.setattr(RemotePath, "__truediv__", lambda self, name: 1 / 0)
    with pytest.raises(dcp.CheckpointException):
        dcp.save({"w": WHOLE + 1}, checkpoint_id=address)
    monkeypatch.undo()
    state = {"w": taeda.zeros(7, 5)}
    dcp.load(state, checkpoint_id=address)
    assert taeda.equal(state["w"], WHOLE)


@pytest.mark.parametrize("harm", ["flip", "cut", "gone", "index", "nothing"])
def test_what_is_damaged_or_missing_is_refused(harm, address):
    system = fsspec.filesystem("memory")
    if harm != "nothing":
        dcp.save({"w": WHOLE}, checkpoint_id=address)
        name = f"{address}/{'index.json' if harm == 'index' else '1-0.safetensors'}"
        data = bytearray(system.cat_file(name))
        data[-3] ^= 1
        system.pipe_file(name, bytes(data[:-8] if harm == "cut" else data))
        if harm == "gone":
            system.rm_file(name)
    words = {
        "flip": "damaged", "cut": "truncated", "gone": "is gone", "index": "damaged",
        "nothing": "has no index.json",
    }  # fmt: skip
    with pytest.raises(dcp.CheckpointException, match=words[harm]):
        dcp.load({"w": taeda.zeros(7, 5)}, checkpoint_id=address)


def test_places_are_folders_or_addresses():
    assert str(place_of("file:///a/b")) == "/a/b" == str(place_of("/a/b"))
    assert str(place_of("memory://a/")) == "memory://a" and place_of("memory://a/b").name == "b"
    with pytest.raises(ValueError, match="need a folder"):
        folder_of("memory://a")
    with pytest.raises(TypeError, match="a str or a path"):
        place_of(b"/a")
    with pytest.raises(ValueError, match=r"[Pp]rotocol"):
        place_of("nobody://a")
