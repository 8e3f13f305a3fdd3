"""Time limits that hold when none is given."""

from ._settings import DEFAULT_TIMEOUT

__all__ = ["default_pg_timeout"]

default_pg_timeout = DEFAULT_TIMEOUT
