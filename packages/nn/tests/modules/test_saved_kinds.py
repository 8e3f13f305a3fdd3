"""Whole modules in files: every kind of object that attributes of modules hold, each met twice, in
any order.
"""

from __future__ import annotations

import functools
import io
from collections import deque

import pytest
from kept_objects import COPIED, FORMATS, KINDS, Net, back, shown

import taeda
from taeda import nn

pytestmark = pytest.mark.filterwarnings("ignore:a file holds objects of:UserWarning")


def holding(values):
    """A module that has each value twice, beside containers that are met twice as well."""
    made = Net()
    made.rows = [[value] for value in values.values()]
    for number, (name, value) in enumerate(values.items()):
        setattr(made, name, value)
        setattr(made, f"row_{name}", made.rows[number])
    for name, value in values.items():
        setattr(made, f"again_{name}", value)
    return made


def check(made, values):
    for number, (name, value) in enumerate(values.items()):
        first, second = getattr(made, name), getattr(made, f"again_{name}")
        row = getattr(made, f"row_{name}")
        assert row is made.rows[number], name
        assert type(first) is type(value) is type(second) is type(row[0]), name
        assert isinstance(value, COPIED) or first is second is row[0], name
        assert shown(first) == shown(value), name


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("step", [1, -1])
def test_each_kind_comes_back_beside_all_others(form, step):
    names = list(KINDS[form])[::step]
    for begin in range(len(names)):
        values = {name: KINDS[form][name]() for name in names[begin:] + names[:begin]}
        check(back(holding(values), form), values)


@pytest.mark.parametrize("form", FORMATS)
def test_each_kind_comes_back_alone(form):
    for name, make in KINDS[form].items():
        values = {name: make()}
        check(back(holding(values), form), values)


@pytest.mark.parametrize("form", FORMATS)
def test_modules_of_a_file_have_their_own_tables(form):
    made = back(nn.Sequential(nn.ReLU(), nn.ReLU()), form)
    called = []
    made[0].register_forward_hook(lambda *_: called.append(1))
    made[1](taeda.ones(1))
    assert not called


BUILT_IN = (list, dict, set, deque, functools.partial)
DERIVED = [type(f"Derived_{kind.__name__}", (kind,), {"__module__": __name__}) for kind in BUILT_IN]
globals().update({kind.__name__: kind for kind in DERIVED})  # files find them by name


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("kind", DERIVED, ids=lambda kind: kind.__name__)
def test_what_has_more_than_fields_is_refused_when_it_is_saved(form, kind):
    made = Net()
    made.value = kind(len) if issubclass(kind, functools.partial) else kind()
    with pytest.raises(TypeError, match="cannot be made from data alone"):
        taeda.save(made, io.BytesIO(), format=form)


def noted(*given):
    """A hook that files find by its name."""
    SEEN.append(len(given))


SEEN: list[int] = []
REGISTER = sorted(
    name for name in dir(nn.Module) if name.startswith("register_") and name.endswith("hook")
)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("register", REGISTER)
def test_a_module_that_had_a_hook_is_saved(form, register):
    made = nn.Sequential(nn.Linear(2, 2))
    getattr(made, register)(noted).remove()
    made[0].register_forward_hook(noted).remove()
    loaded = _again(made, form)
    loaded(taeda.ones(1, 2)).sum().backward()
    loaded.load_state_dict(loaded.state_dict())
    assert not SEEN


#: wraps the hook for its module, and what is wrapped has no name
WRAPPED = {"register_state_dict_post_hook"}


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("register", sorted(set(REGISTER) - WRAPPED))
def test_hooks_that_have_a_name_are_saved_with_their_module_and_run(form, register):
    made = nn.Linear(2, 2)
    getattr(made, register)(noted)
    loaded = _again(made, form)
    getattr(loaded, register)(print).remove()  # has a key of its own
    loaded(taeda.ones(1, 2, requires_grad=True)).sum().backward()
    loaded.load_state_dict(loaded.state_dict())
    assert SEEN
    SEEN.clear()


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("register", sorted(WRAPPED))
def test_hooks_without_a_name_are_refused(form, register):
    made = nn.Linear(2, 2)
    getattr(made, register)(noted)
    with pytest.raises(TypeError, match="data, not code"):
        taeda.save(made, io.BytesIO(), format=form)


def test_a_table_of_hooks_that_is_none_is_refused():
    state = nn.Linear(2, 2).__getstate__()
    for wrong in ([noted], {"first": noted}):
        with pytest.raises(TypeError, match="no table of hooks _forward_hooks"):
            nn.Linear(2, 2).__setstate__({**state, "_forward_hooks": wrong})


def _again(module, form):
    file = io.BytesIO()
    taeda.save(module, file, format=form)
    file.seek(0)
    with pytest.warns(UserWarning, match="weights_only"):
        return taeda.load(file, weights_only=False)
