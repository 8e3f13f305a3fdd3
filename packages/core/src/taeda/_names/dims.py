"""Names of the dimensions of one tensor, and which names two tensors have together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from .._native import core as _core

if TYPE_CHECKING:
    from taeda import Tensor

__all__ = ["Names", "checked", "give", "names_of", "place", "unify"]

#: a name for each dimension, None for one without
Names = tuple[str | None, ...]


def names_of(tensor: Tensor) -> Names:
    """The names of the dimensions, None for those without."""
    found: Names | None = _core.names_of(tensor)
    return (None,) * tensor.dim() if found is None else found


def give(tensor: Tensor, names: Names) -> Tensor:
    """The tensor itself, its dimensions named so; names of None alone are no names."""
    if tensor.layout is not _core.strided or tensor._dispatches() or _core.parts_of(tensor):
        raise RuntimeError(
            f"dimensions of a strided tensor can have names, not those of {type(tensor).__name__} of layout "
            f"{tensor.layout}"
        )
    _core.set_names(tensor, names if any(names) else None)
    return tensor


def checked(names: Any, rank: int) -> Names:
    """Names that a user gave for so many dimensions. TypeError for what is no text, RuntimeError for
    another count, names that are no identifiers, and a name that stands twice.
    """
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise TypeError(f"names: wanted a sequence of str and None, got {names!r}")
    given = tuple(names)
    for name in given:
        _check_name(name)
    if len(given) != rank:
        raise RuntimeError(f"names: got {len(given)} names {list(given)} for {rank} dimensions")
    _check_twice(given)
    return given


def _check_name(name: Any) -> None:
    if name is None:
        return
    if not isinstance(name, str):
        raise TypeError(
            f"names: a name is a str, or None for a dimension without; got {type(name).__name__}"
        )
    if not (name.isascii() and name.isidentifier()) or name.startswith("_"):
        raise RuntimeError(
            f"names: {name!r} is no name of a dimension, which has letters, digits and underscores, the "
            "first one a letter"
        )


def _check_twice(names: Names) -> None:
    known = [name for name in names if name is not None]
    twice = sorted({name for name in known if known.count(name) > 1})
    if twice:
        raise RuntimeError(f"names: {twice[0]!r} stands twice among {list(names)}")


def place(tensor: Tensor, name: str) -> int:
    """Which dimension has this name; RuntimeError if none has."""
    names = names_of(tensor)
    if name not in names:
        raise RuntimeError(f"Name {name!r} not found in Tensor[{', '.join(map(str, names))}]")
    return names.index(name)


def unify(a: Sequence[str | None], b: Sequence[str | None], op: str) -> Names:
    """The names of what two tensors broadcast to: of two dimensions at one place from the right the name
    that is known. RuntimeError for two names at one place, and for one name at two places.
    """
    rank = max(len(a), len(b))
    left, right = ((None,) * (rank - len(names)) + tuple(names) for names in (a, b))
    for mine, other in reversed([*zip(left, right, strict=True)]):
        if None not in (mine, other) and mine != other:
            raise RuntimeError(
                f"{op}: dims {list(a)} and dims {list(b)} do not match: from the right, dim {mine!r} meets "
                f"dim {other!r}. Bring one in the order of the other by align_as() or align_to()"
            )
        name = mine if other is None else other
        if name is not None and mine != other and name in (left if mine is None else right):
            raise RuntimeError(
                f"{op}: dims {list(a)} and dims {list(b)} are misaligned: dim {name!r} has another position "
                "from the right in each. Bring one in the order of the other by align_as() or align_to()"
            )
    return tuple(mine if other is None else other for mine, other in zip(left, right, strict=True))
