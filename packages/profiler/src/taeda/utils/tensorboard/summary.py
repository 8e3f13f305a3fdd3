"""What libraries take from here to write runs of their own."""

from __future__ import annotations

from ._hparams import hparams

__all__ = ["hparams"]
