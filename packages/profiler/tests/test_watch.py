"""What is wrapped for a run is as it was after it."""

import pytest

import taeda
from taeda import Tensor
from taeda.profiler._watch import READS, Watch


@pytest.mark.parametrize("raises", [False, True])
def test_methods_are_put_back(raises):
    names = (*READS, "backward")
    before = [getattr(Tensor, name) for name in names]
    watch = Watch()
    try:
        with watch.watching_program():
            taeda.ones(()).item()
            assert [getattr(Tensor, name) for name in names] != before
            if raises:
                raise LookupError
    except LookupError:
        pass
    assert [getattr(Tensor, name) for name in names] == before
    steps = {
        place: steps
        for waste in watch.wastes
        for place, steps in getattr(waste, "_steps", {}).items()
    }
    assert len(steps) == 1 and __file__ in next(iter(steps))
    assert [one.name for one in watch.ranges] == ["aten::ones"] and len(watch.curve) == 1
