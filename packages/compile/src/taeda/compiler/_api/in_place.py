"""Behind `Module.compile`: the calls of a module go through a compiled function, and the module
stays what it is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from taeda.nn.modules._members import CALL_HOOKS

from .._call.as_written import AsWritten
from .._call.compiled import Compiled

__all__ = ["AsWritten", "call_of"]


def call_of(state: Compiled | None) -> Callable[..., Any] | None:
    """What calls of a module do instead; None if they are as they were."""
    if state is None:
        return None
    function: Any = state.function  # AsWritten
    gate = state.gate

    def call(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs) if gate else state(args, kwargs)

    def stays_as_written(closed: bool) -> None:
        own = function.module.__dict__
        if own.get("_compiled_call_impl") is call and CALL_HOOKS.isdisjoint(own):
            own["_hooked"] = True
            if closed:  # calls of a module without hooks need not look for `call`
                del own["_hooked"]

    state.at_gate = stays_as_written
    call.__taeda_compiled__ = state  # type: ignore[attr-defined]  # what `explain` looks at
    return call
