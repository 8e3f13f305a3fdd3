"""Error files, and who failed first."""

from __future__ import annotations

import pytest

from taeda.distributed.elastic.multiprocessing.errors import (
    ChildFailedError,
    ProcessFailure,
    record,
)


def test_error_files(tmp_path, monkeypatch):
    path = tmp_path / "folder" / "error.json"
    monkeypatch.setenv("TORCHELASTIC_ERROR_FILE", str(path))
    with pytest.raises(ZeroDivisionError):
        record(lambda: 1 / 0)()
    failure = ProcessFailure(0, 7, 1, str(path))
    assert "ZeroDivisionError" in failure.message and failure.signal_name() == "<N/A>"
    error = ChildFailedError("train.py", {0: failure, 1: ProcessFailure(1, 8, -9, "none")})
    assert error.get_first_failure()[0] == 1 and "SIGKILL" in str(error)
