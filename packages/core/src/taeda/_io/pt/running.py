"""A pickle run as Python runs it, with the classes and functions that it names: for files that the
user trusts.

The only place that runs what a file says, reached by `load(..., weights_only=False)` and by nothing
else. What torch names, of tensors and of its layers, is ours here.
"""

from __future__ import annotations

import importlib
import io
import pickle
from typing import Any

import taeda

from .. import safetypes
from . import names
from .allowed import Allowed
from .context import Context, Known
from .errors import RefusedPickle
from .refusal import names_asked

__all__ = ["names_code", "run_pickle"]


def names_code(data: bytes) -> bool:
    """Whether a pickle names something that is no data: a file without such names is read as all
    others are.
    """
    return any(names.find(module, name) is None for module, name in names_asked(data))


def run_pickle(data: bytes, context: Context) -> Any:
    """The object that the pickle makes when it is run."""
    return _Unpickler(data, context).load()


class _Unpickler(pickle.Unpickler):
    def __init__(self, data: bytes, context: Context) -> None:
        super().__init__(io.BytesIO(data))
        self.context = context

    def persistent_load(self, identity: Any) -> Any:
        assert self.context.persistent is not None
        return self.context.persistent(identity)

    def find_class(self, module: str, name: str) -> Any:
        known = names.find(module, name)
        top = module.partition(".")[0]
        if top == "torch" and isinstance(known, Known):
            return _Maker(known, self.context)
        if top == "torch":
            return _ours(module, name) if known is None else known
        if "." in name:  # a class inside another, which the pickles of protocol 2 name like others
            return _inner(super().find_class(module, name.partition(".")[0]), name)
        return safetypes.own(f"{module}.{name}") or super().find_class(module, name)


class _Maker:
    """A name of torch's that stands for a function of ours: called by the pickle, or an argument in it."""

    def __init__(self, known: Known, context: Context) -> None:
        self.known, self.context = known, context

    def __call__(self, *arguments: Any) -> Any:
        return self.known.make(tuple(map(_as_data, arguments)), self.context)


def _as_data(argument: Any) -> Any:
    """An argument as it stands where no code of the file runs."""
    if isinstance(argument, _Maker):
        return argument.known
    if isinstance(argument, type) and issubclass(argument, taeda.Tensor):
        return Allowed(f"{argument.__module__} {argument.__qualname__}", argument)
    return argument


def _inner(outer: Any, name: str) -> Any:
    for part in name.split(".")[1:]:
        outer = getattr(outer, part)
    return outer


def _ours(module: str, name: str) -> Any:
    """What stands for a name of torch's; UnpicklingError if nothing does."""
    if (found := safetypes.own(f"{module}.{name}")) is not None:
        return found
    place: Any = taeda
    try:
        place = importlib.import_module("taeda" + module.removeprefix("torch"))
        for part in name.split("."):
            place = getattr(place, part)
    except (ModuleNotFoundError, AttributeError) as error:
        raise RefusedPickle(
            f"the file asks for {module}.{name}, and taeda has nothing of that name: save the "
            "state_dict() with torch"
        ) from error
    return place
