"""Dataclasses as arguments and results of exported programs."""

from __future__ import annotations

from dataclasses import is_dataclass

from taeda._core_api import trees

__all__ = ["register_dataclass"]


def register_dataclass(cls: type, *, serialized_type_name: str | None = None) -> None:
    """Let objects of a dataclass be arguments and results of `export`, with tensors in their fields.

    A field that is None is so in every call. `serialized_type_name` is the name of the class in
    files: `save` needs it, and `load` looks the class up by it, so both programs register it.

    TypeError for what is no dataclass, ValueError for a class that is registered already.

    Args:
        serialized_type_name: the name of the class in files (default: None)

    >>> from dataclasses import dataclass
    >>> import taeda
    >>> from taeda import nn
    >>> from taeda.export import export
    >>> @dataclass
    ... class Pair:
    ...     a: taeda.Tensor
    ...     b: taeda.Tensor
    >>> register_dataclass(Pair)
    >>> class Sum(nn.Module):
    ...     def forward(self, pair):
    ...         return pair.a + pair.b
    >>> pair = Pair(taeda.ones(2), taeda.ones(2))
    >>> export(Sum(), (pair,)).module()(pair)
    tensor([2., 2.])
    """
    if not (isinstance(cls, type) and is_dataclass(cls)):
        raise TypeError(f"register_dataclass: cls is a dataclass, got {cls!r:.100}")
    trees.register_dataclass(cls, serialized_type_name=serialized_type_name)
