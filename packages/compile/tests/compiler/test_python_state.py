"""What a program reads of Python's objects, wherever it finds them, and what it writes there.

A part of the table of `tools/testing/python_state.py`; `tools/hunt/python_states.py` runs all of it.
"""

from __future__ import annotations

import pytest
import python_state

import taeda

PAIRS = [
    (f"{idiom.name} in {place.name}", python_state.text_of(idiom, place))
    for k, idiom in enumerate(python_state.IDIOMS)
    for n, place in enumerate(python_state.PLACES)
    if (k + 7 * n) % 22 == 0
]


def ids(programs):
    return [name for name, _ in programs]


@pytest.mark.parametrize("text", [t for _, t in python_state.EXTRA], ids=ids(python_state.EXTRA))
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_programs_with_state(text):
    want = python_state.outcome(text, lambda f: f)
    assert python_state.outcome(text, taeda.compile) == want


@pytest.mark.parametrize("text", [text for _, text in PAIRS], ids=ids(PAIRS))
def test_idioms_in_places(text):
    want = python_state.outcome(text, lambda f: f)
    assert python_state.outcome(text, taeda.compile) == want


def test_most_of_them_are_graphs():
    made = []

    def compiled(f):
        made.append(taeda.compile(f))
        return made[-1]

    for _, text in PAIRS[::5]:
        python_state.outcome(text, compiled)
    graphs = sum(any(f.__taeda_compiled__.traces.values()) for f in made)
    assert graphs > 0.6 * len(made)
