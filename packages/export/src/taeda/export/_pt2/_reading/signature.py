"""What a program takes and gives, and the version that says so."""

from __future__ import annotations

from typing import Any

from taeda._core_api.files import FormatError

from ...graph_signature import (
    ArgumentSpec,
    ConstantArgument,
    ExportGraphSignature,
    InputKind,
    InputSpec,
    OutputKind,
    OutputSpec,
    TensorArgument,
)
from .._kinds import NUMBER_ARGUMENTS, SCHEMA, WRITTEN
from .values import name_of, plain_value, union_of

__all__ = ["argument_spec", "check_version", "input_spec", "new_value"]


def check_version(document: Any) -> None:
    """Any minor version is read: fields that are new are not, and fields that were not there yet are
    as if empty. Another major one means something else by the same words.
    """
    version = document["schema_version"]
    major, minor = version["major"], version["minor"]
    if type(major) is not int or type(minor) is not int or min(major, minor) < 0:
        raise FormatError(f"the file has version {major!r:.20}.{minor!r:.20}, which is none")
    if major != SCHEMA[0]:
        advice = (
            "it is newer than this library: update taeda, or write the program again with one that "
            f"writes version {SCHEMA[0]} (PyTorch 2.13 does)"
            if major > SCHEMA[0]
            else "it is older: load it where it was written, and save it there with PyTorch 2.13 or taeda"
        )
        raise FormatError(
            f"the file has version {major}.{minor} of the format, written by "
            f"{document.get('torch_version')!r:.60}; version {SCHEMA[0]} is read here, and {advice}"
        )


_NUMBERS = {kind: argument for argument, kind in NUMBER_ARGUMENTS.items()}


def argument_spec(entry: Any) -> ArgumentSpec:
    """A value that goes in or comes out."""
    ((kind, value),) = union_of(entry)
    if kind == "as_tensor":
        return TensorArgument(name_of(value["name"]))
    if kind in _NUMBERS:
        ((which, content),) = union_of(value)
        if which == "as_name":
            made: ArgumentSpec = _NUMBERS[kind](name_of(content))
            return made
        kind, value = which, content
    plain = plain_value(kind, value)
    if not isinstance(plain, (int, float, str, type(None))):
        raise FormatError(f"a result of the kind {kind!r:.60} is not read")
    return ConstantArgument("", plain)


def input_spec(kind: str, value: Any) -> InputSpec:
    """An argument, or a tensor of the module."""
    if kind == "user_input":
        argument = argument_spec(value["arg"])
        if not isinstance(argument, (TensorArgument, ConstantArgument)):
            raise FormatError(
                f"the argument {argument.name!r:.80} is a number that differs from call to call: tensors "
                "and constants are read"
            )
        return InputSpec(InputKind.USER_INPUT, argument, None)
    if kind == "constant_input":
        ((which, content),) = union_of(value["value"])
        known = ConstantArgument(name_of(value["name"]), plain_value(which, content))
        return InputSpec(InputKind.USER_INPUT, known, None)
    if kind not in ("parameter", "buffer", "tensor_constant"):
        raise FormatError(f"an input of the program is a {kind!r:.60}, which is not read")
    arg, target = TensorArgument(name_of(value["arg"]["name"])), str(value[f"{kind}_name"])
    if kind == "parameter":
        return InputSpec(InputKind.PARAMETER, arg, target)
    if kind == "buffer":
        return InputSpec(InputKind.BUFFER, arg, target, bool(value["persistent"]))
    return InputSpec(InputKind.CONSTANT_TENSOR, arg, target)


def new_value(kind: str, value: Any, signature: ExportGraphSignature) -> OutputSpec:
    """An output that is the new value of an input, which must be one of the program."""
    for mine, (name, field) in WRITTEN.items():
        if kind == name:
            target = value[field]
            known = {
                OutputKind.BUFFER_MUTATION: signature.buffers,
                OutputKind.PARAMETER_MUTATION: signature.parameters,
                OutputKind.USER_INPUT_MUTATION: [
                    s.arg.name
                    for s in signature.input_specs
                    if s.kind is InputKind.USER_INPUT and isinstance(s.arg, TensorArgument)
                ],
            }[mine]
            if target not in known:
                raise FormatError(
                    f"an output is the new value of {target!r:.80}, which is no input"
                )
            return OutputSpec(mine, TensorArgument(name_of(value["arg"]["name"])), target)
    raise FormatError(
        f"an output of the program is a {kind!r:.60}, which is not read: results and new values of "
        "buffers, parameters and arguments are"
    )
