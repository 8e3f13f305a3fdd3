"""A state of rank 0 reaches all ranks, with its structure and what is no tensor."""

import pytest
from rank_threads import on_threads

import taeda
from taeda.distributed.checkpoint._from_rank_0 import mapped, spread


def test_leaves_change_and_the_structure_stays():
    seen = {}
    made = mapped({"a": [1, (2,)], "b": {}}, lambda path, value: seen.setdefault(path, value) * 10)
    assert made == {"a": [10, (20,)], "b": {}}
    assert seen == {("a", 0): 1, ("a", 1, 0): 2}


@pytest.mark.parametrize("size", [1, 3])
def test_all_ranks_get_what_rank_0_has(size):
    state = {"w": taeda.arange(6.0).reshape(2, 3).t(), "none": taeda.ones(0, 2), "step": 3}

    def work(rank):
        paths = []
        made = spread(state if rank == 0 else None, lambda path, whole: paths.append(path) or whole)
        assert paths == [("w",), ("none",)] and made["step"] == 3
        return taeda.equal(made["w"], state["w"]) and made["none"].shape == (0, 2)

    assert on_threads(size, work) == [True] * size


def test_without_a_group_it_is_refused():
    with pytest.raises(RuntimeError, match="init_process_group"):
        spread({}, lambda path, whole: whole)
