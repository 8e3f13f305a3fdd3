"""Nested dicts as one dict of names with points, and back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from taeda import Tensor

__all__ = ["flatten", "set_at"]

Path = tuple[str | int, ...]


def flatten(state_dict: Mapping[Any, Any]) -> tuple[dict[str, Any], dict[str, Path]]:
    """Values by name, and where each lies. Lists are taken apart only if they hold tensors.

    TypeError for keys that are neither text nor whole numbers, ValueError for two values of one name.
    """
    values: dict[str, Any] = {}
    paths: dict[str, Path] = {}
    for path, value in _leaves((), state_dict):
        name = ".".join(map(str, path))
        if name in values:
            raise ValueError(
                f"two entries have the name {name!r}: at {list(paths[name])} and at {list(path)}"
            )
        values[name], paths[name] = value, path
    return values, paths


def _leaves(path: Path, value: Any) -> Iterator[tuple[Path, Any]]:
    if isinstance(value, Mapping) and (value or not path):
        for key, inner in value.items():
            if not isinstance(key, (str, int)) or isinstance(key, bool):
                place = ".".join(map(str, path)) or "the state dict"
                raise TypeError(
                    f"a key in {place} is a {type(key).__name__}, not str or int: {key!r:.50}"
                )
            yield from _leaves((*path, key), inner)
    elif isinstance(value, list) and _holds_tensors(value):
        for number, inner in enumerate(value):
            yield from _leaves((*path, number), inner)
    else:
        yield path, value


def _holds_tensors(value: Any) -> bool:
    if isinstance(value, Mapping):
        return any(map(_holds_tensors, value.values()))
    return isinstance(value, Tensor) or (
        isinstance(value, list) and any(map(_holds_tensors, value))
    )


def set_at(state_dict: Any, path: Path, value: Any) -> None:
    """Put a value where it was found."""
    for step in path[:-1]:
        state_dict = state_dict[step]
    state_dict[path[-1]] = value
