"""Multi-head attention in inference: one implementation serves both, so this setting is kept and
changes nothing.
"""

from __future__ import annotations

__all__ = ["get_fastpath_enabled", "set_fastpath_enabled"]

_enabled = True


def get_fastpath_enabled() -> bool:
    """The setting; True at first.

    >>> taeda.backends.mha.get_fastpath_enabled()
    True
    """
    return _enabled


def set_fastpath_enabled(value: bool) -> None:
    """Keep the setting.

    >>> taeda.backends.mha.set_fastpath_enabled(False)
    >>> taeda.backends.mha.get_fastpath_enabled()
    False
    >>> taeda.backends.mha.set_fastpath_enabled(True)
    """
    global _enabled
    _enabled = value
