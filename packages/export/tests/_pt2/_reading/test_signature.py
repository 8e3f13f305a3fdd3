"""Inputs, outputs and the version of a program."""

from __future__ import annotations

import pytest

from taeda._core_api.files import FormatError
from taeda.export._pt2._kinds import SCHEMA
from taeda.export._pt2._reading.signature import (
    argument_spec,
    check_version,
    input_spec,
    new_value,
)
from taeda.export.graph_signature import (
    ConstantArgument,
    ExportGraphSignature,
    InputKind,
    OutputKind,
    TensorArgument,
)

TENSOR = {"as_tensor": {"name": "x"}}


def of(major, minor=0):
    return {"schema_version": {"major": major, "minor": minor}, "torch_version": "2.13"}


def test_every_minor_version_is_read():
    check_version(of(SCHEMA[0], 0))
    check_version(of(SCHEMA[0], 999))


@pytest.mark.parametrize(
    ("major", "minor", "words"),
    [
        (SCHEMA[0] + 1, 0, "newer"),
        (SCHEMA[0] - 1, 0, "older"),
        (-1, 0, "none"),
        ("8", 0, "none"),
        (SCHEMA[0], True, "none"),
    ],
)
def test_another_major_version_is_not(major, minor, words):
    with pytest.raises(FormatError, match=words):
        check_version(of(major, minor))


def test_arguments():
    assert argument_spec(TENSOR) == TensorArgument("x")
    assert argument_spec({"as_int": 3}) == ConstantArgument("", 3)
    with pytest.raises(FormatError, match="as_ints"):
        argument_spec({"as_ints": [3]})


def test_inputs():
    weight = input_spec("parameter", {"arg": {"name": "p"}, "parameter_name": "layer.weight"})
    assert (weight.kind, weight.target) == (InputKind.PARAMETER, "layer.weight")
    running = {"arg": {"name": "b"}, "buffer_name": "mean", "persistent": False}
    assert input_spec("buffer", running).persistent is False
    assert input_spec("user_input", {"arg": TENSOR}).arg == TensorArgument("x")
    number = {"name": "n", "value": {"as_int": 3}}
    assert input_spec("constant_input", number).arg == ConstantArgument("n", 3)
    with pytest.raises(FormatError, match="custom_obj"):
        input_spec("custom_obj", {})


def test_new_values_are_of_inputs():
    signature = ExportGraphSignature([], [])
    buffer = {"arg": {"name": "y"}, "buffer_name": "mean"}
    with pytest.raises(FormatError, match="no input"):
        new_value("buffer_mutation", buffer, signature)
    running = {"arg": {"name": "b"}, "buffer_name": "mean", "persistent": True}
    known = ExportGraphSignature([input_spec("buffer", running)], [])
    assert new_value("buffer_mutation", buffer, known).kind is OutputKind.BUFFER_MUTATION
    with pytest.raises(FormatError, match="smoke"):
        new_value("smoke", {}, known)
