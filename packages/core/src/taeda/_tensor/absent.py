"""Attributes that PyTorch's Tensor has and ours has not: asking for one says what to do instead.

They are not there: `hasattr` says so, and a program may set them. The sentences stand in
`_torch_names/absent.txt`, which is read at the first miss; a test holds the names below to that
file.
"""

from __future__ import annotations

from typing import Any, Never

from ._method import Tensor

__all__ = ["ABSENT"]

ABSENT = frozenset("align_as align_to names refine_names rename rename_".split())


class _Absent:
    """Stands in the class where an attribute does not: getting it raises AttributeError with the sentence."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, owner: type) -> Never:
        from .._torch_names.absent import message  # at the first miss

        raise AttributeError(message(f"taeda.Tensor.{self.name}"), name=self.name, obj=instance)

    def __repr__(self) -> str:
        return f"<{self.name}: absent>"


for _name in ABSENT:
    setattr(Tensor, _name, _Absent(_name))
