"""Which implementation of attention may run, and masks with a meaning."""

from __future__ import annotations

import contextlib
import enum
import threading
from collections.abc import Iterable, Iterator
from typing import Any

from . import bias

__all__ = ["SDPBackend", "bias", "sdpa_kernel"]


class SDPBackend(enum.IntEnum):
    """Implementations of `scaled_dot_product_attention` that programs can name.

    >>> from taeda.nn.attention import SDPBackend, sdpa_kernel
    >>> q, k, v = taeda.rand(3, 1, 2, 4, 8).unbind()
    >>> with sdpa_kernel([SDPBackend.FLASH_ATTENTION, SDPBackend.MATH]):
    ...     taeda.nn.functional.scaled_dot_product_attention(q, k, v).shape
    taeda.Size([1, 2, 4, 8])
    """

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4

    # found on the class too, as documented
    name = property(lambda self: self._name_, doc="Its name.")


_chosen = threading.local()


def _cur_sdpa_kernel_backends(with_priority: bool = False) -> list[SDPBackend]:
    """The backends allowed in this thread, in the order of their priority."""
    allowed: list[SDPBackend] = getattr(_chosen, "backends", _ALL)
    return list(allowed) if with_priority else sorted(allowed)


_ALL = [
    SDPBackend.FLASH_ATTENTION,
    SDPBackend.EFFICIENT_ATTENTION,
    SDPBackend.MATH,
    SDPBackend.CUDNN_ATTENTION,
]


@contextlib.contextmanager
def sdpa_kernel(
    backends: SDPBackend | Iterable[SDPBackend], set_priority: bool = False
) -> Iterator[dict[Any, Any]]:
    """Allow only these backends within the `with` block, in this thread.

    The CPU has one implementation, which stands for all of them, so nothing changes there. Raises TypeError
    for something that is no backend.

    Args:
        backends: one SDPBackend, or several.
        set_priority: whether their order says which is tried first; on the CPU there is no choice.
            False by default.

    >>> from taeda.nn.attention import SDPBackend, sdpa_kernel
    >>> q, k, v = taeda.rand(3, 1, 2, 4, 8).unbind()
    >>> with sdpa_kernel(SDPBackend.MATH):
    ...     taeda.nn.functional.scaled_dot_product_attention(q, k, v).shape
    taeda.Size([1, 2, 4, 8])
    """
    chosen = [backends] if isinstance(backends, SDPBackend) else backends
    if not isinstance(chosen, Iterable) or not all(isinstance(b, SDPBackend) for b in chosen):
        raise TypeError(
            f"Backend must be an instance of SDPBackend or a list of SDPBackend instances, got {backends!r}"
        )
    before = getattr(_chosen, "backends", _ALL)
    _chosen.backends = list(dict.fromkeys(chosen))
    try:
        yield {}
    finally:
        _chosen.backends = before
