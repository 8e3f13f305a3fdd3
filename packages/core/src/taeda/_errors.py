"""Exceptions that stand under their own names."""

from ._native import core as _core

__all__ = ["LinAlgError"]


class LinAlgError(RuntimeError):
    """A matrix has not the property that an operation needs: it is singular, or not positive definite."""

    __module__ = "taeda.linalg"


_core.register_linalg_error(LinAlgError)
