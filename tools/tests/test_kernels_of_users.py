"""Kernels that return anything: a share of the schemas, and what is told where a value is taken or refused
wrongly.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "hunt"))
import kernels_of_users as hunt
from kernels_of_users import faults, wanted


def test_a_share_of_the_schemas():
    assert [fault for seed in range(1, 60) for fault in faults(seed)] == []


def test_values_that_fit():
    assert wanted(["int"], 3)
    assert not wanted(["int"], "a")
    assert wanted(["int", "str"], (3, "a"))
    assert not wanted(["int", "str"], (3,))
    assert not wanted(["int", "str"], "3a")


def test_what_is_taken_or_refused_wrongly_is_told(monkeypatch):
    monkeypatch.setattr(hunt, "wanted", lambda declared, value: not wanted(declared, value))
    told = list(faults(1))
    assert len(told) == hunt.CALLS
    assert all(fault.endswith(("taken", "refused")) for fault in told)


def test_another_error_is_told(monkeypatch):
    def outcome(*given):
        raise KeyError("of a kernel")

    monkeypatch.setattr(hunt, "outcome", outcome)
    assert all("KeyError" in fault for fault in faults(1))
