"""One program of those that were started together."""

from .handlers import get_subprocess_handler
from .subprocess_handler import SubprocessHandler

__all__ = ["SubprocessHandler", "get_subprocess_handler"]
