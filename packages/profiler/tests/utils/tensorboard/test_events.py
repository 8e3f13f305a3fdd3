"""The file of events: order, loss of nothing, disks that are full, ends of processes."""

import errno
import io
import multiprocessing
import os
import signal
import subprocess
import sys
import threading

import pytest
from tensorboard_reading import scalars

from taeda.utils.tensorboard import RecordWriter, SummaryWriter
from taeda.utils.tensorboard._events import record

PROGRAM = """
import os, signal, sys
from taeda.utils.tensorboard import RecordWriter, SummaryWriter
from taeda.utils.tensorboard._events import record
writer = SummaryWriter(sys.argv[1], max_queue=1000)
for step in range(50):
    writer.add_scalar("a", step, step)
{end}
"""
ENDS = {
    "exit": ("pass", 0),
    "sys.exit": ("sys.exit(3)", 3),
    "exception": ("raise ZeroDivisionError", 1),
    "SIGTERM": ("os.kill(os.getpid(), signal.SIGTERM); signal.pause()", -signal.SIGTERM),
    "forgotten": ("del writer", 0),
}


@pytest.mark.parametrize("end", ENDS)
def test_an_end_leaves_nothing_unwritten(tmp_path, end):
    text, code = ENDS[end]
    command = [sys.executable, "-c", PROGRAM.format(end=text), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == code, done.stderr
    assert scalars(tmp_path, "a") == [(step, step) for step in range(50)]


@pytest.mark.parametrize("size", [0, 1, 7, 8, 100, 5000])
def test_records_are_those_of_tensorboard(size):
    data, theirs = bytes(i * i % 251 for i in range(size)), io.BytesIO()
    RecordWriter(theirs).write(data)
    assert record(data) == theirs.getvalue()


def test_a_handler_of_the_program_stays(tmp_path):
    before = signal.getsignal(signal.SIGTERM)

    def own(number, frame):
        raise AssertionError

    signal.signal(signal.SIGTERM, own)
    try:
        with SummaryWriter(tmp_path):
            assert signal.getsignal(signal.SIGTERM) is own
    finally:
        signal.signal(signal.SIGTERM, before)


def test_the_handler_goes_with_the_last_writer(tmp_path):
    before = signal.getsignal(signal.SIGTERM)
    with SummaryWriter(tmp_path):
        pass
    assert signal.getsignal(signal.SIGTERM) is before


def test_adds_return_before_the_file_is_written(tmp_path, monkeypatch):
    with SummaryWriter(tmp_path) as writer:
        writer.flush()
        file = writer.file_writer.event_writer
        gate, write = threading.Event(), file._file.write_all

        def slow(data):
            gate.wait(60)
            write(data)

        monkeypatch.setattr(file._file, "write_all", slow)
        size = os.path.getsize(file.path)
        for step in range(100):
            writer.add_scalar("a", step, step)
        assert os.path.getsize(file.path) == size
        gate.set()
    assert len(scalars(tmp_path, "a")) == 100


def test_flush_secs_writes_without_a_call(tmp_path):
    with SummaryWriter(tmp_path, max_queue=1000, flush_secs=0.05) as writer:
        writer.flush()
        file = writer.file_writer.event_writer
        written = threading.Event()
        write = file._file.write_all
        file._file.write_all = lambda data: (write(data), written.set())
        writer.add_scalar("a", 1.0, 0)
        assert written.wait(60)


@pytest.mark.parametrize("queue", [1, 3, 10])
def test_max_queue_events_are_written_without_a_call(tmp_path, queue):
    with SummaryWriter(tmp_path, max_queue=queue, flush_secs=1000) as writer:
        writer.flush()
        file = writer.file_writer.event_writer
        written = threading.Event()
        write = file._file.write_all
        file._file.write_all = lambda data: (write(data), written.set())
        for step in range(queue):
            assert not written.is_set()
            writer.add_scalar("a", 1.0, step)
        assert written.wait(60)


class Full:
    """A file on a disk that has room for `room` bytes."""

    def __init__(self, file, room):
        self.file, self.room = file, room

    def write(self, data):
        if self.room <= 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        done = self.file.write(data[: self.room])
        self.room -= done
        return done

    def __getattr__(self, name):
        return getattr(self.file, name)


@pytest.mark.parametrize("room", [0, 1, 11, 30, 75])
def test_a_full_disk_is_one_warning_and_the_file_stays_whole(tmp_path, room, recwarn):
    writer = SummaryWriter(tmp_path)
    writer.add_scalar("a", 1.0, 1)
    writer.flush()
    file = writer.file_writer.event_writer
    file._file.raw = Full(file._file.raw, room)
    for step in range(2, 5):
        writer.add_scalar("a", step, step)
        try:
            writer.flush()
        except UserWarning:
            assert step < 4
    file._file.raw.room = 10**6
    writer.add_scalar("a", 5.0, 5)
    writer.close()
    said = [str(one.message) for one in recwarn if "cannot be written" in str(one.message)]
    assert len(said) <= 1
    steps = [step for step, _ in scalars(tmp_path, "a")]
    assert steps[0] == 1 and steps[-1] == 5 and steps == sorted(set(steps))


def test_a_full_disk_warns(tmp_path):
    writer = SummaryWriter(tmp_path)
    writer.flush()
    file = writer.file_writer.event_writer
    file._file.raw = Full(file._file.raw, 0)
    writer.add_scalar("a", 1.0)
    with pytest.warns(UserWarning, match="cannot be written, events are lost: .*No space left"):
        writer.flush()
    writer.add_scalar("a", 1.0)
    writer.close()  # a second warning would be an error


def test_an_error_of_the_thread_is_raised_by_the_next_call(tmp_path):
    writer = SummaryWriter(tmp_path)

    def breaks(event):
        raise LookupError("here")

    writer.file_writer.event_writer.add(breaks, None, None)
    with pytest.raises(LookupError, match="here"):
        writer.flush()
    writer.add_scalar("a", 1.0, 0)
    writer.close()
    assert scalars(tmp_path, "a") == [(0, 1.0)]


def test_purge_step_hides_what_a_run_that_broke_wrote(tmp_path):
    with SummaryWriter(tmp_path, filename_suffix=".1") as writer:
        for step in range(10):
            writer.add_scalar("a", 1.0, step)
    with SummaryWriter(tmp_path, purge_step=6, filename_suffix=".2") as writer:
        for step in range(6, 8):
            writer.add_scalar("a", 2.0, step)
    assert scalars(tmp_path, "a") == [(s, 1.0) for s in range(6)] + [(6, 2.0), (7, 2.0)]


def test_a_child_of_a_fork_writes_a_file_of_its_own(tmp_path):
    writer = SummaryWriter(tmp_path, max_queue=1000)
    writer.add_scalar("a", 0.0, 0)

    def child():
        writer.add_scalar("b", 1.0, 1)
        writer.close()

    process = multiprocessing.get_context("fork").Process(target=child)
    process.start()
    process.join(60)
    assert process.exitcode == 0
    writer.close()
    assert scalars(tmp_path, "a") == [(0, 0.0)] and scalars(tmp_path, "b") == [(1, 1.0)]
    assert len(list(tmp_path.iterdir())) == 2


def test_a_closed_file_takes_nothing(tmp_path):
    writer = SummaryWriter(tmp_path)
    file = writer.file_writer
    writer.close()
    writer.close()
    with pytest.raises(RuntimeError, match="is closed"):
        file._fill(print, None, None)
    writer.add_scalar("a", 1.0, 0)  # a new file
    writer.close()
    assert scalars(tmp_path, "a") == [(0, 1.0)]
