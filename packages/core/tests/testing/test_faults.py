"""Saving on a disk that fails: the old file or the new, whole, and an error with the facts."""

from __future__ import annotations

import errno
import os
import random
import signal
import stat

import pytest
from forks import forked

import taeda
from taeda._io import disk
from taeda.testing import faults

OLD = {"epoch": 1, "weight": taeda.zeros(5)}
NEW = {"epoch": 2, "weight": taeda.arange(40.0).reshape(5, 8), "bias": taeda.ones(3)}


def is_old(made):
    return made["epoch"] == 1 and made["weight"].tolist() == [0.0] * 5


def is_new(made):
    return made["epoch"] == 2 and all(
        made[k].tolist() == NEW[k].tolist() for k in ("weight", "bias")
    )


@pytest.fixture
def path(tmp_path):
    taeda.save(OLD, tmp_path / "model.pt")
    return tmp_path / "model.pt"


ERRORS = {
    errno.ENOSPC: r"disk is full: \d+ bytes are to be written, and \d+ are free",
    errno.EDQUOT: "quota",
    errno.EIO: "device reports an error",
    errno.EROFS: "read-only",
    errno.EACCES: "may not be written",
    errno.EFBIG: "ulimit",
}


@pytest.mark.parametrize("operation", ["create", "write", "copy_rights", "sync", "rename"])
@pytest.mark.parametrize("number", ERRORS, ids=errno.errorcode.get)
def test_a_failure_leaves_the_old_file_and_says_what_is_missing(path, operation, number):
    with pytest.raises(OSError, match=ERRORS[number]) as caught, faults.failing(operation, number):
        taeda.save(NEW, path)
    assert caught.value.errno == number
    assert "model.pt is as it was" in str(caught.value)
    assert is_old(taeda.load(path))
    assert os.listdir(path.parent) == ["model.pt"]


def test_every_operation_in_turn_fails(path):
    failures = 0
    for at in range(100):
        try:
            with faults.failing("any", errno.EIO, at):
                taeda.save(NEW, path, sync="full")
        except OSError:
            failures += 1
            made = taeda.load(path)
            assert is_old(made) or is_new(made)
            assert os.listdir(path.parent) == ["model.pt"]
        else:
            break
    assert failures >= 5
    assert is_new(taeda.load(path))


def test_a_failure_after_the_rename_says_that_the_new_file_is_there(path):
    with (
        pytest.raises(OSError, match=r"model\.pt is written, but whether it survives"),
        faults.failing("sync_folder", errno.EIO),
    ):
        taeda.save(NEW, path, sync="full")
    assert is_new(taeda.load(path))


def test_a_first_file_that_failed_is_not_there(tmp_path):
    with (
        pytest.raises(OSError, match="was not made"),
        faults.failing("write", errno.ENOSPC),
    ):
        taeda.save(NEW, tmp_path / "new.pt")
    assert os.listdir(tmp_path) == []


def test_an_interrupted_write_goes_on(path):
    with faults.failing("write", errno.EINTR, times=3):
        taeda.save(NEW, path)
    assert is_new(taeda.load(path))


@pytest.mark.parametrize("most", [1, 7, 4096])
def test_short_writes_go_on(path, most):
    with faults.torn(most):
        taeda.save(NEW, path)
    assert is_new(taeda.load(path))


def test_a_system_that_takes_nothing_is_an_error(path):
    with pytest.raises(OSError, match="device reports"), faults.torn(0):
        taeda.save(NEW, path)
    assert is_old(taeda.load(path))


def test_a_disk_without_room_is_refused_before_anything_is_written(path, monkeypatch):
    full = os.statvfs_result((4096, 4096, 100, 1, 0, 10, 10, 10, 0, 255))
    monkeypatch.setattr(os, "statvfs", lambda folder: full)
    with (
        faults.recorded() as steps,
        pytest.raises(
            OSError, match=r"full: \d+ bytes are to be written, and 0 are free"
        ) as caught,
    ):
        taeda.save(NEW, path)
    assert caught.value.errno == errno.ENOSPC
    assert not steps
    assert is_old(taeda.load(path))


def kill_points(path):
    with faults.recorded() as steps:
        taeda.save(OLD, path)
        taeda.save(NEW, path.with_name("other"))
    path.with_name("other").unlink()
    return sum(len(step.data) for step in steps[len(steps) // 2 :])


def test_killed_at_points_spread_over_a_save(path):
    total = kill_points(path)
    draw = random.Random(0)
    points = [{"after_bytes": draw.randrange(1, total)} for _ in range(40)]
    points += [{"at": number} for number in range(8)]
    for point in points:
        taeda.save(OLD, path)

        def save(point=point):
            with faults.killed(**point):
                taeda.save(NEW, path)

        ended = forked(save)
        made = taeda.load(path)
        assert is_old(made) or is_new(made), point
        assert ended in (0, -signal.SIGKILL)
        if "after_bytes" in point:
            assert ended == -signal.SIGKILL
            assert is_old(made)
    taeda.save(NEW, path)
    assert os.listdir(path.parent) == ["model.pt"]  # leftovers of the dead are gone


def after_power_cuts(path, tmp_path, sync):
    """What `load` makes of each state that a power cut during a save may leave: (how far, old, new
    or refused).
    """
    before = {str(path): path.read_bytes()}
    with faults.recorded() as steps:
        taeda.save(NEW, path, sync=sync)
    copy = tmp_path / "copy"
    for name, folder in faults.power_cuts(steps, before):
        copy.write_bytes(folder[str(path)])
        try:
            made = taeda.load(copy)
        except (taeda.serialization.FormatError, EOFError):
            yield name, "refused"
        else:
            assert is_old(made) or is_new(made), name
            yield name, "new" if is_new(made) else "old"


def operations(path, sync):
    with faults.recorded() as steps:
        taeda.save(NEW, path, sync=sync)
    return [step.operation for step in steps if step.operation != "write"]


@pytest.mark.parametrize(
    ("sync", "done"),
    [
        ("off", ["create", "rename"]),
        ("normal", ["create", "sync", "rename"]),
        ("full", ["create", "sync", "rename", "sync_folder"]),
    ],
)
def test_what_is_waited_for(path, sync, done):
    assert operations(path, sync) == done


@pytest.mark.parametrize("sync", ["normal", "full"])
def test_every_state_that_a_power_cut_may_leave_is_old_or_new(path, tmp_path, sync):
    left = dict(after_power_cuts(path, tmp_path, sync))
    assert set(left.values()) == {"old", "new"}


def test_after_a_full_sync_the_new_file_stays(path, tmp_path):
    left = dict(after_power_cuts(path, tmp_path, "full"))
    end = max(left, key=lambda name: int(name.split()[1].rstrip(","))).partition(",")[0]
    assert {came for name, came in left.items() if name.startswith(f"{end},")} == {"new"}


def test_without_sync_a_damaged_file_is_refused_and_never_read_as_something_else(path, tmp_path):
    left = dict(after_power_cuts(path, tmp_path, "off"))
    assert set(left.values()) == {"old", "new", "refused"}


def test_another_word_is_refused_before_anything_is_written(path):
    with faults.recorded() as steps, pytest.raises(ValueError, match="'off', 'normal' or 'full'"):
        taeda.save(NEW, path, sync="fast")
    assert not steps


def test_power_cuts_find_a_writer_that_does_not_sync(path):
    """The states are no formality: a rename without a sync before it is caught."""
    before = {str(path): path.read_bytes()}
    with faults.recorded() as steps:
        taeda.save(NEW, path)
    careless = [step for step in steps if step.operation != "sync"]
    broken = sum(
        folder[str(path)] not in (before[str(path)], path.read_bytes())
        for _, folder in faults.power_cuts(careless, before)
    )
    assert broken > 0


def test_the_real_disk_is_back_afterwards(path):
    with pytest.raises(OSError, match="device"), faults.failing("write", errno.EIO):
        taeda.save(NEW, path)
    assert type(disk.current()) is disk.Disk
    taeda.save(NEW, path)
    assert is_new(taeda.load(path))


def test_a_read_only_file_is_not_replaced(path):
    path.chmod(0o444)
    with pytest.raises(PermissionError, match=r"is read-only .*chmod u\+w"):
        taeda.save(NEW, path)
    assert is_old(taeda.load(path))
    assert stat.S_IMODE(path.stat().st_mode) == 0o444


def test_unknown_operations_are_refused():
    with pytest.raises(ValueError, match="wanted one of create"), faults.failing("paint", 5):
        pass
