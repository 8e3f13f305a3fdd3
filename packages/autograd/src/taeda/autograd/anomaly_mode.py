"""Anomaly mode: each node remembers its forward lines, and NaN in a backward is an error that names them."""

from __future__ import annotations

import traceback
from typing import Any

from taeda._core_api import runtime as _core
from taeda._core_api import warn

__all__ = [
    "detect_anomaly",
    "is_anomaly_check_nan_enabled",
    "is_anomaly_enabled",
    "set_anomaly_enabled",
    "set_detect_anomaly",
]


def _forward_metadata() -> dict[str, Any]:
    """What the engine puts on a node that is made in the mode: the lines of the stack, ours left out."""
    lines = [
        line for line in traceback.format_stack()[:-1] if "taeda/autograd/anomaly_mode" not in line
    ]
    return {"traceback_": lines}


def is_anomaly_enabled() -> bool:
    """Whether anomaly mode is on.

    >>> taeda.is_anomaly_enabled()
    False
    >>> with taeda.autograd.detect_anomaly():
    ...     print(taeda.is_anomaly_enabled())
    True
    """
    return bool(_core._get_anomaly())


def is_anomaly_check_nan_enabled() -> bool:
    """Whether anomaly mode, where it is on, looks for NaN.

    >>> taeda.is_anomaly_check_nan_enabled()
    True
    """
    return bool(_core._get_anomaly() != 1)


def set_anomaly_enabled(enabled: bool, check_nan: bool = True) -> None:
    """Anomaly mode on or off, process-wide.

    Args:
        enabled: whether errors of backward name the call that made the node.
        check_nan: whether a NaN gradient raises RuntimeError while the mode is on (default: True).

    >>> taeda.set_anomaly_enabled(True)
    >>> taeda.is_anomaly_enabled()
    True
    >>> taeda.set_anomaly_enabled(False)
    """
    _core._set_anomaly((2 if check_nan else 1) if enabled else 0)


class set_detect_anomaly:
    """Anomaly mode on or off: at once when called, until the block ends as a context; process-wide.

    Args:
        mode: whether the mode is on.
        check_nan: whether a NaN gradient raises (True).

    >>> with set_detect_anomaly(True, check_nan=False):
    ...     print(is_anomaly_check_nan_enabled())
    False
    """

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self.before = _core._set_anomaly((2 if check_nan else 1) if mode else 0)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *unused: object) -> None:
        _core._set_anomaly(self.before)


class detect_anomaly:
    """Context: forward lines are kept, and a NaN gradient raises RuntimeError (unless check_nan is False).

    Args:
        check_nan: whether a NaN gradient raises (True).

    >>> with detect_anomaly():
    ...     print(is_anomaly_enabled())
    True
    """

    def __init__(self, check_nan: bool = True) -> None:
        self.check_nan = check_nan
        warn(
            "Anomaly Detection has been enabled. This mode will increase the runtime and should "
            "only be enabled for debugging.",
        )

    def __enter__(self) -> None:
        self.before = _core._set_anomaly(2 if self.check_nan else 1)

    def __exit__(self, *unused: object) -> None:
        _core._set_anomaly(self.before)
