"""Walks through a module: its parameters, buffers, children and descendants, and members by path."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from taeda import Tensor

from ..parameter import Parameter
from ._registration import Registration

__all__ = ["Traversal"]


class Traversal(Registration):
    """The part of Module that lists what is in it, in the order of registration."""

    # ---- modules ----

    def named_children(self) -> Iterator[tuple[str, Any]]:
        """(name, child) of the direct children, each child once."""
        seen: set[int] = set()
        for name, module in self._modules.items():
            if module is not None and id(module) not in seen:
                seen.add(id(module))
                yield name, module

    def children(self) -> Iterator[Any]:
        """The direct children."""
        for _, module in self.named_children():
            yield module

    def named_modules(
        self, memo: set[Any] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Any]]:
        """(path, module) of this module, whose path is `prefix`, and of all below it, parents first."""
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, module in self._modules.items():
            if module is not None:
                path = f"{prefix}.{name}" if prefix else name
                yield from module.named_modules(memo, path, remove_duplicate)

    def modules(self) -> Iterator[Any]:
        """This module and all below it, each once."""
        for _, module in self.named_modules():
            yield module

    # ---- tensors ----

    def _named_members(
        self,
        get_members_fn: Callable[[Any], Iterable[tuple[str, Any]]],
        prefix: str = "",
        recurse: bool = True,
        remove_duplicate: bool = True,
    ) -> Iterator[tuple[str, Any]]:
        """(path, member) of what the function lists for a module and, on request, for those below it."""
        seen: set[int] = set()
        modules = (
            self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate)
            if recurse
            else [(prefix, self)]
        )
        for path, module in modules:
            for name, member in get_members_fn(module):
                if member is None or id(member) in seen:
                    continue
                if remove_duplicate:
                    seen.add(id(member))
                yield (f"{path}.{name}" if path else name), member

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """(path, parameter) of this module and those below it; a shared parameter comes once."""
        yield from self._named_members(
            lambda module: module._parameters.items(), prefix, recurse, remove_duplicate
        )

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """The parameters of this module and those below it, each once."""
        for _, parameter in self.named_parameters(recurse=recurse):
            yield parameter

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """(path, buffer) of this module and those below it; a shared buffer comes once."""
        yield from self._named_members(
            lambda module: module._buffers.items(), prefix, recurse, remove_duplicate
        )

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """The buffers of this module and those below it, each once."""
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    # ---- by path ----

    def get_submodule(self, target: str) -> Any:
        """The module at a dotted path; the empty path is this module. Raises AttributeError."""
        module: Any = self
        for name in target.split(".") if target else ():
            if not hasattr(module, name):
                raise AttributeError(
                    f"{module._get_name()} has no attribute `{name}` (path {target!r})"
                )
            module = getattr(module, name)
            if not isinstance(module, Traversal):
                raise AttributeError(f"`{name}` is not an nn.Module (path {target!r})")
        return module

    def set_submodule(self, target: str, module: Any, strict: bool = False) -> None:
        """Put `module` at a dotted path, whose parent must exist; with `strict`, its last name too.

        Raises ValueError for an empty path or no module, AttributeError for an unknown path.
        """
        if target == "":
            raise ValueError("Cannot set the submodule without a target name!")
        if not isinstance(module, Traversal):
            raise ValueError(f"`module` is not an nn.Module, found {type(module)}")
        path, _, name = target.rpartition(".")
        parent = self.get_submodule(path)
        if strict and not hasattr(parent, name):
            raise AttributeError(
                f"{parent._get_name()} has no attribute `{name}` (path {target!r})"
            )
        if hasattr(parent, name) and not isinstance(getattr(parent, name), Traversal):
            raise AttributeError(f"`{name}` is not an nn.Module (path {target!r})")
        setattr(parent, name, module)

    def get_parameter(self, target: str) -> Parameter:
        """The parameter at a dotted path. Raises AttributeError."""
        found = self._taeda_get_member(target)
        if not isinstance(found, Parameter):
            raise AttributeError(f"`{target}` is not an nn.Parameter")
        return found

    def get_buffer(self, target: str) -> Tensor:
        """The buffer at a dotted path. Raises AttributeError."""
        path, _, name = target.rpartition(".")
        found = self._taeda_get_member(target)
        if name not in self.get_submodule(path)._buffers:
            raise AttributeError(f"`{target}` is not a buffer")
        return found

    def _taeda_get_member(self, target: str) -> Any:
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        if not hasattr(module, name):
            raise AttributeError(
                f"{module._get_name()} has no attribute `{name}` (path {target!r})"
            )
        return getattr(module, name)
