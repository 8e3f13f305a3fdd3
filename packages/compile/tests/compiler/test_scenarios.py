from __future__ import annotations

import contextlib
import functools
import io
from pathlib import Path

import pytest
from compile_scenarios import EAGER, FORMS, SCENARIOS

import taeda
from taeda import Tensor


def equal(a, b):
    if isinstance(a, Tensor):
        return (
            a.dtype == b.dtype
            and a.shape == b.shape
            and (a.equal(b) or taeda.equal(a.isnan(), b.isnan()))
        )
    if isinstance(a, list):
        return len(a) == len(b) and all(map(equal, a, b))
    if isinstance(a, dict):
        return list(a) == list(b) and all(map(equal, a.values(), b.values()))
    return a == b


def compiling(made):
    def compile(function):
        result = taeda.compile(function)
        made.append(getattr(result, "__taeda_compiled__", None) or result._compiled)
        return result

    return compile


@functools.cache
def ends_in_a_graph(name):
    """Whether all of the program is a graph, with no last statements that run as they are."""
    made = []
    with contextlib.redirect_stdout(io.StringIO()):
        SCENARIOS[name][1](compiling(made))
    return all(compiled.split is None for compiled in made)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", SCENARIOS)
def test_compiled_gives_what_the_program_gives(name, form):
    _, program = SCENARIOS[name]
    made, compiled_as = [], FORMS[form]
    with contextlib.redirect_stdout(io.StringIO()):
        expected = program(compiled_as(lambda f: f))
        found = program(compiled_as(compiling(made)))
    assert equal(found, expected)
    ran = any(
        trace.trusted
        for compiled in made
        for state in compiled.states()
        for traces in state.traces.values()
        for trace in traces
    )
    reasons = [reason for compiled in made for reason in compiled.reasons]
    if name in EAGER or (form != "by itself" and not ends_in_a_graph(name)):
        assert reasons
        assert not ran
    else:
        assert ran, reasons
    assert not any("other bits" in reason for reason in reasons)


def test_the_page_shows_these_programs():
    text = (Path(__file__).parents[4] / "docs" / "compile-scenarios.md").read_text()
    rows = [
        line.split(" | ")[0].removeprefix("| ")
        for line in text.splitlines()
        if line.startswith("| ")
    ]
    assert rows[1:] == [what for what, _ in SCENARIOS.values()]
