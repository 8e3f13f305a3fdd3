"""What autocast casts on cuda is in the table by its rows' names; tests/cuda/test_autocast.py runs it."""

import subprocess
import sys

import pytest

from taeda._layers import _cuda_casts as casts
from taeda._native import core

PROGRAM = """
import taeda
from taeda._layers import _cuda_casts
_cuda_casts.install()
x = taeda.ones(2, 2)
taeda.set_autocast_enabled("cuda", True)
assert (x @ x).dtype is x.exp().dtype is taeda.float32, "tensors on the cpu are left alone"
assert (x.bfloat16() @ x.bfloat16()).dtype is x.bfloat16().exp().dtype is taeda.bfloat16
taeda.set_autocast_enabled("cpu", True)
assert (x @ x).dtype is x.bfloat16().exp().dtype is taeda.bfloat16
"""


def test_every_name_has_a_row_and_one_kind():
    names = [*casts.LOWER, *casts.FLOAT32, *casts.PROMOTE]
    assert len(names) == len(set(names))
    program = "from taeda._layers import _cuda_casts; _cuda_casts.install()"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_the_cpu_casts_as_before():
    subprocess.run([sys.executable, "-c", PROGRAM], check=True)


def test_refused():
    with pytest.raises(ValueError, match="exp: no cast 4"):
        core.set_cuda_cast("exp", core.casts["OWN"])
    assert core.set_cuda_cast("there is no such row", 0) == 0
