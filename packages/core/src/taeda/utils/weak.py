"""Tensors as keys and as weak references: by identity, for `==` of tensors gives a tensor.

A tensor that Python gave up and that the library still holds, as `x.grad` or in a graph, comes back
as the same object, so that its entry stays.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping
from typing import Any, Generic, TypeVar

from taeda import Tensor

__all__ = ["TensorWeakRef", "WeakIdKeyDictionary", "WeakIdRef", "WeakTensorKeyDictionary"]

_V = TypeVar("_V")


class WeakIdRef(weakref.ref[Any]):
    """A weak reference that is equal to another if both are of one object that is alive; a dead
    one is equal to itself alone.

    >>> from taeda.utils.weak import WeakIdRef
    >>> x = taeda.ones(2)
    >>> reference = WeakIdRef(x)
    >>> reference() is x
    True
    """

    __slots__ = ("_id",)

    def __init__(self, key: Any, callback: Callable[[Any], Any] | None = None) -> None:
        super().__init__(key, callback)  # type: ignore[call-arg]  # the stubs have __new__ alone
        self._id = id(key)

    def __call__(self) -> Any:
        """The object; None once it is gone."""
        return super().__call__()

    def __hash__(self) -> int:
        return self._id

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, WeakIdRef):
            return False
        mine, theirs = self(), other()
        return mine is not None and mine is theirs

    def __ne__(self, other: object) -> bool:  # that of weakref.ref compares the objects
        return not self == other


class WeakIdKeyDictionary(MutableMapping[Any, _V], Generic[_V]):
    """A dict by the identity of its keys, which it does not keep alive: an entry goes with its key.

    Iterating while keys die is safe: an entry that goes meanwhile may or may not be seen.

    >>> from taeda.utils.weak import WeakIdKeyDictionary
    >>> x, y = taeda.ones(2), taeda.ones(2)
    >>> sizes = WeakIdKeyDictionary({x: 8, y: 9})
    >>> sizes[x], sizes[y], len(sizes)
    (8, 9, 2)
    >>> del x
    >>> len(sizes)
    1
    """

    def __init__(
        self,
        dict: Mapping[Any, _V] | Iterable[tuple[Any, _V]] | None = None,
        ref_type: Any = WeakIdRef,
    ) -> None:
        self.ref_type = ref_type
        self.data: Any = {}
        mine = weakref.ref(self)

        def remove(reference: Any) -> None:
            if (found := mine()) is not None:
                found.data.pop(reference, None)

        self._remove = remove
        if dict is not None:
            self.update(dict)

    def __getitem__(self, key: Any) -> _V:
        value: _V = self.data[self.ref_type(key)]
        return value

    def __setitem__(self, key: Any, value: _V) -> None:
        self.data[self.ref_type(key, self._remove)] = value

    def __delitem__(self, key: Any) -> None:
        del self.data[self.ref_type(key)]

    def __contains__(self, key: object) -> bool:
        try:
            return self.ref_type(key) in self.data
        except TypeError:  # what has no weak references is no key
            return False

    def __len__(self) -> int:
        return len(self.data)

    def __iter__(self) -> Iterator[Any]:
        for reference in list(self.data):
            if (key := reference()) is not None:
                yield key

    def __repr__(self) -> str:
        return f"<{type(self).__name__} at {id(self):#x}>"

    def keyrefs(self) -> list[Any]:
        """The weak references that are the keys; some may be dead by the time they are asked."""
        return list(self.data)

    def copy(self) -> WeakIdKeyDictionary[_V]:
        """Another one with the same keys and values."""
        return type(self)(list(self.items()), ref_type=self.ref_type)

    __copy__ = copy

    def __deepcopy__(self, memo: Any) -> WeakIdKeyDictionary[_V]:
        from copy import deepcopy

        values = [(key, deepcopy(value, memo)) for key, value in self.items()]
        return type(self)(values, ref_type=self.ref_type)

    def __or__(self, other: Any) -> Any:
        if not isinstance(other, Mapping):
            return NotImplemented
        joined = self.copy()
        joined.update(other)
        return joined

    def __ior__(self, other: Any) -> Any:
        self.update(other)
        return self

    def __eq__(self, other: object) -> bool:
        """Whether the same objects are keys, with equal values."""
        if not isinstance(other, Mapping):
            return NotImplemented
        return {id(k): v for k, v in self.items()} == {id(k): v for k, v in other.items()}

    __hash__ = None  # type: ignore[assignment]  # it changes


WeakTensorKeyDictionary = WeakIdKeyDictionary


class TensorWeakRef:
    """A weak reference to a tensor; calling it gives the tensor, or None once it is gone.

    >>> from taeda.utils.weak import TensorWeakRef
    >>> x = taeda.ones(2)
    >>> TensorWeakRef(x)() is x
    True
    """

    ref: WeakIdRef

    def __init__(self, tensor: Tensor) -> None:
        if not isinstance(tensor, Tensor):
            raise AssertionError(f"TensorWeakRef wants a tensor, not {type(tensor).__name__}")
        self.ref = WeakIdRef(tensor)

    def __call__(self) -> Tensor | None:
        found: Tensor | None = self.ref()
        return found
