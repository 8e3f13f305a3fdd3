"""Functions in processes of their own, and where their streams go."""

from __future__ import annotations

import pytest
from elastic_work import double

from taeda.distributed.elastic.multiprocessing import DefaultLogsSpecs, Std, start_processes, to_map


def test_functions_in_processes(tmp_path):
    envs = {0: {}, 1: {}}
    context = start_processes(
        "double", double, {0: (3,), 1: (5,)}, envs, DefaultLogsSpecs(str(tmp_path / "a"))
    )
    result = context.wait(60)
    assert result.return_values == {0: 6, 1: 10} and not result.is_failed()
    context = start_processes(
        "double", double, {0: (3,), 1: (-5,)}, envs, DefaultLogsSpecs(str(tmp_path / "b"))
    )
    result = context.wait(60)
    assert result.is_failed() and "ValueError: too little" in result.failures[1].message
    with pytest.raises(ValueError, match="local ranks"):
        start_processes("double", double, {0: (1,), 2: (1,)}, envs, DefaultLogsSpecs())


def test_streams():
    assert to_map(Std.OUT, 2) == {0: Std.OUT, 1: Std.OUT}
    assert to_map({1: Std.ERR}, 2) == {0: Std.NONE, 1: Std.ERR}
    with pytest.raises(ValueError, match="0:3"):
        Std.from_str("a:b")
