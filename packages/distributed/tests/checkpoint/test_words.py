"""Plans, results and entries go through JSON and come back equal."""

from __future__ import annotations

import json

import pytest

import taeda
from taeda.distributed.checkpoint import DefaultSavePlanner, LoadPlan, MetadataIndex, _words
from taeda.distributed.checkpoint.default_planner import DefaultLoadPlanner
from taeda.distributed.checkpoint.storage import WriteResult


def through(data):
    return json.loads(json.dumps(data))


def test_plans_and_entries_come_back():
    state = {"a": {"b": taeda.ones(2, 3)}, "c": 4, "d": taeda.ones((), dtype=taeda.bfloat16)}
    planner = DefaultSavePlanner()
    planner.set_up_planner(state)
    plan = planner.create_local_plan()
    assert _words.save_plan_from(through(_words.save_plan_to(plan))) == plan
    _, metadata = planner.create_global_plan([plan])
    entries = _words.entries_from(through(_words.entries_to(metadata)))
    assert entries == metadata.state_dict_metadata
    loader = DefaultLoadPlanner()
    loader.set_up_planner(state, metadata)
    wanted = loader.create_local_plan()
    assert len(wanted.items) == 3
    assert _words.load_plan_from(through(_words.load_plan_to(wanted))) == wanted
    assert _words.load_plan_from(through(_words.load_plan_to(LoadPlan()))) == LoadPlan()


def test_results_come_back():
    results = [WriteResult(MetadataIndex("a", [0, 2]), 8, ["1-0.safetensors", 0, 8, [5]])]
    assert _words.results_from(through(_words.results_to(results))) == results


@pytest.mark.parametrize(
    "bad",
    [
        {"dtype": "ops"},
        {"dtype": 4},
        {"size": [-1]},
        {"size": [True]},
        {"size": "2"},
        {"boxes": [[[0]]]},
    ],
)
def test_entries_that_make_no_sense(bad):
    good = {"dtype": "float32", "size": [2], "boxes": [[[0], [2]]]}
    assert _words.entries_from({"x": good})
    with pytest.raises((ValueError, TypeError)):
        _words.entries_from({"x": {**good, **bad}})
