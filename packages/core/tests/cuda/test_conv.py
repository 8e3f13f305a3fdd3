"""Convolutions on the stand-in driver, forward and backward: the processor's numbers, exactly for
integers.
"""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import standin

PROGRAM = """
import taeda
taeda.manual_seed(0)
def results(move, x, w, b, *rest):
    leaves = [move(t).requires_grad_() for t in (x, w, b)]
    y = taeda.convolution(*leaves, *rest)
    (y * move(taeda.arange(y.numel()).reshape(y.shape) % 7)).sum().backward()
    assert y.device == leaves[0].device
    return [t.cpu() for t in (y.detach(), *[leaf.grad for leaf in leaves])]
for size, groups, kernel, stride, padding, dilation, transposed, extra in [
    ((9,), 1, (3,), [2], [1], [1], False, [0]),
    ((8, 7), 2, (3, 2), [1, 2], [1, 0], [2, 1], False, [0, 0]),
    ((8, 7), 2, (3, 2), [3, 2], [1, 1], [2, 1], True, [1, 0]),
    ((4, 5, 4), 1, (2, 3, 1), [1, 1, 2], [0, 1, 0], [1, 1, 1], False, [0, 0, 0]),
]:
    x = taeda.randn(2, 4, *size)
    w = taeda.randn(4, 6 // groups, *kernel) if transposed else taeda.randn(6, 4 // groups, *kernel)
    rest = (taeda.randn(6), stride, padding, dilation, transposed, extra, groups)
    for a, b in zip(
        results(taeda.Tensor.clone, x, w, *rest),
        results(taeda.Tensor.cuda, x, w, *rest),
        strict=True,
    ):
        assert taeda.allclose(a, b, rtol=1e-4, atol=1e-4), (size, transposed, (a - b).abs().max())
    whole = [(t * 5).long() for t in (x, w, rest[0])]
    wanted, made = (
        taeda.convolution(*whole, *rest[1:]),
        taeda.convolution(*[t.cuda() for t in whole], *rest[1:]),
    )
    assert taeda.equal(made.cpu(), wanted)
"""


@pytest.mark.slow
def test_convolutions_are_the_processors():
    standin.run(PROGRAM, TAEDA_NULL_LATE="1")
