"""save and async_save: what a kill leaves, who writes what, what fails on all ranks."""

from __future__ import annotations

import os
import signal
import threading

import pytest
from rank_threads import on_threads
from ranks import run_ranks

import taeda
import taeda.distributed.checkpoint as dcp
from taeda.distributed.checkpoint import _files, _index, filesystem


def state(value: float) -> dict:
    value = float(value)
    return {"x": taeda.full((3, 2), value), "y": {"z": taeda.full((1,), value)}, "n": int(value)}


def loaded(folder) -> dict:
    made = state(0)
    dcp.load(made, checkpoint_id=folder)
    return made


def value_of(folder) -> int:
    """The number of the one save that all entries are of."""
    made = loaded(folder)
    values = {*made["x"].flatten().tolist(), made["y"]["z"].item(), made["n"]}
    assert len(values) == 1
    return int(values.pop())


def killed(work) -> None:
    """Run in a forked child that must end by SIGKILL."""
    child = os.fork()
    if not child:
        try:
            work()
        finally:
            os._exit(1)
    assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL


def dies() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def before(module, name: str, number: int = 0):
    """Have the process die before a call of a function."""
    real, calls = getattr(module, name), iter(range(1000))

    def replaced(*args, **options):
        if next(calls) == number:
            dies()
        return real(*args, **options)

    setattr(module, name, replaced)


@pytest.mark.parametrize(
    ("module", "name", "number"),
    [(_files, "_write_all", number) for number in range(4)]
    + [(_files, "write_pieces", 0), (filesystem, "write_pieces", 0), (_index, "write_index", 0)]
    + [(_index, "written", 0)],
)
def test_a_kill_inside_a_save_leaves_the_former_checkpoint(tmp_path, module, name, number):
    dcp.save(state(1), checkpoint_id=tmp_path)

    def work():
        before(module, name, number)
        dcp.save(state(2), checkpoint_id=tmp_path)
        dies()  # the function was not called: the save ended

    killed(work)
    assert value_of(tmp_path) == (2 if (module, name) == (_files, "write_pieces") else 1)
    dcp.save(state(3), checkpoint_id=tmp_path)
    assert value_of(tmp_path) == 3
    assert sorted(p.suffix for p in tmp_path.iterdir()) == [".json", ".safetensors"]


def test_a_kill_behind_the_index_leaves_the_new_checkpoint(tmp_path):
    dcp.save(state(1), checkpoint_id=tmp_path)

    def work():
        real = _index.write_index

        def replaced(*args):
            real(*args)
            dies()

        _index.write_index = replaced
        dcp.save(state(2), checkpoint_id=tmp_path)

    killed(work)
    assert value_of(tmp_path) == 2


def test_what_all_ranks_hold_is_written_once_and_spread(tmp_path):
    def work(rank):
        held = {"a": taeda.ones(100), "b": taeda.ones(100), f"own{rank}": rank}
        dcp.save(held, checkpoint_id=tmp_path)

    on_threads(2, work)
    sizes = [path.stat().st_size for path in tmp_path.glob("*.safetensors")]
    assert len(sizes) == 2 and all(400 < size < 1600 for size in sizes)
    made = {"own0": None, "own1": None, "a": taeda.zeros(100)}
    dcp.load(made, checkpoint_id=tmp_path)
    assert (made["own0"], made["own1"], made["a"].sum().item()) == (0, 1, 100)


def test_an_error_on_one_rank_is_told_on_all_and_the_former_checkpoint_stays(tmp_path):
    dcp.save(state(1), checkpoint_id=tmp_path)

    def work(rank):
        bad = {"bad": threading.Lock()} if rank == 1 else {}
        with pytest.raises(dcp.CheckpointException, match="rank 1") as caught:
            dcp.save({**state(2), **bad}, checkpoint_id=tmp_path)
        return caught.value.failures

    for failures in on_threads(2, work):
        assert list(failures) == [1] and isinstance(failures[1][0], TypeError)
    assert value_of(tmp_path) == 1


def test_ranks_that_do_not_agree_about_a_tensor(tmp_path):
    def work(rank):
        with pytest.raises(dcp.CheckpointException, match="do not agree about x"):
            dcp.save({"x": taeda.ones(2 + rank)}, checkpoint_id=tmp_path)

    on_threads(2, work)
    assert not (tmp_path / "index.json").exists()


def test_training_goes_on_beside_a_save(tmp_path):
    def work(rank):
        held = {**state(1), "list": [1]}
        first = dcp.async_save(held, checkpoint_id=tmp_path / "a")
        held["x"].fill_(9)
        held["list"].append(2)
        second = dcp.async_save(held, checkpoint_id=tmp_path / "b")
        assert first.done()
        taeda.distributed.barrier()
        return [sorted(f.result().state_dict_metadata) for f in (first, second)]

    assert on_threads(2, work) == [[["list", "n", "x", "y.z"]] * 2] * 2
    assert value_of(tmp_path / "a") == 1
    made = {"x": taeda.zeros(3, 2), "list": None}
    dcp.load(made, checkpoint_id=tmp_path / "b")
    assert made["x"][0, 0] == 9 and made["list"] == [1, 2]


def test_the_error_of_a_save_in_the_background(tmp_path):
    (tmp_path / "file").write_text("")
    future = dcp.async_save(state(1), checkpoint_id=tmp_path / "file" / "inside")
    assert isinstance(future.exception(), dcp.CheckpointException)
    dcp.async_save(state(2), checkpoint_id=tmp_path / "good").result()
    assert value_of(tmp_path / "good") == 2


@pytest.mark.parametrize("save", [dcp.save, lambda *a, **k: dcp.async_save(*a, **k).result()])
def test_a_state_that_one_rank_cannot_give_is_told_on_all(tmp_path, save):
    class Bad:
        def state_dict(self):
            raise ValueError("not now")

        def load_state_dict(self, state): ...

    def work(rank):
        with pytest.raises(dcp.CheckpointException, match="rank 1: ValueError: not now"):
            save({"bad": Bad() if rank == 1 else 4}, checkpoint_id=tmp_path)
        save(state(rank // 2 + 1), checkpoint_id=tmp_path)  # the next one is in step
        with pytest.raises(dcp.CheckpointException, match="rank 1: ValueError: not now"):
            dcp.load({"n": Bad() if rank == 1 else 4}, checkpoint_id=tmp_path)

    on_threads(2, work)
    assert value_of(tmp_path) == 1


def test_the_next_save_waits_for_the_one_in_the_background(tmp_path):
    def work(rank):
        for value in range(1, 6):
            dcp.async_save(state(value), checkpoint_id=tmp_path)
            if value % 2:
                dcp.save(state(value + 10), checkpoint_id=tmp_path)
        made = state(0)
        dcp.load(made, checkpoint_id=tmp_path)
        return made["n"]

    assert on_threads(2, work) == [15, 15]
    assert value_of(tmp_path) == 15


def test_refusals(tmp_path):
    with pytest.raises(RuntimeError, match="checkpoint_id"):
        dcp.save({})
    with pytest.raises(TypeError, match="dict"):
        dcp.save([], checkpoint_id=tmp_path)
    with pytest.raises(ValueError, match=r"[Pp]rotocol"):
        dcp.save({}, checkpoint_id="nobody://bucket/x")
    with pytest.raises(dcp.CheckpointException, match="x is on the device meta"):
        dcp.save({"x": taeda.empty(2, device="meta")}, checkpoint_id=tmp_path)


DIES = """
import signal
import taeda.distributed.checkpoint as dcp
from taeda.distributed.checkpoint import filesystem
dist.init_process_group("gloo", timeout=seconds(LIMIT))
state = {"x": taeda.full((3, 2), 1.0), "y": {"z": taeda.full((1,), 1.0)}, "n": 1}
dcp.save(state, checkpoint_id=FOLDER)
if rank == 1:
    filesystem.write_pieces = lambda *args: os.kill(os.getpid(), signal.SIGKILL)
state["x"].fill_(2.0)
try:
    SAVE
except dist.DistError as error:
    print(type(error).__name__, error)
    sys.stdout.flush()
    os._exit(7)
"""


@pytest.mark.parametrize(
    ("save", "limit", "words"),
    [
        ("dcp.save(state, checkpoint_id=FOLDER)", "60", ["DistPeerDiedError", "rank 1"]),
        ("dcp.async_save(state, checkpoint_id=FOLDER).result()", "3", ["DistStoreError", "rank 1"]),
    ],
)
def test_a_rank_that_is_killed_in_a_save(mpi, tmp_path, save, limit, words):
    code = DIES.replace("SAVE", save).replace("FOLDER", repr(str(tmp_path))).replace("LIMIT", limit)
    survivor, dead = run_ranks(code, 2)
    assert dead.code == -signal.SIGKILL and survivor.code == 7, survivor
    assert all(word in survivor.out for word in words)
    assert value_of(tmp_path) == 1
