"""Flatten and its reverse."""

from __future__ import annotations

from typing import Any

from taeda import Size, Tensor

from .module import Module

__all__ = ["Flatten", "Unflatten"]


class Flatten(Module):
    """Joins the dimensions from `start_dim` to `end_dim` into one.

    Args:
        start_dim: first of the dimensions that are joined (1).
        end_dim: last of them, negative from the end (-1).

    The same as a function: `flatten`.

    >>> Flatten()(taeda.zeros(32, 1, 5, 5)).shape
    taeda.Size([32, 25])
    """

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim = start_dim
        self.end_dim = end_dim

    def forward(self, input: Tensor) -> Tensor:
        """A view where possible."""
        return input.flatten(self.start_dim, self.end_dim)

    def extra_repr(self) -> str:
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"


class Unflatten(Module):
    """Splits a dimension, given by number (with sizes) or by name (with pairs of names and sizes).

    Raises TypeError for sizes of another form.

    Args:
        dim: number or name of the dimension to split.
        unflattened_size: the new sizes: a tuple or `Size` of ints of which one may be -1, or a
            tuple of (name, size) pairs; their product is the size of `dim`.

    The same as a method: `Tensor.unflatten`.

    >>> Unflatten(1, (2, 3))(taeda.zeros(4, 6)).shape
    taeda.Size([4, 2, 3])
    """

    NamedShape = tuple[tuple[str, int]]

    def __init__(self, dim: int | str, unflattened_size: Any) -> None:
        super().__init__()
        if isinstance(dim, int):
            self._taeda_check_sizes(unflattened_size)
        elif isinstance(dim, str):
            self._taeda_check_named(unflattened_size)
        else:
            raise TypeError(f"invalid argument type for dim parameter: {type(dim).__name__}")
        self.dim = dim
        self.unflattened_size = unflattened_size

    @staticmethod
    def _taeda_check_sizes(sizes: Any) -> None:
        if not isinstance(sizes, (tuple, list, Size)):
            raise TypeError(
                f"unflattened_size must be a tuple of ints, but found type {type(sizes).__name__}"
            )
        for i, size in enumerate(sizes):
            if not isinstance(size, int):
                raise TypeError(
                    "unflattened_size must be tuple of ints, but found element of type "
                    f"{type(size).__name__} at pos {i}"
                )

    @staticmethod
    def _taeda_check_named(sizes: Any) -> None:
        if not isinstance(sizes, tuple):
            raise TypeError(
                f"unflattened_size must be a tuple of tuples, but found type {type(sizes).__name__}"
            )
        for i, pair in enumerate(sizes):
            if not isinstance(pair, tuple):
                raise TypeError(
                    "unflattened_size must be tuple of tuples, but found element of type "
                    f"{type(pair).__name__} at pos {i}"
                )

    def forward(self, input: Tensor) -> Tensor:
        """A view."""
        dim: Any = self.dim  # a name, where tensors have names
        return input.unflatten(dim, self.unflattened_size)

    def extra_repr(self) -> str:
        return f"dim={self.dim}, unflattened_size={self.unflattened_size}"
