from __future__ import annotations

import taeda


def test_tensors_that_are_read_are_kept_by_the_graph(watch):
    weight = taeda.ones(2)
    observer, _ = watch(lambda x: x * weight, taeda.ones(2))
    assert observer.is_old(weight)
    assert observer.recorder.slot_of(weight) is not None


def test_what_the_run_makes_is_its_own(watch):
    made = []

    def program(x):
        found = [x, x + 1]
        found.append(3)
        return found

    observer, result = watch(program, taeda.ones(2))
    made.append(result)
    assert observer.active
    assert observer.may_change(result)
    assert not observer.is_old(result)


def test_a_value_whose_state_is_not_seen(watch):
    import re

    pattern = re.compile("a")
    observer, _ = watch(lambda x: (x, pattern), taeda.ones(2))
    assert observer.reason == "it reads a re.Pattern, whose state is not seen"


def test_a_subclass_of_tensor(watch):
    class Mine(taeda.Tensor):
        pass

    mine = taeda.ones(2).as_subclass(Mine)
    observer, _ = watch(lambda x: (x, mine), taeda.ones(2))
    assert observer.reason == "it reads a tensor of the type Mine"


def test_contents_are_guarded_to_the_bottom(watch):
    table = {"a": [1, 2], "b": (3, [4])}
    observer, _ = watch(lambda x: x * len(table), taeda.ones(2))
    assert observer.guards.compiled()[0]()
    table["b"][1][0] = 5
    assert not observer.guards.compiled()[0]()


def test_a_set_of_objects(watch):
    things = {object()}
    observer, _ = watch(lambda x: x * len(things), taeda.ones(2))
    assert observer.reason == "it reads a set of objects"
