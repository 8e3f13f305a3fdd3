"""What a second run of a function has to find as the first did: random numbers, autocast, what sees calls."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from taeda import random
from taeda._core_api import calls as _autocast
from taeda._core_api import runtime as _core
from taeda._core_api.calls import FUNCTION_MODE, OVERRIDE

__all__ = ["Surroundings"]

_LAYERS = FUNCTION_MODE | OVERRIDE  # the engine hides them from what it calls


class Surroundings:
    """Taken where the first run begins; `restored()` is a context for the others."""

    def __init__(self, preserve_rng_state: bool) -> None:
        self.rng = random.get_rng_state() if preserve_rng_state else None
        self.hidden, self.casting = _core.get_excluded(), _autocast.snapshot()

    @contextlib.contextmanager
    def restored(self) -> Iterator[None]:
        """As it was then, with gradients recorded; what was before comes back."""
        with (
            _core.Switches(grad=True, hide=_LAYERS & self.hidden, show=_LAYERS & ~self.hidden),
            contextlib.nullcontext() if self.rng is None else random.fork_rng(),
            self.casting.restored(),
        ):
            if self.rng is not None:
                random.set_rng_state(self.rng)
            yield
