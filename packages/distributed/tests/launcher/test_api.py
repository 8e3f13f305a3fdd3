"""Functions started on several processes from a program."""

from __future__ import annotations

import pytest
from elastic_work import double

from taeda.distributed.elastic.multiprocessing.errors import ChildFailedError
from taeda.distributed.launcher.api import LaunchConfig, elastic_launch


def test_results_come_back_by_rank():
    config = LaunchConfig(min_nodes=1, max_nodes=1, nproc_per_node=2)
    assert elastic_launch(config, double)(4) == {0: 8, 1: 8}


def test_a_failure_is_named():
    config = LaunchConfig(min_nodes=1, max_nodes=1, nproc_per_node=1, max_restarts=0)
    with pytest.raises(ChildFailedError, match="double"):
        elastic_launch(config, double)(-1)
