"""Work on lists of tensors on the stand-in driver: steps, numbers and norms with the processor's bits."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import standin

BEGIN = """
import taeda
taeda.manual_seed(0)
# more tensors than one launch takes, and more than one chunk
SIZES = ((3,), (0,), (7, 5), (20, 450), (1,)) * 10
def lists(count, dtype=taeda.float32):
    return [[(taeda.rand(*size) + 0.1).to(dtype) for size in SIZES] for _ in range(count)]
def same(f, what, given):
    results = []
    for move in (taeda.Tensor.clone, taeda.Tensor.cuda):
        moved = [[move(t) for t in tensors] for tensors in given]
        made = f(*moved)
        results.append([t.cpu() for tensors in (*moved, made or ()) for t in tensors])
    for a, b in zip(*results, strict=True):
        assert taeda.equal(a, b), (what, a, b)
"""
STEPS = """
rates = dict(lr=0.1, weight_decay=0.01, maximize=False)
for dtype in (taeda.float32, taeda.float64, taeda.bfloat16, taeda.float16):
    for momentum in (0.0, 0.9):
        def sgd(p, g, m):
            taeda._fused_sgd_(
                p,
                g,
                m if momentum else [],
                momentum=momentum,
                dampening=0.1,
                nesterov=False,
                is_first_step=False,
                **rates,
            )
        same(sgd, ("sgd", momentum, dtype), lists(3, dtype))
    for fused in (taeda._fused_adam_, taeda._fused_adamw_):
        for amsgrad in (False, True):
            def adam(p, g, m, v, top):
                steps = [taeda.tensor(3.0) for _ in p]
                fused(
                    p,
                    g,
                    m,
                    v,
                    top if amsgrad else [],
                    steps,
                    beta1=0.9,
                    beta2=0.99,
                    eps=1e-8,
                    amsgrad=amsgrad,
                    **rates,
                )
            same(adam, (fused.__name__, amsgrad, dtype), lists(5, dtype))
    def adagrad(p, g, m):
        steps = [taeda.tensor(3.0, device=t.device) for t in p]
        taeda._fused_adagrad_(p, g, m, steps, lr_decay=0.1, eps=1e-8, **rates)
    same(adagrad, ("adagrad", dtype), lists(3, dtype))
def scaled(p, g, m):
    scale, found = taeda.tensor(4.0, device=p[0].device), taeda.tensor(0.0, device=p[0].device)
    taeda._fused_sgd_(
        p,
        g,
        m,
        momentum=0.9,
        dampening=0,
        nesterov=True,
        is_first_step=True,
        grad_scale=scale,
        found_inf=found,
        **rates,
    )
same(scaled, "scaled gradients", lists(3))
turned = [[t.t() if t.dim() == 2 else t for t in part] for part in lists(3)]
turned[1] = [t.contiguous() for t in turned[1]]
same(scaled, "other strides", turned)
"""
NORMS = """
for dtype in (taeda.float32, taeda.float64, taeda.bfloat16, taeda.float16):
    given = lists(1, dtype)
    for word in ("mul", "div", "add"):
        same(lambda x: taeda._flat_number_(x, 1.7, word), (word, dtype), given)
    for p in (0, 1, 2, 3.5, float("inf"), -float("inf")):
        same(lambda x: [taeda._global_norm(x, p)], ("all", p, dtype), given)
        same(lambda x: taeda._foreach_norm(x, p), ("each", p, dtype), given)
given = lists(1)
given[0][2][1, 1] = float("nan")
for p in (2, float("inf")):
    results = [taeda._global_norm([t.to(d) for t in given[0]], p).item() for d in ("cpu", "cuda")]
    assert all(x != x for x in results), (p, results)
mixed = [taeda.ones(3), taeda.ones(3, device="cuda")]
try:
    taeda._global_norm(mixed)
except RuntimeError as error:
    assert "device" in str(error), error
else:
    raise AssertionError("tensors of two devices were taken")
"""


@pytest.mark.slow
@pytest.mark.parametrize("program", [STEPS, NORMS], ids=["steps", "norms"])
def test_lists_of_tensors_have_the_processors_bits(program):
    standin.run(BEGIN + program, TAEDA_NULL_LATE="1")
