"""One of two functions. It is `taeda.cond`, by the place where others look for it."""

from taeda import cond

__all__ = ["cond"]
