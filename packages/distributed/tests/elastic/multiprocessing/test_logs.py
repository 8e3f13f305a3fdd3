"""Where the streams of processes go."""

from __future__ import annotations

import os

import pytest

from taeda.distributed.elastic.multiprocessing.logs import DefaultLogsSpecs, LogsSpecs, Std, to_map

ENVS = {rank: {"TORCHELASTIC_RUN_ID": "job", "TORCHELASTIC_RESTART_COUNT": "2"} for rank in (0, 1)}


def test_streams_from_text():
    assert Std.from_str("3") is Std.ALL and Std.from_str("0:3,1:0") == {0: Std.ALL, 1: Std.NONE}
    for wrong in ("", "4", "x", "0:9", "a:1"):
        with pytest.raises(ValueError, match=r"neither 0, 1, 2, 3 nor of the form 0:3,1:0"):
            Std.from_str(wrong)
    assert to_map({1: Std.ERR}, 3) == {0: Std.NONE, 1: Std.ERR, 2: Std.NONE}
    assert to_map(Std.ALL, 2) == {0: Std.ALL, 1: Std.ALL}


def test_a_folder_for_each_process_and_attempt(tmp_path):
    dest = DefaultLogsSpecs(str(tmp_path), Std.OUT, {1: Std.ERR}).reify(ENVS)
    folder = tmp_path / "job" / "attempt_2"
    assert (folder / "0").is_dir() and (folder / "1").is_dir()
    out, err = str(folder / "0" / "stdout.log"), str(folder / "1" / "stderr.log")
    assert dest.stdouts == {0: out, 1: str(folder / "1" / "stdout.log")}
    assert dest.stderrs == {0: "", 1: err}
    assert dest.tee_stdouts == {0: "", 1: ""} and dest.tee_stderrs == {0: "", 1: err}
    assert dest.error_files[1] == str(folder / "1" / "error.json")


def test_who_is_filtered_out_writes_to_files_alone(tmp_path):
    dest = DefaultLogsSpecs(str(tmp_path), tee=Std.OUT, local_ranks_filter={1}).reify(ENVS)
    assert dest.stdouts[0] and dest.stderrs[0] and not dest.tee_stdouts[0]
    assert dest.tee_stdouts[1] == dest.stdouts[1] and not dest.stderrs[1]


def test_without_a_folder_it_is_a_temporary_one(monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    specs = DefaultLogsSpecs()
    assert os.path.basename(specs.root_log_dir).startswith("taedarun_")
    assert specs.root_log_dir == specs.root_log_dir
    dest = specs.reify({0: {}})
    assert os.path.join("run", "attempt_0", "0", "error.json") in dest.error_files[0]
    with pytest.raises(TypeError, match="abstract"):
        LogsSpecs()
