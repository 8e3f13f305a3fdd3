"""The older name of a part of `taeda.hub`: weights from the network."""

from __future__ import annotations

from typing import Any, Self

from taeda.hub import load_state_dict_from_url as load_url

__all__ = ["load_url", "tqdm"]

try:
    from tqdm.auto import tqdm  # type: ignore[import-untyped, unused-ignore] # it has no types of its own
except ImportError:

    class tqdm:  # type: ignore[no-redef] # stands for the package where that is not installed
        """Counts, and shows nothing.

        >>> with tqdm(total=2) as bar:
        ...     bar.update(1)
        >>> bar.n
        1
        """

        def __init__(self, *args: Any, total: int | None = None, **options: Any) -> None:
            self.total, self.n = total, 0

        def update(self, n: int = 1) -> None:
            """Count on."""
            self.n += n

        def close(self) -> None:
            """Nothing is shown."""

        def __enter__(self) -> Self:
            return self

        def __exit__(self, *raised: object) -> None: ...
