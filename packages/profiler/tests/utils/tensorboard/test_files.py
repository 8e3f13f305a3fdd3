"""Files of events at addresses: every record arrives, also after a store that was not reached."""

import os
import subprocess
import sys

import fsspec
import pytest
from fsspec.implementations.memory import MemoryFileSystem
from tensorboard_reading import scalars

from taeda.utils.tensorboard import SummaryWriter
from taeda.utils.tensorboard._files import LocalFile, UploadedFile, add_to, new_file, put


@pytest.fixture
def memory():
    system = fsspec.filesystem("memory")
    yield system
    system.store.clear()


def fetched(memory, folder, tmp_path):
    memory.get(folder + "/", str(tmp_path), recursive=True)
    return tmp_path


def test_scalars_and_points_at_an_address(memory, tmp_path):
    with SummaryWriter("memory://runs/first", purge_step=0) as writer:
        for step in range(3):
            writer.add_scalar("a", step, step)
        writer.add_scalars("b", {"x": 1.0}, 0)
        for tag in ("p", "q"):
            writer.add_embedding([[1.0, 2.0]], metadata=["one"], tag=tag)
    there = fetched(memory, "/runs/first", tmp_path)
    assert scalars(there, "a") == [(0, 0.0), (1, 1.0), (2, 2.0)]
    assert memory.exists("/runs/first/b_x")
    assert memory.cat("/runs/first/projector_config.pbtxt").count(b"embeddings {") == 2
    assert memory.cat("/runs/first/00000/p/metadata.tsv") == b"one\n"


def test_flush_brings_all(memory, tmp_path):
    with SummaryWriter("memory://runs", flush_secs=1000) as writer:
        writer.add_scalar("a", 1.0, 1)
        writer.flush()
        assert scalars(fetched(memory, "/runs", tmp_path), "a") == [(1, 1.0)]
        here = writer.file_writer.event_writer._file.raw.name
        assert os.path.exists(here)
    assert not os.path.exists(here)


def test_a_store_that_is_not_reached_gets_all_later(memory, tmp_path, monkeypatch):
    with SummaryWriter("memory://runs", flush_secs=1000) as writer:
        writer.flush()

        def away(*args, **options):
            raise LookupError("no route")

        monkeypatch.setattr(MemoryFileSystem, "put_file", away)
        writer.add_scalar("a", 1.0, 1)
        with pytest.warns(UserWarning, match="wait for the next try: LookupError: no route"):
            writer.flush()
        writer.add_scalar("a", 2.0, 2)
        writer.flush()  # warned once
        monkeypatch.undo()
    assert scalars(fetched(memory, "/runs", tmp_path), "a") == [(1, 1.0), (2, 2.0)]


def test_what_no_store_took_stays(memory, tmp_path, monkeypatch):
    file = new_file("memory://runs", "events.out.tfevents.1", 1000)

    def away(*args, **options):
        raise PermissionError("no")

    monkeypatch.setattr(MemoryFileSystem, "put_file", away)
    file.write_all(memoryview(b"abc"))
    with pytest.raises(PermissionError):
        file.flush()
    with pytest.warns(UserWarning, match="lacks events; all of them are in"):
        file.close()
    with open(file.raw.name, "rb") as left:
        assert left.read() == b"abc"
    os.unlink(file.raw.name)


@pytest.mark.parametrize("end", ["pass", "1 / 0", "os.kill(os.getpid(), signal.SIGTERM)"])
def test_an_end_brings_all(tmp_path, end):
    """`local` is one of the protocols that the writer does not know to be this machine."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    program = (
        "import os, signal; from taeda.utils.tensorboard import SummaryWriter\n"
        f"writer = SummaryWriter('local://{tmp_path}/runs', max_queue=1000)\n"
        f"for step in range(50): writer.add_scalar('a', step, step)\n{end}"
    )
    environment = {**os.environ, "TMPDIR": str(temporary)}
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, timeout=120, env=environment
    )
    assert scalars(tmp_path / "runs", "a") == [(step, step) for step in range(50)], done.stderr
    assert not list(temporary.glob("taeda-events-*"))


def test_the_upload_comes_with_the_first_records_after_its_time(memory):
    slow, fast = (new_file("memory://runs", name, every) for name, every in (("s", 1e9), ("f", 0)))
    for file in (slow, fast):
        file.write_all(memoryview(b"abc"))
    assert not memory.exists("/runs/s")
    assert memory.cat("/runs/f") == b"abc"
    for file in (slow, fast):
        file.flush()
        file.close()


def test_kinds_of_folders(tmp_path):
    local = new_file(f"file://{tmp_path}/x", "a", 1)
    assert isinstance(local, LocalFile) and local.path == f"{tmp_path}/x/a"
    local.close()
    assert not isinstance(local, UploadedFile)


def test_tables_grow(tmp_path, memory):
    for folder in (str(tmp_path), "memory://tables"):
        add_to(folder, "list", b"a")
        add_to(folder, "list", b"b")
        put(folder, "deep/table", b"c")
    assert (tmp_path / "list").read_bytes() == memory.cat("/tables/list") == b"ab"
    assert (tmp_path / "deep" / "table").read_bytes() == memory.cat("/tables/deep/table") == b"c"
