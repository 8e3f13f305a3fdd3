"""What readers of torch's files raise about the objects in them."""

from __future__ import annotations

from pickle import UnpicklingError

from ..safetensors import FormatError

__all__ = ["RefusedPickle", "TruncatedPickle"]


class RefusedPickle(FormatError, UnpicklingError):
    """A pickle that is damaged, or that asks for more than data; the message says what and where."""


class TruncatedPickle(RefusedPickle):
    """A pickle that goes on where the data end."""
