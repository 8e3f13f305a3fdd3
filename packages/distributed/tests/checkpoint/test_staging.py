"""Older names, and how async_save copies."""

from __future__ import annotations

import pytest

import taeda
import taeda.distributed.checkpoint as dcp


def test_older_names_and_stagers(tmp_path):
    with pytest.warns(FutureWarning, match="old name"):
        dcp.save_state_dict({"x": taeda.ones(2)}, dcp.FileSystemWriter(tmp_path))
    state = {"x": taeda.zeros(2)}
    with pytest.warns(FutureWarning, match="old name"):
        dcp.load_state_dict(state, dcp.FileSystemReader(tmp_path))
    assert state["x"].tolist() == [1, 1]
    stager = dcp.BlockingAsyncStager(cache_staged_state_dict=True)
    held = {"x": taeda.ones(3), "y": [taeda.zeros(1)], "z": {"n": 1}}
    first = stager.stage(held)
    held["x"].zero_()
    assert first["x"].tolist() == [1, 1, 1] and not stager.should_synchronize_after_execute
    second = stager.stage(held)
    assert second["x"].data_ptr() == first["x"].data_ptr() and second["x"].sum() == 0
    future = dcp.async_save(held, checkpoint_id=tmp_path, async_stager=stager)
    assert "x" in future.result().state_dict_metadata
    with pytest.raises(NotImplementedError, match="thread"):
        dcp.async_save(
            held, checkpoint_id=tmp_path, async_checkpointer_type=dcp.AsyncCheckpointerType.PROCESS
        )
