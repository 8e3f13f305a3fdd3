"""Containers of parameters: ParameterList and ParameterDict. Plain tensors become parameters in them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Self

from taeda import Tensor

from ..parameter import Parameter
from .container import pairs_of, wrap_index
from .module import Module

__all__ = ["ParameterDict", "ParameterList"]


def _as_parameter(value: Any) -> Any:
    plain = isinstance(value, Tensor) and not isinstance(value, Parameter)
    return Parameter(value) if plain else value


def _described(value: Any, kind_of: Callable[[Tensor], Any]) -> str:
    """What a container's text says of one entry."""
    if not isinstance(value, Tensor):
        return f"Object of type: {type(value).__name__}"
    kind = "Parameter" if isinstance(value, Parameter) else "Tensor"
    where = "" if value.device.type == "cpu" else f" ({value.device})"
    return f"{kind} containing: [{kind_of(value)} of size {tuple_text(value)}{where}]"


def tuple_text(value: Tensor) -> str:
    """The sizes, joined by x."""
    return "x".join(map(str, value.size()))


class _Entries(Module):
    """What both have in common: neither is called."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(f"{self._get_name()} should not be called.")


class ParameterList(_Entries):
    """A list whose tensors are parameters of the module; other values are kept as they are.

    Args:
        values: values to begin with (None: none).

    >>> len(ParameterList([taeda.zeros(2)]))
    1
    """

    def __init__(self, values: Iterable[Any] | None = None) -> None:
        super().__init__()
        self._size = 0
        if values is not None:
            self.extend(values)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            made = type(self)()
            for i in range(*index.indices(len(self))):
                made.append(self[i])
            return made
        return getattr(self, str(wrap_index(index, len(self), self)))

    def __setitem__(self, index: int, value: Any) -> None:
        setattr(self, str(wrap_index(index, len(self), self)), _as_parameter(value))

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def __iadd__(self, values: Iterable[Any]) -> Self:
        return self.extend(values)

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if not name.isdigit()]

    def append(self, value: Any) -> Self:
        """Add a value at the end."""
        self._size += 1
        self[self._size - 1] = value
        return self

    def extend(self, values: Iterable[Any]) -> Self:
        """Add several values at the end. Raises TypeError if they are not iterable, or one tensor."""
        if isinstance(values, Tensor) or not isinstance(values, Iterable):
            raise TypeError(
                "ParameterList.extend should be called with an iterable, but got "
                + type(values).__name__
            )
        for value in list(values):
            self.append(value)
        return self

    def extra_repr(self) -> str:
        return "\n".join(
            f"  ({i}): " + _described(value, lambda t: t.dtype) for i, value in enumerate(self)
        )


class ParameterDict(_Entries):
    """A dict whose tensors are parameters of the module; other values are kept as they are.

    The order is that of insertion; a plain dict given to the constructor or to `update` is taken in the
    order of its sorted keys.

    Args:
        parameters: mapping, or iterable of pairs, to begin with (None: empty).

    >>> list(ParameterDict({"a": taeda.zeros(2)}))
    ['a']
    """

    def __init__(self, parameters: Any = None) -> None:
        super().__init__()
        self._keys: dict[str, None] = {}
        if parameters is not None:
            self.update(parameters)

    def _taeda_attribute(self, key: str) -> str:
        if not isinstance(key, str):
            raise TypeError(
                f"keys of a ParameterDict are strings, got {key!r} of type {type(key).__name__}"
            )
        return key

    def __getitem__(self, key: str) -> Any:
        return getattr(self, self._taeda_attribute(key))

    def __setitem__(self, key: str, value: Any) -> None:
        self._keys[key] = None
        setattr(self, self._taeda_attribute(key), _as_parameter(value))

    def __delitem__(self, key: str) -> None:
        del self._keys[key]
        delattr(self, self._taeda_attribute(key))

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __reversed__(self) -> Iterator[str]:
        return reversed(list(self._keys))

    def __contains__(self, key: object) -> bool:
        return key in self._keys

    def copy(self) -> ParameterDict:
        """Another container with the same parameters."""
        return ParameterDict(OrderedDict((k, self[k]) for k in self._keys))

    def setdefault(self, key: str, default: Any = None) -> Any:
        """The value under `key`, which is `default` from now on if there was none."""
        if key not in self._keys:
            self[key] = default
        return self[key]

    def clear(self) -> None:
        """Remove all."""
        for key in list(self._keys):
            del self[key]

    def pop(self, key: str) -> Any:
        """Remove and return the value under `key`."""
        value = self[key]
        del self[key]
        return value

    def popitem(self) -> tuple[str, Any]:
        """Remove and return the last (key, value) pair."""
        key, _ = self._keys.popitem()
        value = self[key]
        delattr(self, self._taeda_attribute(key))
        return key, value

    def get(self, key: str, default: Any = None) -> Any:
        """The value under `key`, or `default`."""
        return self[key] if key in self._keys else default

    def fromkeys(self, keys: Iterable[str], default: Any = None) -> ParameterDict:
        """A new container with `default` under each key."""
        return ParameterDict((key, default) for key in keys)

    def keys(self) -> Any:
        """The keys."""
        return self._keys.keys()

    def items(self) -> Iterable[tuple[str, Any]]:
        """(key, value) pairs."""
        return ((key, self[key]) for key in self._keys)

    def values(self) -> Iterable[Any]:
        """The values."""
        return (self[key] for key in self._keys)

    def update(self, parameters: Any) -> None:
        """Add the values of a mapping or of (key, value) pairs. Raises TypeError or ValueError."""
        if isinstance(parameters, dict) and not isinstance(parameters, OrderedDict):
            parameters = OrderedDict(sorted(parameters.items()))
        for key, value in pairs_of(parameters, "ParametersDict.update"):
            self[key] = value

    def extra_repr(self) -> str:
        return "\n".join(
            f"  ({key}): " + _described(value, Tensor.type) for key, value in self.items()
        )

    def __or__(self, other: ParameterDict) -> ParameterDict:
        made = self.copy()
        made.update(other)
        return made

    def __ror__(self, other: ParameterDict) -> ParameterDict:
        made = other.copy()
        made.update(self)
        return made

    def __ior__(self, other: ParameterDict) -> Self:
        self.update(other)
        return self
