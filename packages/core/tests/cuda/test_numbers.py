"""Numbers beside short floats on the stand-in driver: as wide as on the processor, with its bits."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import standin

PROGRAM = """
import taeda

def same(what, a, b):
    assert a.dtype is b.dtype and ((a == b) | ((a != a) & (b != b))).all(), (what, a, b)

taeda.manual_seed(0)
mul = lambda x, c: x * c
CASES = (
    (taeda.float16, mul), (taeda.bfloat16, mul), (taeda.complex32, mul),
    (taeda.bfloat16, lambda x, c: x.lerp(-x, c)),
    (taeda.float16, lambda x, c: taeda.remainder(x, c)),
    (taeda.float16, lambda x, c: taeda.maximum(x, taeda.as_tensor(c).to(x.device))),
)
for dtype, f in CASES:
    x = taeda.randn(6, 34).to(dtype) if dtype.is_floating_point else (
        taeda.randn(6, 34, dtype=taeda.complex64).to(dtype))
    for number in (0.1, 70000.0, 1e-9, 0.5):
        wanted = f(x, number)
        on = x.cuda()
        same((dtype, number), f(on, number).cpu(), wanted)
        same((dtype, number, "strided"), f(on[:, ::2], number).cpu(), wanted[:, ::2])
for number in (0.1, 70000.0):
    x = taeda.randn(6, 34).half()
    single = taeda.tensor(number, dtype=taeda.float64)
    on, there = x.cuda(), single.cuda()
    same("of the host", (on * single).cpu(), x * number)
    same("of the device", (on * there).cpu(), x * number)
    same("in place", on.clone().mul_(there).cpu(), x * number)
    same("strided", (on[:, ::2] * there).cpu(), (x * number)[:, ::2])
    assert (x * number).isfinite().any() and (x * number != 0).all()
print("the same")
"""


def test_numbers_are_as_wide_as_on_the_processor():
    assert standin.run(PROGRAM).endswith("the same\n")
