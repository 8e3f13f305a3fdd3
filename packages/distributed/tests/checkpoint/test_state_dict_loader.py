"""load: what does not fit is named, nothing is filled then, nothing is unpickled."""

from __future__ import annotations

import pytest

import taeda
import taeda.distributed.checkpoint as dcp


@pytest.fixture
def folder(tmp_path):
    saved = {"model": {"weight": taeda.ones(2, 3), "bias": taeda.ones(2)}, "epoch": 3}
    dcp.save(saved, checkpoint_id=tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"wieght": taeda.zeros(2, 3)}, ["'model.wieght'", "nearest: 'model.weight'", "besides"]),
        ({"weight": taeda.zeros(3, 2)}, ["Size mismatch", "(2, 3)", "(3, 2)", "model.weight"]),
        ({"weight": taeda.zeros(2, 3).double()}, ["float32", "float64", "model.weight"]),
        ({"weight": 4}, ["model.weight is a tensor in the checkpoint and no tensor"]),
        ({"weight": taeda.zeros(2, 3, device="meta")}, ["model.weight", "meta"]),
        ({"a": 1, "b": 2}, ["'model.a'", "'model.b'"]),
    ],
)
def test_what_does_not_fit_is_named_and_nothing_is_filled(folder, asked, words):
    bias = taeda.zeros(2)
    with pytest.raises(dcp.CheckpointException) as caught:
        dcp.load({"model": {"bias": bias, **asked}}, checkpoint_id=folder)
    assert all(word in str(caught.value) for word in words)
    assert bias.tolist() == [0, 0]


def test_all_that_does_not_fit_is_named(tmp_path):
    saved = {
        f"{kind}.{n}": taeda.ones(n % 3 + 1) for n in range(25) for kind in ("a", "b", "c", "d")
    }
    dcp.save(saved, checkpoint_id=tmp_path)
    asked = {name.replace("a.", "A."): value.clone() for name, value in saved.items()}
    for name in saved:
        if name[0] == "b":
            asked[name] = taeda.zeros(7)
        elif name[0] == "c":
            asked[name] = asked[name].double()
    with pytest.raises(dcp.CheckpointException) as caught:
        dcp.load(asked, checkpoint_id=tmp_path)
    text = str(caught.value)
    for n in range(25):
        assert f"'A.{n}' (nearest: 'a." in text and f"'a.{n}' (nearest: 'A." in text
        assert f"for b.{n}" in text and f"c.{n} is taeda.float32" in text and f"d.{n}" not in text


def test_a_part_may_be_asked_for(folder):
    state = {"epoch": 0, "other": 5}
    dcp.load(state, checkpoint_id=folder, planner=dcp.DefaultLoadPlanner(allow_partial_load=True))
    assert state == {"epoch": 3, "other": 5}


def test_objects_with_a_state_get_it(tmp_path):
    class Counter:
        def __init__(self, count):
            self.count, self.calls = count, []

        def state_dict(self):
            self.calls.append("state_dict")
            return {"count": self.count}

        def load_state_dict(self, state):
            self.calls.append("load_state_dict")
            self.count = state["count"]

    model, other = taeda.nn.Linear(2, 2), taeda.nn.Linear(2, 2)
    dcp.save({"model": model, "counter": Counter(4)}, checkpoint_id=tmp_path)
    counter = Counter(0)
    dcp.load({"model": other, "counter": counter}, checkpoint_id=tmp_path)
    assert counter.count == 4 and counter.calls == ["state_dict", "load_state_dict"]
    assert (other.weight == model.weight).all()


def test_no_checkpoint(tmp_path):
    with pytest.raises(
        dcp.CheckpointException, match=r"holds no checkpoint: it has no index\.json"
    ):
        dcp.load({"x": 1}, checkpoint_id=tmp_path)
    with pytest.raises(RuntimeError, match="checkpoint_id"):
        dcp.load({})
    (tmp_path / ".metadata").write_bytes(b"\x80\x02")
    with pytest.raises(dcp.CheckpointException, match="pickle is truncated"):
        dcp.load({"x": 1}, checkpoint_id=tmp_path)
