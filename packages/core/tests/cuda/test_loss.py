"""Losses on the stand-in driver: the processor's bits, forward and backward; targets that are no
classes are told as on the processor.
"""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import standin

PROGRAM = """
import taeda
from taeda.nn import functional as F
taeda.manual_seed(0)
def same(f, what, x, *others):
    results = []
    for move in (taeda.Tensor.clone, taeda.Tensor.cuda):
        leaf = move(x).requires_grad_()
        loss = f(leaf, *[t if t is None else move(t) for t in others])
        loss.sum().backward()
        assert loss.device == leaf.grad.device == leaf.device
        results.append((loss.detach().cpu(), leaf.grad.cpu()))
    assert all(map(taeda.equal, *results)), (what, results)
x, t = taeda.rand(5, 999), taeda.rand(5, 999)
for f in (F.mse_loss, F.binary_cross_entropy_with_logits, F.binary_cross_entropy):
    same(lambda x, t: f(x, t, reduction="mean"), f.__name__, x, t)
for dtype in (taeda.float32, taeda.bfloat16):
    same(lambda x, t: F.mse_loss(x, t, reduction="none"), "mse of each", x.to(dtype), t.to(dtype))
x = taeda.rand(3, 11000)  # more than a chunk of the processor's threads
same(lambda x, t: F.mse_loss(x, t, reduction="sum"), "mse of chunks", x, x.flip(0))
for shape in ((9, 5), (5000, 3), (4, 70), (2, 6, 5, 4)):
    scores, weight = taeda.randn(*shape) * 4, taeda.rand(shape[1])
    target = taeda.randint(0, shape[1], (shape[0], *shape[2:]))
    target.view(-1)[::3] = -100
    for w in (None, weight):
        for reduction in ("none", "mean", "sum"):
            same(
                lambda x, t, w: F.cross_entropy(x, t, w, reduction=reduction),
                (shape, reduction),
                scores,
                target,
                w,
            )
            same(
                lambda x, t, w: F.nll_loss(x, t, w, reduction=reduction),
                ("nll", shape, reduction),
                scores,
                target,
                w,
            )
for classes, dtype in ((5, taeda.float32), (70, taeda.float32), (999, taeda.float64)):
    scores = taeda.randn(7, classes, dtype=dtype) * 2
    same(
        lambda x, t: F.multi_margin_loss(x, t, reduction="none"),
        classes,
        scores,
        taeda.randint(0, classes, (7,)),
    )
    labels = taeda.full((7, classes), -1)
    labels[1:, :3] = taeda.randint(0, classes, (6, 3))
    labels[2, 1] = -1
    same(lambda x, t: F.multilabel_margin_loss(x, t), classes, scores, labels)
for bad in (5, -1):
    words = []
    for move in (taeda.Tensor.clone, taeda.Tensor.cuda):
        try:
            F.cross_entropy(move(taeda.randn(3, 5)), move(taeda.tensor([0, bad, 1])))
            taeda.cuda.synchronize()  # the device looks at targets: a wait raises
        except IndexError as error:
            words.append(str(error))
    assert len(words) == 2 and words[1].startswith(words[0]), words
"""


@pytest.mark.slow
def test_losses_have_the_processors_bits():
    standin.run(PROGRAM, TAEDA_NULL_LATE="1")
