"""Who holds memory: by kind, by module, by line; the table below errors; the schema of viewers."""

import pickle

import pytest

import taeda
from taeda.profiler import memory, record_memory


def test_kinds_and_modules():
    nn = pytest.importorskip("taeda.nn", reason="modules have parameters")
    optim = pytest.importorskip("taeda.optim", reason="optimizers have states")

    class Holder(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = nn.Sequential(nn.Linear(100, 100, bias=False), nn.BatchNorm1d(100))

    model = Holder()
    optimizer = optim.Adam(model.parameters())
    model.inner(taeda.ones(4, 100)).sum().backward()
    optimizer.step()
    found = memory()
    kinds = {kind: size for kind, size, _ in found.by_kind}
    modules = {name: size for name, size, _ in found.by_module}
    assert modules["Holder.inner.0"] == 2 * 40_000  # with its gradient
    assert kinds["parameters"] >= 40_800 and kinds["states of optimizers"] >= 80_000
    assert kinds["buffers"] >= 800 and sum(kinds.values()) >= found.allocated
    assert "Holder.inner.0" in str(found) and "record_memory()" in str(found)


def test_tensors_whose_class_refuses_questions_are_counted():
    class Closed(taeda.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            raise RuntimeError(f"{func} of a closed tensor")

    kept = []
    taeda.func.vmap(lambda row: kept.append(row) or row * 2)(taeda.ones(3, 4))
    closed = taeda.ones(1 << 20).as_subclass(Closed)
    (size,) = [size for name, size, _ in memory().by_kind if name == "other tensors"]
    assert kept and size >= 4 << 20
    del closed


def test_a_storage_counts_once():
    before = {kind: size for kind, size, _ in memory().by_kind}
    x = taeda.ones(10_000)
    views = [x[i:] for i in range(10)]
    after = {kind: size for kind, size, _ in memory().by_kind}
    assert after["other tensors"] - before.get("other tensors", 0) == 40_000 and len(views) == 10


def test_lines_while_they_are_recorded(tmp_path):
    with record_memory() as record:
        kept = taeda.ones(50_000)
        taeda.ones(100_000)
        found = memory()
        made = record.snapshot()
        record.dump_snapshot(tmp_path / "held.pickle")
    place, size, blocks = found.by_line[0]
    assert place.startswith(f"{__file__}:") and (size, blocks) == (200_000, 1)
    assert next(row[1] for row in found.peak_by_line if row[0].startswith(__file__)) == 400_000
    assert f"{__file__}:" in str(found) and "line, at the highest" in str(found)
    blocks = [block for segment in made["segments"] for block in segment["blocks"]]
    assert [b["frames"][0]["filename"] for b in blocks if b["size"] == 200_000] == [__file__]
    steps = [(step["action"], step["size"]) for step in made["device_traces"][0]]
    assert [one for one in steps if one[1] in (200_000, 400_000)] == [
        ("alloc", 200_000), ("alloc", 400_000), ("free_requested", 400_000), ("free_completed", 400_000),
    ]  # fmt: skip
    assert pickle.loads((tmp_path / "held.pickle").read_bytes()).keys() == made.keys()
    assert not memory().by_line and kept.numel() == 50_000
    with pytest.raises(RuntimeError, match="nothing is recorded"):
        record.snapshot()


def test_a_snapshot_shows_the_last_steps_alone():
    with record_memory(max_entries=10) as record:
        for size in range(20, 60):
            taeda.ones(size)
        steps = record.snapshot()["device_traces"][0]
    assert 10 <= len(steps) <= 20 and steps[-1]["size"] == 59 * 4
    with pytest.raises(ValueError, match="1 or more"):
        record_memory(max_entries=0)


def test_one_recording_is_on_until_it_is_ended():
    record_memory()
    try:
        with record_memory():
            pass
        x = taeda.ones(1000)
        assert memory().by_line and x.numel() == 1000
    finally:
        record_memory(False)
    assert not memory().by_line


def test_errors_of_memory_show_the_table():
    x = taeda.ones(5_000)
    with pytest.raises(taeda.OutOfMemoryError) as caught:
        taeda.empty(1 << 60, dtype=taeda.uint8)
    text = str(caught.value)
    assert text.startswith("out of memory") and "cpu holds" in text and "other tensors" in text
    assert x.numel() == 5_000


def test_other_devices():
    with pytest.raises(ValueError, match="ask for cpu or cuda"):
        memory("meta")
