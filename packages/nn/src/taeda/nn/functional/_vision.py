"""Rearrangements between channels and space."""

from __future__ import annotations

import taeda

__all__ = ["channel_shuffle", "native_channel_shuffle", "pixel_shuffle", "pixel_unshuffle"]

channel_shuffle = taeda.channel_shuffle
native_channel_shuffle = taeda.native_channel_shuffle
pixel_shuffle = taeda.pixel_shuffle
pixel_unshuffle = taeda.pixel_unshuffle
