"""The search for what a failing allocation breaks: it finds each kind of fault, and none where there is none."""

from __future__ import annotations

import os
import signal

import by_path

import taeda

fail_at = by_path.load("tools/fail_at.py")
KEPT = []


def keeps():
    KEPT.append(taeda.ones(100))
    try:
        return taeda.ones(100) + 1
    except MemoryError:
        KEPT.append(taeda.ones(100))
        raise


def renames():
    try:
        return taeda.ones(100) + 1
    except MemoryError:
        raise ValueError("something else") from None


def dies():
    try:
        return taeda.ones(100) + 1
    except MemoryError:
        os.kill(os.getpid(), signal.SIGSEGV)


def test_nothing_is_found_where_nothing_is_wrong():
    assert fail_at.faults_of(lambda: taeda.ones(100).exp().sum()) == []


def test_each_fault_is_found():
    assert "ValueError: something else" in fail_at.faults_of(renames)[0]
    assert "bytes of storage stay" in " ".join(fail_at.faults_of(keeps))


def test_a_death_names_its_call():
    found = fail_at.in_child("a row", lambda: [("fine", lambda: taeda.ones(2)), ("bad", dies)])
    assert found == ["bad: ended by SIGSEGV"]
