"""Streams and events, under the name that PyTorch has for this module."""

from ._streams import Event, ExternalStream, Stream

__all__ = ["Event", "ExternalStream", "Stream"]
