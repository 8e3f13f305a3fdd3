"""`VerificationInfo`: how far tensors are from each other."""

import math

import pytest

import taeda
from taeda.onnx import OnnxExporterError
from taeda.onnx.verification import VerificationInfo


def test_differences_are_counted_by_their_size():
    a = taeda.tensor([1.0, 2.0, -4.0, math.nan])
    b = taeda.tensor([1.0, 2.5, -4.004, math.nan])
    made = VerificationInfo.from_tensors("y", a, b)
    assert made.max_abs_diff == 0.5 and made.max_rel_diff == 0.25
    counts, edges = made.abs_diff_hist
    assert counts.tolist() == [2, 0, 0, 0, 1, 0, 1, 0, 0] and len(edges) == 10
    said = made.asdict()
    assert said["abs_diff_hist"][0] == counts.tolist()
    assert said["expected_dtype"] == "taeda.float32"


def test_a_number_that_is_none_in_one_of_them_is_seen():
    made = VerificationInfo.from_tensors("y", taeda.ones(2), taeda.tensor([1.0, math.nan]))
    assert math.isnan(made.max_abs_diff)


def test_other_kinds_are_compared_and_other_sizes_refused():
    made = VerificationInfo.from_tensors("y", 3, taeda.tensor(3.5))
    assert made.max_abs_diff == 0.5 and made.expected_dtype == taeda.int64
    assert VerificationInfo.from_tensors("y", taeda.ones(0), taeda.ones(0)).max_abs_diff == 0
    with pytest.raises(OnnxExporterError, match="y is"):
        VerificationInfo.from_tensors("y", taeda.ones(2), taeda.ones(3))
