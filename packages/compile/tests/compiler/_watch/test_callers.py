"""Functions that look at who calls them see the program, and nothing of the observer."""

from __future__ import annotations

import inspect
import sys
import warnings

import pytest

import taeda
from taeda.compiler._watch.callers import OF_CALLERS, back


def names_of_frames(x):
    frame, found = inspect.currentframe(), []
    while frame is not None and len(found) < 3:
        found.append(frame.f_code.co_name)
        frame = frame.f_back
    return x * 2, found


def through(x):
    return names_of_frames(x)


def deep(x):
    return sys._getframe(100_000)


def warns(x, level):
    warnings.warn("here", stacklevel=level)
    return x * 2


#: under other names, so that the text does not tell them
LOOKS = {
    "eval": "look('x * w')", "exec": "x * (look('global LOOKED; LOOKED = w') or LOOKED)",
    "locals": "x * look()['w']", "vars": "x * look()['w'] * len(look())",
    "dir": "x * len(look())", "globals": "x * look()['LOOKED']",
    "sys._getframe": "x * look().f_locals['w']",
    "inspect.currentframe": "x * look().f_locals['w']",
}  # fmt: skip


@pytest.mark.parametrize("name", LOOKS)
@pytest.mark.parametrize(
    "inside", ["{}", "(lambda x, w: {})(x, w)", "[{} for x, w in [(x, w)]][0]"]
)
def test_variables_of_the_caller_are_the_programs(name, inside, tmp_path):
    body = inside.format(LOOKS[name])
    path = tmp_path / "program.py"
    path.write_text(
        f"import inspect, sys\nLOOKED, look = 2.0, {name}\ndef f(x, w):\n    return {body}\n"
    )
    space = {}
    exec(compile(path.read_text(), str(path), "exec"), space)
    f = taeda.compile(space["f"])
    for w in (0.5, 0.25, 3.0) * 2:
        assert f(taeda.ones(2), w).equal(space["f"](taeda.ones(2), w))


def test_frames_are_those_of_the_program():
    _, found = taeda.compile(through)(taeda.ones(3))
    assert found[:2] == ["names_of_frames", "through"]


def test_a_stack_that_is_not_so_deep():
    with pytest.raises(ValueError, match="deep enough"):
        taeda.compile(deep)(taeda.ones(3))


@pytest.mark.parametrize("level", [1, 2])
def test_a_warning_names_the_line_that_it_names_otherwise(level):
    def outer(x):
        return warns(x, level)

    places = []
    for f in (outer, taeda.compile(outer)):
        with warnings.catch_warnings(record=True) as got:
            warnings.simplefilter("always")
            f(taeda.ones(3))
        places += [(w.filename, w.lineno, w.category) for w in got]
    assert len(places) == 2 and places[0] == places[1]


def test_a_warning_of_a_text_without_a_module_is_heard():
    space = {"warnings": warnings}  # no __name__: exec(text, {...}) of somebody
    exec("def f(x):\n    warnings.warn('here')\n    return x + 1", space)
    f = taeda.compile(space["f"])
    for _ in range(3):
        with pytest.warns(UserWarning, match="here"):
            f(taeda.ones(3))


def test_frames_of_the_observer_are_passed():
    assert back(None) is None
    assert back(sys._getframe()) is sys._getframe()
    assert OF_CALLERS[id(sys._getframe)]() is sys._getframe()
