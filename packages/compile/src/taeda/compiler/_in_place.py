"""Behind `Module.compile`: the calls of a module go through a compiled function, and the module
stays what it is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ._as_written import AsWritten
from ._compiled import Compiled

__all__ = ["AsWritten", "call_of"]


def call_of(state: Compiled | None) -> Callable[..., Any] | None:
    """What calls of a module do instead; None if they are as they were."""
    if state is None:
        return None
    function = state.function

    def call(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs) if state.off else state(args, kwargs)

    call.__taeda_compiled__ = state  # type: ignore[attr-defined]  # what `explain` looks at
    return call
