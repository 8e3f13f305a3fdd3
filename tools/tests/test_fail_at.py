"""The search for what a failing allocation breaks: it finds each kind of fault, and none where
there is none.
"""

from __future__ import annotations

import os
import signal

import by_path

import taeda

fail_at = by_path.load("tools/hunt/fail_at.py")
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


def refuses():
    raise TypeError("not for\nthis dtype")


def test_what_ran_and_what_did_not_is_counted():
    coverage = fail_at.Coverage()
    calls = [("a", lambda: taeda.ones(2)), ("b", refuses)]
    assert fail_at.in_child("mixed", lambda: calls, coverage=coverage) == []
    assert fail_at.in_child("refused", lambda: calls[1:], coverage=coverage) == []
    assert fail_at.in_child("empty", list, coverage=coverage) == []
    assert str(coverage) == "3 rows, 1 calls ran, 2 were refused"
    assert coverage.faults() == [
        "empty: none of its calls ran: it has no sample",
        "refused: none of its calls ran: TypeError: not for this dtype",
    ]
    assert coverage.reasons()[0] == "mixed: 1 calls refused: TypeError: not for this dtype"
