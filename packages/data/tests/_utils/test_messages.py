"""Words for samples, and exceptions that travel."""

from __future__ import annotations

import pickle

import pytest
from loader_data import Unusual

from taeda.utils.data._utils.messages import Failure, sample_name


@pytest.mark.parametrize(
    ("index", "position", "name"),
    [
        ([7, 9], 1, "sample 9"),
        (["a", "b"], 0, "sample 'a'"),
        ([7, 9], -1, "samples [7, 9]"),
        (list(range(20)), -1, "samples [0, 1, 2, 3, 4, 5, 6, 7, ...]"),
        (5, -1, "sample 5"),
        (None, -1, "next sample of the stream"),
        ([None, None], 3, "sample 3 of the stream"),
    ],
)
def test_names_of_samples(index, position, name):
    assert sample_name(index, position) == name


class Local(Exception):
    """Of this file, which another process cannot import; here it can."""


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (ValueError("a"), ValueError),
        (KeyError("a"), KeyError),
        (Unusual(1, 2), RuntimeError),
        (Local("a"), Local),
    ],
    ids=str,
)
def test_exceptions_are_raised_as_what_they_were(error, kind):
    try:
        raise error
    except Exception as caught:  # noqa: BLE001 - whatever was raised above
        failure = pickle.loads(pickle.dumps(Failure.of(caught, "place 3")))
    with pytest.raises(kind) as raised:
        failure.reraise()
    text = str(raised.value)
    assert text.startswith(f"Caught {type(error).__name__} in place 3.\nOriginal Traceback")
    assert "raise error" in text


def test_a_class_that_cannot_travel_becomes_a_runtime_error():
    class Inner(Exception):
        pass

    assert Failure.of(Inner("x"), "place").kind is RuntimeError
