"""im2col on the stand-in driver: the processor's bits, whatever the geometry and the dtype."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import standin

PROGRAM = """
import taeda
from taeda.nn import functional as F
taeda.manual_seed(0)
GEOMETRIES = [dict(kernel_size=1), dict(kernel_size=(2, 3)), dict(kernel_size=3, padding=1, stride=2),
              dict(kernel_size=(3, 2), dilation=(1, 2), padding=(2, 0), stride=(3, 1))]
for dtype in (taeda.float32, taeda.float64, taeda.bfloat16):
    for shape in ((3, 5, 7), (2, 3, 6, 5), (0, 3, 6, 5)):
        x = taeda.randn(*shape).to(dtype)
        for options in GEOMETRIES:
            y = F.unfold(x.cuda(), **options)
            assert y.device.type == "cuda" and y.dtype == dtype
            assert taeda.equal(y.cpu(), F.unfold(x, **options)), (shape, dtype, options)
x = taeda.randn(2, 3, 5, 6).transpose(2, 3)
assert taeda.equal(F.unfold(x.cuda(), 2, padding=1).cpu(), F.unfold(x, 2, padding=1))
"""


@pytest.mark.slow
def test_columns_have_the_processors_bits():
    standin.run(PROGRAM, TAEDA_NULL_LATE="1", TAEDA_CUDA_FALLBACK="")
