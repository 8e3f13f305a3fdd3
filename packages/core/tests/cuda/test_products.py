"""Products of matrices on the stand-in driver by the stand-in of cuBLASLt, which looks at every
argument, and by our own kernels where it is missing or declines.
"""

import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import standin

START = (
    """
import ctypes, importlib.util, os, warnings, numpy as np, taeda
cuda = taeda.cuda
library = os.environ["TAEDA_LIBCUBLASLT"]
lt = ctypes.CDLL(library if os.path.exists(library) else None)
def seen(what):
    if not hasattr(lt, "td_null_lt"):
        return 0
    lt.td_null_lt.restype = ctypes.c_long
    return lt.td_null_lt(what.encode())
driver = ctypes.CDLL(os.environ["TAEDA_LIBCUDA"])
def fail(name="", n=0, code=0):
    driver.td_null_fail(name.encode(), n, code)
def wide(t):
    "For NumPy."
    return t.to(taeda.complex128 if t.is_complex() else taeda.float64).numpy()
taeda.manual_seed(0)
r = taeda.randn
"""
    + standin.REFUSES
)

#: factors on the cpu by name, then the operator; shapes of matrices, batches, vectors and layouts
VALUES = """
from collections import OrderedDict
FEW = {"float32": 2.0 ** -24, "float64": 2.0 ** -53, "float16": 2.0 ** -11, "bfloat16": 2.0 ** -8,
       "complex64": 2.0 ** -24, "complex128": 2.0 ** -53}
PLAIN = OrderedDict(
    mm=[(r(5, 33), r(33, 7))], one=[(r(1, 1), r(1, 1))], row=[(r(1, 9), r(9, 4))],
    column=[(r(6, 9), r(9, 1))], outer=[(r(6, 1), r(1, 5))], mv=[(r(6, 9), r(9))],
    vm=[(r(9), r(9, 4))], dot=[(r(9), r(9))],
    turned=[(r(33, 5).t(), r(33, 7)), (r(5, 33), r(7, 33).t()), (r(33, 5).t(), r(7, 33).t())],
    parts=[(r(8, 40)[2:7, 3:36], r(50, 9)[5:38, 1:8]), (r(5, 66)[:, ::2], r(33, 7)),
           (r(5, 1).expand(5, 33), r(33, 7)), (r(5, 33), r(1, 7).expand(33, 7))],
    batches=[(r(3, 5, 6), r(3, 6, 4)), (r(3, 5, 6), r(6, 4)), (r(5, 6), r(3, 6, 4)),
             (r(3, 6, 5).mT, r(3, 4, 6).mT), (r(2, 1, 5, 6), r(1, 3, 6, 4)),
             (r(2, 5, 3, 6).transpose(1, 2), r(2, 4, 3, 6).permute(0, 2, 3, 1)),
             (r(1, 5, 6).expand(3, 5, 6), r(3, 6, 4))],
    empty=[(r(5, 0), r(0, 4)), (r(0, 5), r(5, 4)), (r(0, 2, 3), r(0, 3, 4)), (r(2, 2, 0), r(2, 0, 3))],
)
ADDED = [  # self, a, b, and what adds them
    ("addmm", r(5, 7), r(5, 33), r(33, 7)), ("addmm", r(7), r(5, 33), r(33, 7)),
    ("addmm", r(5, 1), r(5, 33), r(7, 33).t()), ("addmv", r(5), r(5, 33), r(33)),
    ("baddbmm", r(3, 5, 4), r(3, 5, 6), r(3, 6, 4)), ("baddbmm", r(4), r(3, 5, 6), r(3, 6, 4)),
    ("addmm", r(5, 4), r(5, 0), r(0, 4)), ("baddbmm", r(2, 5, 4), r(2, 5, 0), r(2, 0, 4)),
]
LINEAR = [(r(5, 33), r(7, 33), r(7)), (r(2, 3, 33), r(7, 33), r(7)), (r(33), r(7, 33), r(7)),
          (r(2, 33, 5).mT, r(7, 33), r(7)), (r(5, 33), r(7, 66)[:, 33:], r(8)[1:]),
          (r(5, 33), r(7, 33), None), (r(5, 0), r(7, 0), r(7)), (r(0, 33), r(7, 33), r(7))]
results = []
def check(made, wanted, scale, eps, what):
    assert made.device.type == "cuda" and made.shape == wanted.shape, what
    back = wide(made.cpu())
    results.append(made.cpu())
    # sums of float32 or of the dtype, then one rounding of the result
    off, most = np.abs(back - wanted), eps * (np.abs(wanted) + 3 * scale)
    assert np.all(off <= most), (what, off.max(), most.min())
def np_size(t):
    return np.abs(wide(t))
for name in CHOSEN:
    eps = FEW[name]
    dtype = getattr(taeda, name)
    def like(t):
        "The same values in the same layout; complex numbers get a second part."
        if t is None:
            return None
        flat = taeda.empty(0).set_(t.untyped_storage())
        base = (flat * (1 + 0.5j) if dtype.is_complex else flat).to(dtype)
        return base.as_strided(t.shape, t.stride(), t.storage_offset())
    def sent(t):
        "On the device with the layout that it has here."
        if t is None:
            return None
        base = taeda.empty(0, dtype=dtype).set_(t.untyped_storage())
        return base.cuda().as_strided(t.shape, t.stride(), t.storage_offset())
    for case, pairs in PLAIN.items():
        for a, b in ((like(a), like(b)) for a, b in pairs):
            wanted = np.asarray(np.matmul(wide(a), wide(b)))
            scale = np.asarray(np.matmul(np_size(a), np_size(b)))
            check(sent(a) @ sent(b), wanted, scale, eps, (name, case, a.shape, b.shape))
    for op, c, a, b in ADDED:
        c, a, b = like(c), like(a), like(b)
        for beta, alpha in ((1, 1), (0, 1), (0.5, -2)):
            wanted = beta * wide(c) + alpha * np.matmul(wide(a), wide(b))
            scale = abs(beta) * np_size(c) + abs(alpha) * np.matmul(np_size(a), np_size(b))
            args = sent(c), sent(a), sent(b)
            check(getattr(taeda, op)(*args, beta=beta, alpha=alpha), wanted, scale, eps, (name, op))
    for x, w, v in LINEAR:
        x, w, v = like(x), like(w), like(v)
        wanted = np.matmul(wide(x), wide(w).T) + (0 if v is None else wide(v))
        scale = np.matmul(np_size(x), np_size(w).T) + (0 if v is None else np_size(v))
        made = taeda.nn.functional.linear(sent(x), sent(w), sent(v))
        check(made, wanted, scale, eps, (name, "linear", x.shape))
import hashlib
def bits(t):
    return t.flatten().view(taeda.uint8).numpy().tobytes()
digest = hashlib.sha256(b"".join(bits(t) for t in results if t.numel()))
print(len(results), seen("products"), seen("bias"), seen("turned"), seen("batches"), digest.hexdigest())
"""
MISSING = {"TAEDA_LIBCUBLASLT": "/nowhere.so", "PYTHONWARNINGS": "ignore"}
# short factors with wide sums, and parts: the others are slow tests
SOME = ("bfloat16", "complex64")
REST = ("float32", "float64", "float16", "complex128")


@cache
def values(dtypes, **settings):
    """What the program of values prints, for these dtypes: a digest of all bits is the last word."""
    return standin.run(START + VALUES.replace("CHOSEN", repr(dtypes)), **settings).split()


@pytest.mark.parametrize(
    ("dtypes", "late"),
    [
        pytest.param(SOME, "0", id="some"),
        pytest.param(SOME, "1", id="some late", marks=pytest.mark.slow),
        pytest.param(REST, "0", id="rest", marks=pytest.mark.slow),
        pytest.param(REST, "1", id="rest late", marks=pytest.mark.slow),
    ],
)
def test_values_with_the_library_and_without(dtypes, late):
    """Within the rounding of the dtype, and the stand-in adds as our kernels do: the same bits."""
    given = values(dtypes, TAEDA_NULL_LATE=late)
    without = values(dtypes, TAEDA_NULL_LATE=late, **MISSING)
    results, products, biases, turned, batches = (int(word) for word in given[:5])
    n = len(dtypes)
    assert results > 50 * n and given[0] == without[0]
    assert products > 41 * n and biases > 3 * n and turned > 16 * n and batches > 40 * n
    assert without[1] == "0"
    assert given[5] == without[5]


CASES = {
    "out and in place": """
a, b, c = r(5, 33), r(33, 7), r(5, 7)
d = c.cuda()
d.addmm_(a.cuda(), b.cuda(), beta=2, alpha=3)
assert taeda.allclose(d.cpu(), 2 * c + 3 * (a @ b), atol=1e-4)
out = taeda.empty(5, 7, device="cuda")
taeda.mm(a.cuda(), b.cuda(), out=out)
assert taeda.allclose(out.cpu(), a @ b, atol=1e-5)
turned = taeda.empty(7, 5, device="cuda").t()
taeda.mm(a.cuda(), b.cuda(), out=turned)
assert taeda.allclose(turned.cpu(), a @ b, atol=1e-5) and turned.stride() == (1, 5)
batch = r(3, 5, 6)
e = r(3, 5, 4).cuda()
wanted = e.cpu().baddbmm(batch, batch[:, :4].mT, beta=-1)
e.baddbmm_(batch.cuda(), batch.cuda()[:, :4].mT, beta=-1)
assert taeda.allclose(e.cpu(), wanted, atol=1e-5)
assert seen("products") == 4
""",
    "gradients": """
F = taeda.nn.functional
def grads(device):
    taeda.manual_seed(3)
    x, w, v = (r(*s, dtype=taeda.float64, device=device, requires_grad=True)
               for s in ((2, 6, 9), (4, 9), (4,)))
    y = F.linear(x, w, v)
    z = taeda.baddbmm(y[:, :4], y.mT, y, alpha=0.5) + taeda.matmul(y.mT, y)
    (z ** 2).sum().backward()
    return [t.grad.cpu() for t in (x, w, v)] + [z.detach().cpu()]
for made, wanted in zip(grads("cuda"), grads("cpu"), strict=True):
    assert taeda.allclose(made, wanted, rtol=1e-10), (made - wanted).abs().max()
assert seen("products") >= 8, seen("products")
""",
    "autocast": """
if importlib.util.find_spec("taeda.amp"):
    x, w = r(6, 9).cuda().requires_grad_(), r(4, 9).cuda().requires_grad_()
    with taeda.autocast("cuda", dtype=taeda.bfloat16):
        y = taeda.nn.functional.linear(x, w)
    assert y.dtype == taeda.bfloat16 and seen("products") == 1
    wanted = x.bfloat16().float() @ w.bfloat16().float().t()
    assert taeda.equal(y.cpu(), wanted.bfloat16().cpu())
    y.float().sum().backward()
    assert x.grad.dtype == taeda.float32 and x.grad.shape == x.shape
""",
    "tf32": """
a, b = r(20, 300), r(300, 20)
def off():
    return (a.cuda() @ b.cuda()).cpu().double().sub(a.double() @ b.double()).abs().max().item()
exact = off()
assert exact < 1e-4 and seen("tf32") == 0
taeda.backends.cuda.matmul.allow_tf32 = True
assert 1e-3 < off() < 0.1 and seen("tf32") == 1
(a.cuda() + 1j) @ (b.cuda() + 1j); assert seen("tf32") == 2
a.cuda().double() @ b.cuda().double(); a.cuda().bfloat16() @ b.cuda().bfloat16()
assert seen("tf32") == 2, "of float32 alone"
taeda.set_float32_matmul_precision("highest")
assert off() == exact and seen("tf32") == 2
taeda.set_float32_matmul_precision("medium")
off(); assert seen("tf32") == 3
""",
    "short sums": """
matmul = taeda.backends.cuda.matmul
def product(dtype):
    return r(4, 8).to(dtype).cuda() @ r(8, 4).to(dtype).cuda()
product(taeda.bfloat16), product(taeda.float16)
assert seen("narrow") == 0
matmul.allow_bf16_reduced_precision_reduction = False
product(taeda.bfloat16); assert seen("narrow") == 1
product(taeda.float16); assert seen("narrow") == 1
matmul.allow_fp16_reduced_precision_reduction = False
product(taeda.float16); assert seen("narrow") == 2
product(taeda.float32); assert seen("narrow") == 2
matmul.allow_bf16_reduced_precision_reduction = True
product(taeda.bfloat16); assert seen("narrow") == 2
""",
    "plans": """
a, b, v = r(8, 16).cuda(), r(16, 8).cuda(), r(8).cuda()
for _ in range(5):
    a @ b; taeda.addmm(v, a, b)
assert seen("products") == 10 and seen("plans") == 2
a.t()[:8] @ b[:8]  # another layout
assert seen("plans") == 3
flat = r(1000).cuda()
flat[1:129].view(8, 16) @ b  # another alignment
assert seen("plans") == 4
a.cuda(1) @ b.cuda(1)  # another device
assert seen("plans") == 5
for n in range(1, 3001):
    flat[:1].view(1, 1) @ flat[:1].expand(n).contiguous().view(1, n)
assert seen("plans") == 3005 and seen("live") <= 4 * 1024, "what is kept is bounded"
""",
    "integers go to our own kernels": """
x = taeda.arange(12).view(3, 4)
assert taeda.equal((x.cuda() @ x.cuda().t()).cpu(), x @ x.t())
assert seen("products") == 0
""",
    "threads do not mix their biases": """
import threading
x, w = r(4, 8).cuda(), r(4, 8).cuda()
plain = taeda.nn.functional.linear(x, w).cpu()
wrong = []
def work(k):
    v = taeda.full((4,), float(k), device="cuda")
    for _ in range(40):
        if not taeda.equal(taeda.nn.functional.linear(x, w, v).cpu(), plain + k):
            wrong.append(k)
threads = [threading.Thread(target=work, args=(k,)) for k in range(6)]
[t.start() for t in threads]; [t.join() for t in threads]
assert not wrong and seen("bias") == 240
""",
    "a product is in its stream": """
a, b = r(8, 16), r(16, 8)
side, done = cuda.Stream(), cuda.Event()
x, y = a.cuda(), b.cuda()
side.wait_stream(cuda.current_stream())
with cuda.stream(side):
    z = x @ y
    done.record()
cuda.current_stream().wait_event(done)
z.record_stream(cuda.current_stream())
assert taeda.allclose((z + 0).cpu(), a @ b, atol=1e-5)
""",
    "the workspace goes back": """
a, b = r(8, 320).cuda(), r(320, 8).cuda()
before = cuda.memory_allocated()
c = a @ b
assert cuda.memory_allocated() - before <= 512, "the result alone"
assert cuda.max_memory_allocated() - before >= 20 * 1024
""",
}


@pytest.mark.parametrize("late", ["0", "1"])
@pytest.mark.parametrize("case", CASES)
def test_by_the_library(case, late):
    standin.run(START + CASES[case], TAEDA_NULL_LATE=late)


DECLINED = """
x, w, v = r(5, 33), r(7, 33), r(7)
def product():
    return taeda.nn.functional.linear(x.cuda(), w.cuda(), v.cuda()).cpu()
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    made = [product(), product()]
wanted = taeda.nn.functional.linear(x, w, v)
assert taeda.allclose(made[0], wanted, atol=1e-5) and taeda.equal(*made)
print(len(told), *(str(t.message) for t in told), seen("products"))
"""


@pytest.mark.parametrize(("what", "products"), [("bias", "2"), ("all", "0"), ("product", "0")])
def test_what_the_library_declines_is_computed_here(what, products):
    """A bias that is declined is put in C first, and the library adds the product."""
    out = standin.run(START + DECLINED, TAEDA_NULL_LT_REFUSE=what)
    assert out.split() == ["0", products]


def test_a_declined_bias_leaves_the_same_bits():
    given = values(SOME, TAEDA_NULL_LATE="0")
    without = values(SOME, TAEDA_NULL_LATE="0", TAEDA_NULL_LT_REFUSE="bias")
    assert given[5] == without[5] and without[2] == "0" and int(without[1]) == int(given[1])


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"TAEDA_LIBCUBLASLT": "/nowhere.so"}, "/nowhere.so was not found; install it with"),
        ({"TAEDA_NULL_LT_START": "1"}, "does not start: CUBLAS_STATUS_NOT_INITIALIZED"),
        ({"TAEDA_LIBCUBLASLT": "libm.so.6"}, "has no entry point cublasLtCreate"),
    ],
)
def test_a_library_that_is_not_usable_is_told_once(settings, words):
    out = standin.run(START + DECLINED, **settings)
    assert (
        out.startswith("1 products of matrices are computed by taeda's own kernels")
        and words in out
    )


def test_the_log_tells_who_computes():
    program = START + "r(4, 8).cuda() @ r(8, 4).cuda(); w = r(4, 4).cuda().long(); w @ w"
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env=standin.environment(TAEDA_CUDA_LOG="products"),
    )
    lines = [line for line in done.stderr.splitlines() if line.startswith("taeda.cuda: ")]
    assert lines[0] == "taeda.cuda: products by cuBLASLt 12.9.3" and len(lines) == 2
    assert re.fullmatch(
        r"taeda.cuda: matmul: \(4x4\) by \(4x4\) in int64: not by cuBLASLt, for its layout or dtype",
        lines[1],
    )


def test_faults_name_the_operator_the_shapes_and_the_status():
    standin.run(
        START
        + """
x, w = r(2, 5, 6).cuda(), r(2, 6, 4).cuda()
fail("cublasLtMatmul", 1, 14)
words = "bmm: 2 x (5x6) by (6x4) in float32: cuBLASLt failed with unknown (14)"
refuses(RuntimeError, words, lambda: taeda.bmm(x, w))
fail("cublasLtMatmul", 1, 3)  # no memory: unused memory goes back, and it is asked once more
assert taeda.allclose((x @ w).cpu(), x.cpu() @ w.cpu(), atol=1e-5)
fail("cublasLtMatmul", 1, 700)  # of the device: the driver names it
words = "computing matmul: 2 x (5x6) by (6x4) in float32: CUDA_ERROR_ILLEGAL_ADDRESS (700)"
refuses(RuntimeError, words, lambda: x @ w)
"""
    )


FAIL_AT = """
F = taeda.nn.functional
driver.td_null_counted.restype = ctypes.c_char_p
taeda.manual_seed(1)
base = r(40000).cuda()
shapes = iter(range(1, 100000))
def step(n):
    "Products of a new kind, so that they are planned."
    x, w, v = base[:4 * n].view(4, n), base[:6 * n].view(6, n), base[:6]
    y = F.linear(x, w, v)
    return [y.cpu(), taeda.bmm(x.view(2, 2, n), x.view(2, 2, n).mT).cpu()]
def wanted(n):
    x, w, v = (t.cpu() for t in (base[:4 * n].view(4, n), base[:6 * n].view(6, n), base[:6]))
    y = F.linear(x, w, v)
    return [y, taeda.bmm(x.view(2, 2, n), x.view(2, 2, n).mT)]
def right(made, n):
    return all(taeda.allclose(a, b, rtol=1e-4, atol=1e-3) for a, b in zip(made, wanted(n), strict=True))
assert right(step(1), 1)
driver.td_null_count()
step(next(shapes) + 1)
calls, k, n = {}, 0, ctypes.c_long()
while name := driver.td_null_counted(k, ctypes.byref(n)):
    calls[name.decode()] = n.value
    k += 1
entries = {name: most for name, most in calls.items() if name.startswith("cublasLt")}
assert len(entries) == 8, entries
held, told, tried = cuda.memory_allocated(), 0, 0
live = seen("live")
next(shapes)
for name, most in entries.items():
    for n in range(1, most + 1):
        for code in (1, 3, 7, 13, 15, 77, 719):
            deep = next(shapes) + 1
            tried += 1
            fail(name, n, code)
            try:
                made = step(deep)
            except RuntimeError as error:
                made = None
                told += 1
                assert "(719)" in str(error) if code == 719 else f"({code})" in str(error), error
                assert name == "cublasLtMatmul" or code == 719, (name, code, error)
            fail()
            assert made is None or right(made, deep), (name, n, code)
            again = step(deep)
            assert right(again, deep), (name, n, code)
            del made, again
            assert cuda.memory_allocated() == held, (name, n, code)
assert told >= 2 * 5 and tried > 100, (told, tried)
assert seen("live") - live <= 12 * tried, "three kinds a try; all else is destroyed"
print(tried, told)
"""


@pytest.mark.parametrize("late", ["0", "1"])
def test_when_any_call_of_the_library_fails(late):
    standin.run(START + FAIL_AT, TAEDA_NULL_LATE=late)


#: no factor goes to own tiles because of its strides
STRIDES = (
    standin.COUNTS
    + """
import taeda
taeda.manual_seed(0)
def device(t):
    "The same strides on the device."
    reach = 1 + sum((n - 1) * s for n, s in zip(t.shape, t.stride(), strict=True))
    return t.as_strided((reach,), (1,)).cuda().as_strided(t.shape, t.stride())
def products(call):
    counts, made = counted(call)
    return counts["products"], counts["launches"], made
for dtype in (taeda.float32, taeda.bfloat16, taeda.float64, taeda.complex64):
    x, w = taeda.randn(3, 4, 10, dtype=dtype), taeda.randn(10, 12, dtype=dtype)
    cases = {
        "every second": (x[..., ::2], w[::2, ::3]),
        "repeated": (x[..., :1].expand(3, 4, 10), w),
        "a number": (taeda.ones((), dtype=dtype).expand(4, 10), w[:, ::2]),
        "a batch": (x.unsqueeze(1).expand(3, 2, 4, 10)[..., ::2], w[:5, ::2].expand(3, 2, 5, 6)),
        "turned": (x.transpose(0, 2)[:, :, ::2], taeda.randn(10, 2, 4, dtype=dtype)),
    }
    for name, (a, b) in cases.items():
        n, _, made = products(lambda: device(a) @ device(b))
        near = 1e-2 if dtype == taeda.bfloat16 else 1e-4
        assert n == 1 + (name == "a batch")  # of two dimensions, which no step joins
        assert taeda.allclose(made.cpu(), a @ b, rtol=near, atol=10 * near), (dtype, name)
x, w = taeda.randn(6, 10).cuda().requires_grad_(), taeda.randn(10, 4).cuda().requires_grad_()
def step():
    (x @ w).sum().backward()
n, _, _ = products(step)
assert n == 3, n  # forward and both gradients, whose factors are expanded
layer, batch = taeda.nn.Linear(10, 4).cuda(), taeda.randn(2, 6, 10).cuda().requires_grad_()
def train():
    layer(batch).sum().backward()
n, _, _ = products(train)
assert n == 3, n
"""
)


def test_factors_of_any_strides_are_multiplied_by_the_library():
    standin.run(STRIDES)
