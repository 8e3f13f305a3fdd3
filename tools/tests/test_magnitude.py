"""Numbers of any size: what the property sees, and a share of the rows that a default run affords;
`nox -s magnitude` goes on.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "hunt"))
import magnitude as hunt
from properties import kinks, magnitude
from samples import ROWS

#: rows in which faults were found, and of the others every fiftieth
FOUND = (
    "norm", "vector_norm", "dist", "matrix_norm.str_ord", "cdist", "_row_distances", "_euclidean_dist",
    "renorm", "gelu", "gelu_backward", "asinh", "addcdiv", "std", "logsumexp", "prelu", "mul.Tensor",
)  # fmt: skip
ROWS_OF_CI = [ROWS[name] for name in FOUND] + hunt.share(list(ROWS.values()), "7/50")


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.filterwarnings("ignore")
def test_numbers_of_any_size_have_the_results_of_float64(dtype):
    assert list(hunt.faults(ROWS_OF_CI, [dtype])) == []


@pytest.mark.filterwarnings("ignore")
def test_gradients_at_kinks_are_those_of_numbers_nearby():
    names = ("relu", "abs", "hypot", "prelu", "norm", "max", "smooth_l1_loss", "softplus", "clamp",
             "binary_cross_entropy_with_logits")  # fmt: skip
    rows = [row for row in ROWS.values() if row.schema.name in names]
    assert len(rows) >= len(names)
    assert list(hunt.faults(rows, ["float64"])) == []


def case_of(name, kind, said=""):
    return next(
        c for c in magnitude.cases(ROWS[name], "float32") if c.kind == kind and said in c.said
    )


def spoiled(change):
    """A library whose results are changed."""

    def run(sample, chosen):
        return {k: change(v.copy()) for k, v in magnitude.outcome(sample, chosen).items()}

    return run


def one_more(x):
    x.reshape(-1)[0] += 1
    return x


def nan_first(x):
    x.reshape(-1)[0] = np.nan
    return x


@pytest.mark.parametrize(
    ("name", "kind", "said", "change"),
    [
        ("matmul", "scaled", "by 1", one_more),
        ("matmul", "scaled", "by 1e-10", lambda x: x * 0),
        ("matmul", "scaled", "by 1e+10", lambda x: x * np.inf),
        ("matmul", "odd", "nan", nan_first),
        ("matmul", "odd", "-9999", lambda x: x * (1 + 1e-3)),
        ("exp", "scaled", "by 1e-30", lambda x: x * (1 + 1e-4)),
    ],
)
def test_what_is_wrong_is_seen(name, kind, said, change):
    case = case_of(name, kind, said)
    assert magnitude.compared(case) == ""
    assert magnitude.compared(case, spoiled(change))


def test_numbers_replace_arguments_that_are_numbers_in_16_bits():
    found = [c.said for c in magnitude.cases(ROWS["threshold"], "bfloat16") if c.kind == "numbers"]
    assert found == [f"{n}={v}" for n in ("threshold", "value") for v in ("70000", "1e-09")]


def test_a_slope_that_no_number_nearby_has_is_seen():
    near = [[np.array([1.0])], [np.array([-1.0])]]
    assert kinks._outside([np.array([0.0])], near) == ""
    assert kinks._outside([np.array([1.5])], near)
    assert kinks._outside([np.array([np.nan])], near)


def test_every_reason_is_of_a_row():
    assert set(magnitude.APART) | set(magnitude.DRAWN_APART) <= set(ROWS)
    assert set(kinks.APART) <= set(ROWS)
    assert all(reason for _, reason in magnitude.APART.values())


@pytest.mark.filterwarnings("ignore")
def test_what_another_seed_draws_has_the_results_of_float64():
    rows = [
        ROWS[name] for name in ("norm", "cdist", "_euclidean_dist", "gelu", "matmul", "logsumexp")
    ]
    assert list(hunt.faults(rows, ["float32", "bfloat16"], seed=1)) == []
    drawn, again = (
        [c.said for c in magnitude.cases(ROWS["matmul"], "float32", seed=1)] for _ in "ab"
    )
    assert drawn == again
    assert drawn != [c.said for c in magnitude.cases(ROWS["matmul"], "float32", seed=2)]
