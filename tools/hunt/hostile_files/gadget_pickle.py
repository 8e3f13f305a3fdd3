"""One pickle that would run a command, to be put where no pickle belongs."""

from .words import glob, pickled, tup

__all__ = ["BOMB"]

BOMB = pickled(glob("os system") + tup("echo hostile") + b"R")
