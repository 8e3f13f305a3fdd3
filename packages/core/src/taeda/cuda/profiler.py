"""Where a profiler of the driver, such as Nsight Systems, begins and ends to record."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ._cudart import cudaError, cudaProfilerStart, cudaProfilerStop

__all__ = ["profile", "start", "stop"]


def start() -> cudaError:
    """Begin to record. RuntimeError without a driver.

    >>> if taeda.cuda.is_available():
    ...     _ = taeda.cuda.profiler.start()
    ...     y = taeda.ones(8, device="cuda").exp()
    ...     _ = taeda.cuda.profiler.stop()
    """
    return cudaProfilerStart()


def stop() -> cudaError:
    """End it. RuntimeError without a driver.

    >>> if taeda.cuda.is_available():
    ...     _ = taeda.cuda.profiler.start()
    ...     y = taeda.ones(8, device="cuda").exp()
    ...     _ = taeda.cuda.profiler.stop()
    """
    return cudaProfilerStop()


@contextmanager
def profile() -> Iterator[None]:
    """Record what happens within the block.

    >>> if taeda.cuda.is_available():
    ...     with taeda.cuda.profiler.profile():
    ...         y = taeda.ones(8, device="cuda").exp()
    """
    start()
    try:
        yield
    finally:
        stop()
