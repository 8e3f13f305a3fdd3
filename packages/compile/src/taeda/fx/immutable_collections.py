"""Lists and dicts that a node keeps as arguments: they cannot be changed in place, so the users of
a node stay known.
"""

from __future__ import annotations

from typing import Any, NoReturn

__all__ = ["immutable_dict", "immutable_list"]


def _refuse(self: Any, *args: Any, **kwargs: Any) -> NoReturn:
    raise TypeError(
        f"'{type(self).__name__}' object does not support mutation. Arguments of a node are replaced "
        "as a whole: assign node.args or node.kwargs, or call node.update_arg"
    )


class immutable_list(list):  # type: ignore[type-arg]  # of anything
    """A list that refuses changes with TypeError; it hashes as the tuple of its entries.

    >>> kept = immutable_list([1, 2])
    >>> kept[0], hash(kept) == hash((1, 2))
    (1, True)
    >>> try:
    ...     kept.append(3)
    ... except TypeError:
    ...     print("refused")
    refused
    """

    __delitem__ = __iadd__ = __imul__ = __setitem__ = append = clear = extend = insert = _refuse
    pop = remove = reverse = sort = _refuse

    def __hash__(self) -> int:  # type: ignore[override]  # those that change have none
        return hash(tuple(self))

    def __reduce__(self) -> Any:
        return immutable_list, (list(self),)


class immutable_dict(dict):  # type: ignore[type-arg]  # of anything
    """A dict that refuses changes with TypeError.

    >>> kept = immutable_dict(alpha=2)
    >>> kept["alpha"], dict(kept)
    (2, {'alpha': 2})
    """

    __delitem__ = __ior__ = __setitem__ = clear = pop = popitem = setdefault = update = _refuse

    def __hash__(self) -> int:  # type: ignore[override]  # those that change have none
        return hash(tuple(self.items()))

    def __reduce__(self) -> Any:
        return immutable_dict, (dict(self),)
