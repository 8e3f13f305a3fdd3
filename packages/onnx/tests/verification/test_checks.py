"""When results count as equal, and when two models are the same."""

import re

import pytest

import taeda
from taeda import nn
from taeda.onnx.verification import VerificationOptions, check_export_model_diff
from taeda.onnx.verification._checks import difference, wanted_of

ONE = taeda.tensor([1.0, 2.0])


@pytest.mark.parametrize(
    ("got", "options", "said"),
    [
        (ONE, {}, None),
        (ONE + 1e-4, {}, None),
        (ONE + 1e-2, {}, "differs in 2 of 2"),
        (ONE + 1e-2, {"rtol": 0.1}, None),
        (ONE.double(), {}, "float64"),
        (ONE.double(), {"check_dtype": False}, None),
        (ONE.view(2, 1), {}, r"\[2, 1\]"),
        (ONE.view(2, 1), {"check_shape": False}, None),
        (taeda.ones(3), {"check_shape": False}, "3 elements"),
        (taeda.tensor([1.0, 3.0]), {"acceptable_error_percentage": 0.5}, None),
        (taeda.tensor([1.0, 3.0]), {"acceptable_error_percentage": 0.4}, "1 of 2"),
    ],
)
def test_what_counts_as_equal(got, options, said):
    found = difference([got], [ONE], VerificationOptions(**options))
    assert (found is None) if said is None else re.search(said, found)


def test_results_are_tensors():
    flat = VerificationOptions()
    assert len(wanted_of({"a": ONE, "b": (None, ONE, 3)}, flat)) == 2
    with pytest.raises(AssertionError, match="NoneType"):
        wanted_of((ONE, None), VerificationOptions(ignore_none=False))
    with pytest.raises(AssertionError, match="dict"):
        wanted_of({"a": ONE}, VerificationOptions(flatten=False))


def test_models_of_two_calls_are_compared():
    class Made(nn.Module):
        def forward(self, x, how):
            return x.relu() if how else x.relu().abs()

    groups = [((ONE, True), {}), ((ONE, False), {})]
    assert "Graph diff" in check_export_model_diff(Made().eval(), groups)
    assert check_export_model_diff(Made().eval(), groups[:1] * 2, {"opset_version": 18}) == ""
