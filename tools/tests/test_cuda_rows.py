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


def test_products_of_short_complex_numbers_may_differ_by_the_next_number():
    wanted = taeda.tensor([1 + 1j, 300 + 0.5j]).to(taeda.complex32)
    near = taeda.tensor([1 + 1j, 300.25 + 0.5j]).to(taeda.complex32)
    far = taeda.tensor([1 + 1j, 302 + 0.5j]).to(taeda.complex32)
    for back, outcome in ((near, "same"), (far, "differs")):
        told = cuda_rows.compare(taeda, back_on_device(back), wanted, close=True)
        assert told[0] == outcome, told
    assert cuda_rows.compare(taeda, back_on_device(near), wanted)[0] == "differs"


def test_eigenvalues_in_another_order_with_turned_vectors_are_the_same():
    a = taeda.randn(3, 5, 5, dtype=taeda.float64, generator=taeda.Generator().manual_seed(3))
    values, vectors = taeda.linalg.eig(a)
    order = taeda.tensor([3, 0, 4, 2, 1])
    turned = (values[:, order], vectors[..., order] * taeda.tensor([1, -1, 1j, -1j, 1]))
    for one, other in ((turned, (values, vectors)), (turned[0], values)):
        pairs = zip(*(flat(cuda_rows.in_order(taeda, x)) for x in (one, other)), strict=True)
        assert all(taeda.allclose(x, y) for x, y in pairs)
    changed = cuda_rows.in_order(taeda, (values, vectors.flip(-1)))
    assert not taeda.allclose(changed[1], cuda_rows.in_order(taeda, (values, vectors))[1])


def flat(result: object) -> list[taeda.Tensor]:
    return [result] if isinstance(result, taeda.Tensor) else [*result]


def test_a_refusal_fails_unless_it_is_sparse_or_quantized_or_names_a_library():
    for family, why, cupy, failed in (
        ("pooling", "is not implemented", False, True),
        ("sparse", "is not implemented", False, False),
        ("quantization", "is not implemented", True, False),
        ("fft", "CuPy computes it: pip install taeda-core[cuda12]", False, False),
        ("fft", "CuPy computes it: pip install taeda-core[cuda12]", True, True),
    ):
        entry = {"family": family, "outcome": "refused", "why": why}
        assert cuda_rows.fails(entry, cupy) == failed, entry
    assert cuda_rows.fails({"family": "sparse", "outcome": "differs", "why": ""}, False)
    assert not cuda_rows.fails({"family": "fft", "outcome": "same", "why": ""}, True)
