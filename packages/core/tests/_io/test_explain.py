"""What a failed write tells: which disk, how many bytes, and that the old file is as it was."""

from __future__ import annotations

import errno
import os

import pytest

from taeda._io import explain

NUMBERS = {
    errno.ENOSPC: "the disk is full: 7 bytes are to be written",
    errno.EDQUOT: "your quota on this disk",
    errno.EFBIG: "see `ulimit -f`",
    errno.EIO: "the device reports an error",
    errno.EROFS: "is read-only",
    errno.EACCES: "may not be written",
    errno.EPERM: "may not be written",
    errno.ENOTDIR: "this is no folder",
}


@pytest.mark.parametrize("number", NUMBERS)
def test_an_error_keeps_its_type_and_number(number, tmp_path):
    path = str(tmp_path / "x.pt")
    with pytest.raises(OSError, match=NUMBERS[number]) as caught, explain.explained(path, 7):
        raise OSError(number, os.strerror(number))
    assert caught.value.errno == number and caught.value.filename == path
    assert type(caught.value) is type(OSError(number, ""))
    assert "x.pt was not made" in str(caught.value)
    (tmp_path / "x.pt").touch()
    with pytest.raises(OSError, match=r"x\.pt is as it was"), explain.explained(path, 0):
        raise OSError(number, "")


def test_a_folder_that_is_not_there_and_one_that_is_on_no_disk(tmp_path):
    with (
        pytest.raises(FileNotFoundError, match="does not exist"),
        explain.explained(str(tmp_path / "no" / "x"), 1),
    ):
        raise OSError(errno.ENOENT, "")
    with (
        pytest.raises(FileNotFoundError, match="no folder of a disk"),
        explain.explained("/proc/x", 1),
    ):
        raise OSError(errno.ENOENT, "")


def test_other_errors_are_as_they_were(tmp_path):
    with pytest.raises(OSError, match="mine") as caught, explain.explained(str(tmp_path / "x"), 1):
        raise OSError(errno.EBADF, "mine")
    assert caught.value.filename is None


def test_space_is_looked_for_before_anything_is_written(tmp_path):
    explain.check_space(str(tmp_path / "x"), 1)
    with pytest.raises(OSError, match="the disk is full") as caught:
        explain.check_space(str(tmp_path / "x"), 1 << 62)
    assert caught.value.errno == errno.ENOSPC
    for nowhere in (str(tmp_path / "no" / "x"), "/proc/x"):  # the write itself will say why
        explain.check_space(nowhere, 1 << 62)


def test_a_file_in_its_place_that_may_not_last(tmp_path):
    text = r"x is written, but whether it survives a power failure is unknown: bad"
    with pytest.raises(OSError, match=text), explain.unconfirmed(str(tmp_path / "x")):
        raise OSError(errno.EIO, "bad")
