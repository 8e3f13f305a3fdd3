"""Anomaly mode names the line of the forward whose backward went wrong."""

from __future__ import annotations

import pytest

import taeda


def leaf(*values: float) -> taeda.Tensor:
    return taeda.tensor(list(values), requires_grad=True)


def _backward_of_a_root_at_minus_one(x: taeda.Tensor) -> None:
    y = (x.sqrt() * 0).sum()
    with pytest.raises(RuntimeError, match="SqrtBackward0' returned nan"):
        y.backward()


def test_anomaly_mode_names_the_function_and_the_forward_line():
    x = leaf(-1.0)
    with (
        pytest.warns(UserWarning, match=r"Traceback of forward call(.|\n)*x\.sqrt\(\)"),
        pytest.warns(UserWarning, match="has been enabled"),
        taeda.autograd.detect_anomaly(),
    ):
        _backward_of_a_root_at_minus_one(x)


def test_anomaly_mode_is_told():
    assert not taeda.is_anomaly_enabled()
    assert taeda.is_anomaly_check_nan_enabled()
    taeda.set_anomaly_enabled(True, check_nan=False)
    try:
        assert taeda.is_anomaly_enabled() and not taeda.is_anomaly_check_nan_enabled()
    finally:
        taeda.set_anomaly_enabled(False)
