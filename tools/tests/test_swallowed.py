"""Out of memory keeps its type, in the real packages and in snippets made for the purpose."""

from __future__ import annotations

import by_path
import pytest

swallowed = by_path.load("tools/hold/swallowed.py")
workspace = by_path.load("tools/packages.py")


def test_the_packages_let_out_of_memory_through():
    assert swallowed.check(workspace.load().values()) == []


def handled(handlers: str) -> str:
    return f"try:\n    work()\n{handlers}"


CAUGHT = [
    "except RuntimeError:\n    pass",
    "except (ValueError, RuntimeError) as error:\n    raise BadFile(str(error)) from None",
    "except builtins.RuntimeError:\n    return None",
    "except Exception as error:\n    problems.append(error)",
    "except RuntimeError:\n    pass\nexcept MemoryError:\n    raise",
    "except:\n    pass",
]
FREE = [
    "except MemoryError:\n    raise\nexcept RuntimeError:\n    pass",
    "except taeda.OutOfMemoryError:\n    raise\nexcept Exception:\n    pass",
    "except RuntimeError:\n    close()\n    raise",
    "except ValueError:\n    pass",
    "except RuntimeError:  # out of memory: the caller goes on without\n    pass",
    "except Exception:  # noqa: BLE001 - the parent raises it\n    pass",
]


def test_what_suppresses_it_is_found():
    assert list(
        swallowed.swallows("with contextlib.suppress(ValueError, RuntimeError):\n    work()")
    )
    assert not list(swallowed.swallows("with suppress(OSError):\n    work()"))


@pytest.mark.parametrize("handlers", CAUGHT)
def test_a_handler_that_takes_it_is_found(handlers):
    assert list(swallowed.swallows(handled(handlers)))


@pytest.mark.parametrize("handlers", FREE)
def test_others_are_not(handlers):
    assert not list(swallowed.swallows(handled(handlers)))
