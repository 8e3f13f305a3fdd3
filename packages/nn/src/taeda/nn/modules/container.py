"""Containers: modules and parameters in a sequence or under names."""

from __future__ import annotations

import itertools
import operator
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Self

from taeda import Tensor
from taeda._core_api import lazy_attributes

from .module import Module

__all__ = ["ModuleDict", "ModuleList", "Sequential"]


def wrap_index(index: Any, length: int, what: Module) -> int:
    """`index` counted from the front. Raises IndexError out of range."""
    index = operator.index(index)
    if not -length <= index < length:
        raise IndexError(f"index {index} is out of range for {what._get_name()} of length {length}")
    return index % length


class _Numbered(Module):
    """Children under the names "0", "1", ..."""

    def _taeda_child_name(self, index: Any) -> str:
        """The name of the child at a place; containers made of a dict have names of their own."""
        at = wrap_index(index, len(self), self)
        return next(itertools.islice(self._modules, at, None))

    def _taeda_replace_all(self, modules: Iterable[Module]) -> None:
        modules = list(modules)
        self._modules.clear()
        for i, module in enumerate(modules):
            self._modules[str(i)] = module

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._modules.values())

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if not name.isdigit()]


class Sequential(_Numbered):
    """Modules called one after the other, each with the result of the one before.

    Takes the modules as arguments, or one ordered dict of them by name.

    Args:
        *args: modules, or one ordered dict from names to modules.

    >>> model = Sequential(taeda.nn.Linear(4, 8), taeda.nn.ReLU())
    >>> model(taeda.zeros(3, 4)).shape
    taeda.Size([3, 8])
    """

    def __init__(self, *args: Any) -> None:
        super().__init__()
        if len(args) == 1 and isinstance(args[0], OrderedDict):
            for name, module in args[0].items():
                self.add_module(name, module)
        else:
            for i, module in enumerate(args):
                self.add_module(str(i), module)

    def forward(self, input: Any) -> Any:
        """The result of the last module; an empty container returns its input."""
        for module in self._modules.values():
            input = module(input)
        return input

    def __getitem__(self, index: slice | int) -> Any:
        if isinstance(index, slice):
            return type(self)(OrderedDict(list(self._modules.items())[index]))
        return self._modules[self._taeda_child_name(index)]

    def __setitem__(self, index: int, module: Module) -> None:
        setattr(self, self._taeda_child_name(index), module)

    def __delitem__(self, index: slice | int) -> None:
        if isinstance(index, slice):
            for name in list(self._modules)[index]:
                delattr(self, name)
        else:
            delattr(self, self._taeda_child_name(index))
        self._taeda_replace_all(self._modules.values())

    def append(self, module: Module) -> Self:
        """Add a module at the end."""
        self.add_module(str(len(self)), module)
        return self

    def insert(self, index: int, module: Module) -> Self:
        """Put a module before the one at `index`; -len to len. Raises IndexError, TypeError."""
        if not isinstance(module, Module):
            raise TypeError(f"module should be of type: {Module}, got {type(module)}")
        length = len(self)
        if not -length <= index <= length:
            raise IndexError(f"Index out of range: {index} for a Sequential of length {length}")
        modules = list(self)
        modules.insert(index + length if index < 0 else index, module)
        self._taeda_replace_all(modules)
        return self

    def extend(self, sequential: Iterable[Module]) -> Self:
        """Add several modules at the end."""
        for module in list(sequential):
            self.append(module)
        return self

    def pop(self, key: int | slice) -> Any:
        """Remove and return one module, or several by a slice."""
        removed = self[key]
        del self[key]
        return removed

    def __add__(self, other: Any) -> Sequential:
        _check_sequential(other, "add")
        return Sequential(*self, *other)

    def __iadd__(self, other: Any) -> Self:
        _check_sequential(other, "add")
        return self.extend(other)

    def __mul__(self, other: Any) -> Sequential:
        return Sequential(*(list(self) * _check_count(other)))

    def __rmul__(self, other: Any) -> Sequential:
        return self * other

    def __imul__(self, other: Any) -> Self:
        self._taeda_replace_all(list(self) * _check_count(other))
        return self


def _check_sequential(other: Any, verb: str) -> None:
    if not isinstance(other, Sequential):
        raise ValueError(
            f"{verb} operator supports only objects of Sequential class, but {type(other)} is given."
        )


def _check_count(other: Any) -> int:
    if not isinstance(other, int):
        raise TypeError(f"unsupported operand type(s) for *: Sequential and {type(other)}")
    if other <= 0:
        raise ValueError(f"Non-positive multiplication factor {other} for a Sequential")
    return other


class ModuleList(_Numbered):
    """A list of modules. It is not called itself.

    Args:
        modules: modules to begin with (None: none).

    >>> len(ModuleList([taeda.nn.ReLU(), taeda.nn.Tanh()]))
    2
    """

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.extend(modules)

    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return type(self)(list(self)[index])
        return self._modules[self._taeda_child_name(index)]

    def __setitem__(self, index: int, module: Module) -> None:
        setattr(self, str(wrap_index(index, len(self), self)), module)

    def __delitem__(self, index: int | slice) -> None:
        names = list(self._modules)
        for name in names[index] if isinstance(index, slice) else [self._taeda_child_name(index)]:
            delattr(self, name)
        self._taeda_replace_all(self)

    def __iadd__(self, modules: Iterable[Module]) -> Self:
        return self.extend(modules)

    def __add__(self, other: Iterable[Module]) -> ModuleList:
        return ModuleList([*self, *other])

    def insert(self, index: int, module: Module) -> None:
        """Put a module before the one at `index`, as `list.insert` does."""
        modules = list(self)
        modules.insert(index, module)
        self._taeda_replace_all(modules)

    def append(self, module: Module) -> Self:
        """Add a module at the end."""
        self.add_module(str(len(self)), module)
        return self

    def pop(self, key: int | slice) -> Any:
        """Remove and return one module, or several by a slice."""
        removed = self[key]
        del self[key]
        return removed

    def extend(self, modules: Iterable[Module]) -> Self:
        """Add several modules at the end. Raises TypeError if they are not iterable."""
        if not isinstance(modules, Iterable):
            raise TypeError(
                "ModuleList.extend should be called with an iterable, but got "
                + type(modules).__name__
            )
        for module in list(modules):
            self.append(module)
        return self

    def __repr__(self) -> str:
        """Neighbours with the same text are written once, with the range of their places."""
        if not len(self):
            return f"{self._get_name()}()"
        lines = []
        start = 0
        for text, group in itertools.groupby(map(repr, self)):
            end = start + len(list(group))
            body = text.replace("\n", "\n  ")
            lines.append(
                f"  ({start}): {body}"
                if end == start + 1
                else f"  ({start}-{end - 1}): {end - start} x {body}"
            )
            start = end
        return f"{self._get_name()}(\n" + "\n".join(lines) + "\n)"


class ModuleDict(Module):
    """Modules under names, in the order of insertion. It is not called itself.

    Args:
        modules: mapping from names to modules, or iterable of such pairs (None: empty).

    >>> list(ModuleDict({"act": taeda.nn.ReLU()}))
    ['act']
    """

    def __init__(self, modules: Any = None) -> None:
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key: str) -> Any:
        return self._modules[key]

    def __setitem__(self, key: str, module: Module) -> None:
        self.add_module(key, module)

    def __delitem__(self, key: str) -> None:
        del self._modules[key]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __contains__(self, key: object) -> bool:
        return key in self._modules

    def clear(self) -> None:
        """Remove all."""
        self._modules.clear()

    def pop(self, key: str) -> Any:
        """Remove and return the module under `key`."""
        removed = self[key]
        del self[key]
        return removed

    def keys(self) -> Any:
        """The names."""
        return self._modules.keys()

    def items(self) -> Any:
        """(name, module) pairs."""
        return self._modules.items()

    def values(self) -> Any:
        """The modules."""
        return self._modules.values()

    def update(self, modules: Any) -> None:
        """Add the modules of a mapping or of (name, module) pairs. Raises TypeError or ValueError."""
        for name, module in pairs_of(modules, "ModuleDict.update"):
            self[name] = module


def pairs_of(entries: Any, where: str) -> Iterator[tuple[str, Any]]:
    """(key, value) pairs of a mapping, or of an iterable that is checked to consist of pairs."""
    if not isinstance(entries, Iterable):
        raise TypeError(
            f"{where} should be called with an iterable of key/value pairs, but got {type(entries).__name__}"
        )
    if isinstance(entries, (Mapping, Module)):
        yield from entries.items()
        return
    for i, pair in enumerate(entries):
        if isinstance(pair, Tensor) or not isinstance(pair, Iterable):
            raise TypeError(
                f"{where} sequence element #{i} should be Iterable; is {type(pair).__name__}"
            )
        pair = list(pair)
        if len(pair) != 2:
            raise ValueError(f"{where} sequence element #{i} has length {len(pair)}; 2 is required")
        yield pair[0], pair[1]


# their file needs the classes above
__getattr__, __dir__ = lazy_attributes(
    __name__, dict.fromkeys(("ParameterDict", "ParameterList"), "nn.modules.parameter_container")
)
