"""A plugin of pytest for `suites.py`: taeda by the name of torch, some tests only, and their outcomes."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import pytest

ASKED = json.loads(Path(os.environ["SUITE_ASKED"]).read_text())
#: of processor, with torch: what takes longer is no part of a sample
SECONDS = 2.0
#: after which a test counts as one that hangs
PATIENCE = 120

if not ASKED["torch"]:
    import taeda

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        taeda.install_as_torch()
else:
    import torch

    assert "taeda" not in sys.modules and torch.__version__.startswith("2.")


def _order(item: pytest.Item) -> str:
    return hashlib.sha256(item.nodeid.encode()).hexdigest()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep those that are wanted; else the first of a fixed order."""
    if ASKED["wanted"] is not None:
        wanted = set(ASKED["wanted"])
        items[:] = [item for item in items if item.nodeid in wanted]
    else:
        chosen = set(sorted(map(_order, items))[: ASKED["most"]])
        items[:] = [item for item in items if _order(item) in chosen]


class Hangs(Exception):
    """A test that is not done in time."""


def _stop(number: int, frame: Any) -> None:
    raise Hangs(f"not done after {PATIENCE} s")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Any:
    """Seconds of processor of a test, and an end to one that hangs."""
    signal.signal(signal.SIGALRM, _stop)
    signal.alarm(PATIENCE)
    item.stash[_BEGAN] = time.process_time()
    yield
    signal.alarm(0)
    outcome = item.stash.get(_OUTCOME, "error")
    if ASKED["torch"] and time.process_time() - item.stash[_BEGAN] > SECONDS:
        outcome = "slow"
    with open(os.environ["SUITE_TOLD"], "a") as told:
        told.write(json.dumps([item.nodeid, outcome, item.stash.get(_SAID, "")]) + "\n")


_BEGAN = pytest.StashKey[float]()
_OUTCOME, _SAID = pytest.StashKey[str](), pytest.StashKey[str]()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Any:
    """The worst outcome of a test's three phases."""
    made = yield
    report = made.get_result()
    if report.outcome != "passed" or report.when == "call":
        before = item.stash.get(_OUTCOME, "passed")
        item.stash[_OUTCOME] = report.outcome if before == "passed" else before
        crash = getattr(report.longrepr, "reprcrash", None)
        item.stash.setdefault(_SAID, crash.message[:300] if crash else "")
