"""A package's tests without its siblings: a test that meets one which is not installed is skipped,
and says which.

A package is tested with what it declares and no more; some of its tests go on to what a sibling
adds (a gradient, a module). With all packages installed nothing is skipped. A conftest.py imports
the two hooks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, distribution

import pytest

__all__ = ["pytest_runtest_call", "pytest_runtest_setup"]

HINT = re.compile(r"it comes with (taeda-[a-z-]+)")


def _met(error: BaseException) -> str | None:
    """The distribution that the error asks for, if it is really absent."""
    found = HINT.search(str(error))
    if found is None:
        return None
    try:
        distribution(found[1])
    except PackageNotFoundError:
        return found[1]
    return None


def _skip_if_met() -> Iterator[None]:
    try:
        return (yield)
    except (Exception, pytest.fail.Exception) as error:
        if name := _met(error):
            pytest.skip(f"goes on to what {name} adds, which is not installed here")
        raise


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup() -> Iterator[None]:
    return (yield from _skip_if_met())


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Iterator[None]:
    return (yield from _skip_if_met())
