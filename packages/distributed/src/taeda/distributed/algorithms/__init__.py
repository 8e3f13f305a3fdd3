"""Ways to train over a group: joining with unequal inputs, communication hooks, averaging of models."""

from .join import Join, Joinable, JoinHook

__all__ = ["Join", "JoinHook", "Joinable"]
