"""What the table of rows on a device says of differences."""

from __future__ import annotations

import sys
from pathlib import Path

import taeda

sys.path.insert(0, str(Path(__file__).parents[1] / "cuda"))

import cuda_rows


def test_a_difference_is_told_in_units_also_where_new_tensors_are_made_elsewhere():
    wanted = taeda.tensor([1.0, 0.0, -4.0])
    back = taeda.tensor([1.0, 0.0, -4.0 + 3 * 2**-22])
    with taeda.device("meta"):
        outcome = cuda_rows.compare(taeda, back_on_device(back), wanted)
    assert outcome == ("differs", "1 of 3 elements, 1.5 ulps at most")


class back_on_device:
    """A tensor that says that it comes from the device, as the results of rows do."""

    device = taeda.device("cuda")

    def __init__(self, here: taeda.Tensor) -> None:
        self.here = here

    def cpu(self) -> taeda.Tensor:
        return self.here


def test_attention_in_tiles_is_compared_by_closeness():
    for name in ("_ragged_attention", "_fused_attention_backward"):
        assert cuda_rows.CLOSE.match(name)
    assert not cuda_rows.CLOSE.match("softmax")


def test_formulas_of_complex_numbers_may_differ_by_units_and_no_other_row():
    wanted = taeda.tensor([1 + 1e-9j, -3 + 4j, 0j])
    near = taeda.tensor([1 + 2e-7j, -3 + (4 - 2**-21) * 1j, 0j])
    far = taeda.tensor([1 + 1e-5j, -3 + 4j, 0j])
    for back, row, outcome in (
        (near, "exp", "same"),
        (near, "_foreach_exp_", "same"),
        (near, "add", "differs"),
        (far, "exp", "differs"),
        (far, "pow.Tensor_Tensor", "differs"),
    ):
        told = cuda_rows.compare(taeda, back_on_device(back), wanted, units=cuda_rows.allowed(row))
        assert told[0] == outcome, (row, told)
