"""The schema of a Python function, from its annotations."""

from __future__ import annotations

import collections.abc
import inspect
import types
import typing
from collections.abc import Callable, Iterable
from typing import Any

import taeda

__all__ = ["infer_schema"]

# annotation -> word of the schema language
_PARAMETERS = {
    taeda.Tensor: "Tensor",
    int: "SymInt",
    float: "float",
    bool: "bool",
    str: "str",
    taeda.dtype: "ScalarType",
    taeda.device: "Device",
}
_LISTED = {taeda.Tensor, int, float, bool}
_NUMBER = frozenset({int, float, bool})
_RETURNS = {taeda.Tensor: "Tensor", int: "SymInt", float: "float", bool: "bool"}
_LISTS = (list, collections.abc.Sequence)
# names that annotations in quotes may use without importing them
_NAMES = {
    **{name: getattr(typing, name) for name in ("Optional", "List", "Sequence", "Union", "Tuple")},
    **{name: getattr(taeda, name) for name in ("Tensor", "device", "dtype")},
}


def infer_schema(
    prototype_function: Callable[..., Any],
    /,
    *,
    mutates_args: str | Iterable[str],
    op_name: str | None = None,
) -> str:
    """The schema of `prototype_function`, as text; with `op_name` in front if it is given.

    Parameters are annotated with Tensor, int, float, bool, str, dtype, device, int | float | bool
    (a Scalar), lists or sequences of Tensor and of numbers, and Optional of these; results with
    Tensor, a list of Tensors, int, float, bool, a tuple of these, or None. `mutates_args` names the
    Tensors that are written; "unknown" takes all of them for written.

    Args:
        prototype_function: the function whose annotations are read
        mutates_args: names of the Tensors that it writes, or "unknown"
        op_name: the operator's name, to stand in front (default: None)

    Raises ValueError, which names the parameter, for anything else, and for names in `mutates_args`
    that are no parameters.

    >>> def scale(x: taeda.Tensor, by: float = 2.0) -> taeda.Tensor: ...
    >>> infer_schema(scale, mutates_args=(), op_name="scale")
    'scale(Tensor x, float by=2.0) -> Tensor'
    """
    return _Inference(prototype_function).schema(mutates_args, op_name or "")


class _Inference:
    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.signature = inspect.signature(function)

    def fail(self, what: str) -> ValueError:
        return ValueError(f"infer_schema(func): {what} Got func with signature {self.signature}")

    def schema(self, mutates: str | Iterable[str], name: str) -> str:
        if isinstance(mutates, str) and mutates != "unknown":
            raise ValueError(
                "mutates_args must either be a sequence of the names of the arguments that are "
                "mutated or the string "
                f"'unknown', got {mutates!r}"
            )
        written = mutates if mutates == "unknown" else set(mutates)
        pieces, keyword_only = [], False
        for number, parameter in enumerate(self.signature.parameters.values()):
            self._check_kind(parameter)
            if parameter.kind is parameter.KEYWORD_ONLY and not keyword_only:
                keyword_only = True
                pieces.append("*")
            pieces.append(self._parameter(parameter, number, written))
        unknown = set() if written == "unknown" else set(written) - {*self.signature.parameters}
        if unknown:
            raise self.fail(
                f"{unknown} in mutates_args were not found in the custom op's signature. "
                "mutates_args should contain the "
                "names of all args that the custom op mutates."
            )
        return f"{name}({', '.join(pieces)}) -> {self._returns()}"

    def _check_kind(self, parameter: inspect.Parameter) -> None:
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise self.fail("Positional-only args, varargs and varkwargs have no schema.")
        if parameter.annotation is parameter.empty:
            raise self.fail(f"Parameter {parameter.name} must have a type annotation.")

    def _evaluated(self, annotation: Any) -> Any:
        if not isinstance(annotation, str):
            return annotation
        try:
            return eval(annotation, {**_NAMES, **getattr(self.function, "__globals__", {})})
        except (NameError, AttributeError, SyntaxError, TypeError) as error:
            raise self.fail(
                f"Unsupported type annotation {annotation}. It is not a type. ({error})."
            ) from None

    # ---- parameters ----

    def _parameter(self, parameter: inspect.Parameter, number: int, written: Any) -> str:
        annotation = self._evaluated(parameter.annotation)
        word = _parameter_word(annotation)
        if word is None:
            hint = (
                " Tuples have no schema; use a List or Sequence, or several arguments."
                if typing.get_origin(annotation) is tuple
                else " Valid are Tensor, int, float, bool, str, dtype, device, lists of Tensor and "
                "of numbers, and Optional of these."
            )
            raise self.fail(f"Parameter {parameter.name} has unsupported type {annotation}.{hint}")
        if written == "unknown" or parameter.name in written:
            if word.startswith("Tensor"):
                word = f"Tensor(a{number}!)" + word.removeprefix("Tensor")
            elif written != "unknown":
                raise self.fail(
                    f"Parameter {parameter.name} is in mutates_args but only Tensors or "
                    "collections of Tensors can be mutated."
                )
        return f"{word} {parameter.name}{self._default(parameter)}"

    def _default(self, parameter: inspect.Parameter) -> str:
        value = parameter.default
        if value is parameter.empty:
            return ""
        if isinstance(value, str):
            return f'="{value}"'
        if value is None or isinstance(value, (int, float, bool)):
            return f"={value}"
        if isinstance(value, taeda.dtype):
            return f"={str(value).removeprefix('taeda.')}"
        if isinstance(value, taeda.device):
            return f'="{value}"'
        raise self.fail(
            f"Parameter {parameter.name} has an unsupported default value type {type(value)}."
        )

    # ---- results ----

    def _returns(self) -> str:
        annotation = self.signature.return_annotation
        if annotation is self.signature.empty:
            raise self.fail("No return type annotation was provided. Please add one.")
        annotation = self._evaluated(annotation)
        if annotation in (None, type(None)):
            return "()"
        if typing.get_origin(annotation) is not tuple:
            return self._return(annotation, annotation)
        words = [self._return(part, annotation) for part in typing.get_args(annotation)]
        return f"({', '.join(words)})"

    def _return(self, part: Any, whole: Any) -> str:
        word = _return_word(self._evaluated(part))
        if word is None:
            raise self.fail(
                f"Return has unsupported type {whole}. Valid are Tensor, List[Tensor], int, float, "
                "bool, a Tuple of these, and None."
            )
        return word


def _members(annotation: Any) -> frozenset[Any]:
    """The types of a union; empty for what is none."""
    union = typing.get_origin(annotation) in (typing.Union, types.UnionType)
    return frozenset(typing.get_args(annotation)) if union else frozenset()


def _hashable(annotation: Any) -> bool:
    return type(annotation).__hash__ is not None


def _parameter_word(annotation: Any) -> str | None:
    members = _members(annotation)
    if members == _NUMBER:
        return "Scalar"
    if type(None) in members:
        rest = members - {type(None)}
        inner = "Scalar" if rest == _NUMBER else _parameter_word(*rest) if len(rest) == 1 else None
        return None if inner is None else f"{inner}?"
    if typing.get_origin(annotation) in _LISTS:
        return _list_word(*typing.get_args(annotation))
    return _PARAMETERS.get(annotation) if _hashable(annotation) else None


def _list_word(element: Any) -> str | None:
    members = _members(element)
    if members == _NUMBER:
        return "Scalar[]"
    if members == {taeda.Tensor, type(None)}:
        return "Tensor?[]"
    return f"{_PARAMETERS[element]}[]" if element in _LISTED else None


def _return_word(annotation: Any) -> str | None:
    if _members(annotation) == _NUMBER:
        return "Scalar"
    if typing.get_origin(annotation) in _LISTS:
        return "Tensor[]" if typing.get_args(annotation) == (taeda.Tensor,) else None
    return _RETURNS.get(annotation) if _hashable(annotation) else None
