"""The table of what passed on which Python and device."""

from __future__ import annotations

from by_path import load

matrix_table = load("tools/hold/matrix_table.py")


def told(signature, result, reason=None):
    signatures = [signature, "matrix"]
    return {"name": "matrix", "signatures": signatures, "result": result, "reason": reason}


def test_a_column_for_each_python_in_order_and_nothing_is_passed_that_did_not_run():
    made = matrix_table.table([
        told("matrix-3.10(nn, cpu)", "success"),
        told("matrix-3.9(nn, cpu)", "failed"),
        told("matrix-3.9(nn, cuda)", "skipped", "no device"),
        told("lint", "success"),
    ])  # fmt: skip
    assert made.splitlines() == [
        "| package | device | 3.9 | 3.10 |",
        "|---|---|---|---|",
        "| nn | cpu | failed | success |",
        "| nn | cuda | skipped: no device | not run |",
    ]
