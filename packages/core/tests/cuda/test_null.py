"""`device="cuda"` on the stand-in driver, whose device memory faults when the host touches it."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import standin

PROLOGUE = """
import os, tempfile, taeda
def same(made, wanted):
    assert made.device.type == "cuda", made.device
    back = made.cpu()
    assert back.dtype == wanted.dtype and back.shape == wanted.shape, (back, wanted)
    assert taeda.equal(back, wanted), (back, wanted)
def refuses(kind, words, call):
    try:
        call()
    except kind as error:
        for word in words:
            assert word in str(error), (word, error)
    else:
        raise AssertionError(words)
x = taeda.arange(24.0).reshape(2, 3, 4) / 7
d = x.to("cuda")
"""

CASES = {
    "one line": """
taeda.manual_seed(3)
a = taeda.randn(8, device="cuda").exp()
taeda.manual_seed(3)
same(a, taeda.randn(8).exp())
""",
    "copies and casts": """
same(d, x)
for dtype in (taeda.int32, taeda.float64, taeda.float16, taeda.bfloat16, taeda.bool, taeda.complex64):
    same(d.to(dtype), x.to(dtype))
same(d.clone().fill_(3), taeda.full_like(x, 3))
same(d.to("cuda:1"), x)
same(taeda.zeros(3, device="cuda"), taeda.zeros(3))
same(taeda.arange(5, device="cuda:1"), taeda.arange(5))
y = taeda.empty(2, 3, 4, device="cuda")
y.copy_(x.transpose(0, 2).contiguous().transpose(0, 2))
same(y, x)
z = taeda.zeros(2, 3, 4)
z.copy_(d)
assert taeda.equal(z, x)
assert d.tolist() == x.tolist() and d[1, 2, 3].item() == x[1, 2, 3].item()
assert d.is_cuda and not x.is_cuda and d.cuda() is d and "device='cuda:0'" in repr(d)
""",
    "views": """
same(d.transpose(0, 2), x.transpose(0, 2))
same(d[1, :, ::2], x[1, :, ::2])
same(d.transpose(0, 1).reshape(-1), x.transpose(0, 1).reshape(-1))
same(taeda.cat([d, d], 1), taeda.cat([x, x], 1))
d[0, 1] = 5
x[0, 1] = 5
same(d, x)
""",
    "elementwise": """
same(d + d, x + x)
same(d + 1, x + 1)
same(2 - d, 2 - x)
same(d * d[0], x * x[0])
same(d.transpose(0, 2) + 1, x.transpose(0, 2) + 1)
same(d.exp(), x.exp())
same(d ** 2, x ** 2)
same(d > 1, x > 1)
same(taeda.where(d > 1, d, 0.0), taeda.where(x > 1, x, 0.0))
same(d.clamp(1, 2), x.clamp(1, 2))
same(d.clamp(min=1), x.clamp(min=1))
same(d.clamp(max=2), x.clamp(max=2))
same(taeda.nn.functional.gelu(d, approximate="tanh"), taeda.nn.functional.gelu(x, approximate="tanh"))
same(taeda.nn.functional.gelu(d), taeda.nn.functional.gelu(x))
same(taeda.add(d, d, alpha=2.5), taeda.add(x, x, alpha=2.5))
e = d.clone(); e += 1; e.mul_(d)
f = x.clone(); f += 1; f.mul_(x)
same(e, f)
out = taeda.empty(2, 3, 4, device="cuda")
taeda.add(d, 1, out=out)
same(out, x + 1)
""",
    "refusals": """
refuses(RuntimeError, ["there are 2 devices", "cuda:2"], lambda: taeda.empty(1, device="cuda:2"))
refuses(RuntimeError, ["add", "cpu and cuda:0", "x.to('cuda:0')"], lambda: d + x)
refuses(RuntimeError, ["cuda:0 and cuda:1"], lambda: d + d.to("cuda:1"))
refuses(
    NotImplementedError,
    ["_linalg_cholesky", "'cuda:0'", "CuPy", ".cpu()", "TAEDA_CUDA_FALLBACK=cpu"],
    lambda: taeda.linalg.cholesky(d[0, :, :3]),
)
refuses(NotImplementedError, ["F8"], lambda: d.to(taeda.float8_e4m3fn) == d.to(taeda.float8_e4m3fn))
refuses(TypeError, ["cpu()"], lambda: d.numpy())
refuses(
    taeda.OutOfMemoryError,
    ["4096.00 GiB", "cuda:0", "in use by tensors", "empty_cache"],
    lambda: taeda.empty(1 << 40, device="cuda"),
)
refuses(RuntimeError, ["there are 2 CUDA devices"], lambda: taeda.cuda.set_device(2))
refuses(ValueError, ["cpu"], lambda: taeda.cuda.synchronize("cpu"))
""",
    "devices and streams": """
cuda = taeda.cuda
assert cuda.is_available() and cuda.device_count() == 2 and cuda.is_initialized()
assert cuda.get_device_name() == "taeda stand-in" and cuda.get_device_capability() == (9, 0)
assert cuda.current_device() == 0
with cuda.device(1):
    assert cuda.current_device() == 1 and taeda.ones(2, device="cuda").device == taeda.device("cuda:1")
with cuda.device_of(d.to("cuda:1")):
    assert cuda.current_device() == 1
assert cuda.current_device() == 0 and taeda.device(1) == taeda.device("cuda:1")
s = cuda.Stream()
with cuda.stream(s):
    assert cuda.current_stream() == s
    y = d + 1
cuda.current_stream().wait_stream(s)
s.synchronize()
assert s.query() and cuda.current_stream() == cuda.default_stream()
same(y, x + 1)
a, b = cuda.Event(enable_timing=True), cuda.Event(enable_timing=True)
a.record(); d.exp(); b.record(); b.synchronize()
assert b.query() and a.elapsed_time(b) >= 0
refuses(ValueError, ["enable_timing"], lambda: cuda.Event().elapsed_time(b))
cuda.synchronize()
state = cuda.get_rng_state()
one = taeda.rand(4, device="cuda")
cuda.set_rng_state(state)
same(taeda.rand(4, device="cuda"), one.cpu())
""",
    "memory": """
cuda = taeda.cuda
del d
cuda.empty_cache()
cuda.reset_peak_memory_stats()
before = cuda.memory_allocated()
y = taeda.empty(1000, device="cuda")
assert cuda.memory_allocated() - before == 4096 and cuda.memory_reserved() >= 2 << 20
place = y.data_ptr()
del y
assert taeda.empty(1000, device="cuda").data_ptr() == place, "a freed block serves again"
assert cuda.memory_allocated() == before and cuda.max_memory_allocated() == before + 4096
free, total = cuda.mem_get_info()
assert total == 4096 << 20
big = taeda.empty(100 << 20, dtype=taeda.uint8, device="cuda")
assert cuda.mem_get_info()[0] == free - (100 << 20)
del big
cuda.empty_cache()
assert cuda.mem_get_info()[0] >= free
assert cuda.memory_stats()["allocated_bytes.all.peak"] >= 100 << 20
# memory that is cached as something else comes back before the allocator gives up
parts = [taeda.empty(30 << 20, dtype=taeda.uint8, device="cuda:1") for _ in range(100)]
del parts
whole = taeda.empty(3500 << 20, dtype=taeda.uint8, device="cuda:1")
assert cuda.memory_stats(1)["num_alloc_retries"] == 1 and cuda.memory_stats(1)["num_ooms"] == 0
""",
    "files and copies": """
import copy, io, pickle
for name in ("a.safetensors", "a.pt"):
    path = os.path.join(tempfile.mkdtemp(), name)
    taeda.save({"x": d, "part": d[1:], "turned": d.transpose(0, 2)}, path)
    back = taeda.load(path)
    same(back["x"], x); same(back["part"], x[1:]); same(back["turned"], x.transpose(0, 2))
    assert taeda.equal(taeda.load(path, map_location="cpu")["x"], x)
    assert taeda.load(path, map_location="cuda:1")["x"].device == taeda.device("cuda:1")
same(copy.deepcopy(d), x)
for protocol in (2, 5):
    same(pickle.loads(pickle.dumps(d, protocol)), x)
""",
    "products": """
def close(made, wanted):
    back = made.cpu()
    assert (
        made.device.type == "cuda"
        and back.dtype == wanted.dtype
        and taeda.allclose(back, wanted, rtol=1e-5, atol=1e-5)
    )
a, b, c = taeda.randn(37, 50), taeda.randn(50, 21), taeda.randn(37, 21)
for left, right in (
    (a, b),
    (a, b[:, 0]),
    (a.t().contiguous().t(), b),
    (taeda.randn(3, 1, 5, 7), taeda.randn(4, 7, 6)),
):
    close(left.cuda() @ right.cuda(), left @ right)
close(taeda.addmm(c.cuda(), a.cuda(), b.cuda(), beta=2, alpha=3), taeda.addmm(c, a, b, beta=2, alpha=3))
close(
    taeda.nn.functional.linear(a.cuda(), b.t().cuda(), c[0].cuda()),
    taeda.nn.functional.linear(a, b.t(), c[0]),
)
whole = (a * 9).to(taeda.int64)
same(whole.cuda() @ whole.t().cuda(), whole @ whole.t())
same(a[:, :0].cuda() @ b[:0].cuda(), a[:, :0] @ b[:0])
nan = taeda.tensor([[float("nan"), 1.0]])
assert taeda.isnan((nan.cuda() @ taeda.ones(2, 3).cuda()).cpu()).all()
""",
    "autograd": """
w = taeda.linspace(-1, 1, 12).reshape(3, 4)
def loss(w):
    return ((w * w.t().reshape(3, 4)).tanh() + w.sigmoid() * 2).flatten()
def gradient(w):
    w = w.clone().requires_grad_()
    loss(w).backward(taeda.ones(12, device=w.device))
    return w.grad
same(gradient(w.cuda()), gradient(w))
""",
}


@pytest.mark.parametrize("late", [False, True], ids=["at once", "late"])
@pytest.mark.parametrize(
    "case",
    [pytest.param(c, marks=pytest.mark.slow) if c == "elementwise" else c for c in CASES],
)
def test_on_the_stand_in(case, late):
    standin.run(PROLOGUE + CASES[case], TAEDA_NULL_LATE=str(int(late)))


def test_the_host_cannot_touch_device_memory():
    """The trap itself: without it nothing above would show a host read."""
    program = (
        "import ctypes, taeda; x = taeda.ones(4, device='cuda'); "
        "ctypes.c_float.from_address(x.data_ptr()).value"
    )
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, env=standin.environment(), check=False)
    # which tells of the signal in its own way
    sanitized = "libasan" in os.environ.get("LD_PRELOAD", "")
    assert b"SEGV" in done.stderr if sanitized else done.returncode == -11


@pytest.mark.parametrize(
    "entry",
    [
        "cuMemAlloc_v2",
        "cuMemcpyHtoDAsync_v2",
        "cuLaunchKernel",
        "cuStreamSynchronize",
        "cuModuleLoadData",
    ],
)
@pytest.mark.parametrize("n", [1, 2, 3])
def test_a_failing_driver_is_told_and_nothing_hangs(entry, n):
    code = 2 if entry == "cuMemAlloc_v2" else 719
    standin.run(
        """
import taeda
for _ in range(3):
    try:
        x = taeda.arange(4000.0).to("cuda")
        y = taeda.empty(5 << 20, device="cuda").fill_(1)
        assert (x.exp() + 1).cpu()[0].item() == 2.0
    except RuntimeError as error:
        assert "CUDA" in str(error), error
        assert "719" not in str(error) or "CUDA_LAUNCH_BLOCKING=1" in str(error)
""",
        TAEDA_NULL_FAIL=f"{entry}:{n}:{code}",
    )


def test_a_forked_child_is_told_to_spawn():
    standin.run("""
import os, taeda
x = taeda.ones(3, device="cuda")
child = os.fork()
if child == 0:
    status = 1
    try:
        taeda.ones(3, device="cuda")
    except RuntimeError as error:
        status = 0 if "Cannot re-initialize CUDA in forked subprocess" in str(error) else 2
    del x
    os._exit(status)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
assert (x + 1).cpu().tolist() == [2, 2, 2]
""")


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"TAEDA_LIBCUDA": "/nowhere/libcuda.so.1"}, "no NVIDIA driver was found"),
        ({"TAEDA_LIBCUDA": "libm.so.6"}, "has no entry point cuInit"),
        ({"CUDA_VISIBLE_DEVICES": ""}, "CUDA_VISIBLE_DEVICES hides all devices"),
        ({"CUDA_VISIBLE_DEVICES": "-1"}, "CUDA_VISIBLE_DEVICES hides all devices"),
        ({"TAEDA_NULL_DEVICES": "0"}, "CUDA_ERROR_NO_DEVICE"),
    ],
)
def test_without_a_device_questions_have_answers(settings, words):
    program = f"""
import taeda
assert not taeda.cuda.is_available() and taeda.cuda.device_count() == 0 and not taeda.cuda.is_initialized()
assert taeda.accelerator.current_accelerator() is None
taeda.cuda.manual_seed_all(3)
taeda.cuda.empty_cache()
for call in (
    lambda: taeda.ones(3, device="cuda"),
    lambda: taeda.ones(3).cuda(),
    taeda.cuda.init,
    taeda.cuda.current_device,
):
    try:
        call()
    except RuntimeError as error:
        assert {words!r} in str(error), error
    else:
        raise AssertionError
"""
    standin.run(program, **settings)


def test_visible_devices_are_renumbered():
    standin.run(
        "import taeda; assert taeda.cuda.device_count() == 1; taeda.ones(1, device='cuda:0')",
        CUDA_VISIBLE_DEVICES="1",
    )


def test_what_has_no_kernel_runs_on_the_host_where_asked():
    out = standin.run(
        """
import warnings, taeda
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    x = taeda.arange(6.0).reshape(2, 3)
    d = x.cuda()
    for _ in range(2):
        values, factors = taeda.geqrf(d)
    assert values.device.type == factors.device.type == "cuda"
    assert taeda.equal(values.cpu(), taeda.geqrf(x)[0])
    d.masked_fill_(d > 2, -1)
    e = taeda.zeros(4, device="cuda")
    e.index_put_((taeda.tensor([1, 2], device="cuda"),), taeda.tensor([5.0, 6.0], device="cuda"))
    assert e.tolist() == [0, 5, 6, 0]
    out = taeda.empty(2, 2, device="cuda")
    taeda.mm(d, d.t(), out=out)
    assert taeda.equal(out.cpu(), d.cpu() @ d.cpu().t())
    print([str(w.message) for w in seen if "geqrf" in str(w.message)])
""",
        TAEDA_CUDA_FALLBACK="cpu",
    )
    assert out.count("computed on the cpu") == 1, out


@pytest.mark.slow
def test_a_model_trains_to_the_processors_losses():
    program = """
import warnings, taeda
from taeda import nn
warnings.simplefilter("ignore")
def losses(device):
    taeda.manual_seed(0)
    layers = (
        nn.Conv2d(1, 4, 3, padding=1, bias=False),
        nn.BatchNorm2d(4),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
    )
    model = nn.Sequential(*layers, nn.Dropout(0.3), nn.Linear(64, 10)).to(device)
    x, y = taeda.randn(8, 1, 8, 8).to(device), taeda.randint(0, 10, (8,)).to(device)
    optimizer = taeda.optim.Adam(model.parameters(), lr=1e-2)
    found = []
    for _ in range(3):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        found.append(loss.item())
    return found
made, wanted = losses("cuda"), losses("cpu")  # products add in another order
assert all(abs(a - b) < 1e-5 for a, b in zip(made, wanted, strict=True)), (made, wanted)
"""
    if importlib.util.find_spec("taeda.nn") is None:
        pytest.skip("taeda-nn and taeda-optim are not installed beside core")
    standin.run(program, TAEDA_CUDA_FALLBACK="cpu")


def test_importing_opens_nothing():
    program = """
import sys, taeda
assert not [
    name
    for name in sys.modules
    if name.startswith("taeda.cuda._nvrtc") or name == "taeda.cuda._programs"
]
assert "libcuda" not in open("/proc/self/maps").read()
taeda.ones(3).exp()
assert "libcuda" not in open("/proc/self/maps").read()
"""
    standin.run(program)


def test_loops_of_the_build_are_those_of_the_tables():
    from taeda import _device_text

    found = _device_text.loops()
    assert found["exp F32"] == ["unary", "exp_f32"] and found["sign F16"] == [
        "unary_real",
        "sgn_f16",
    ]
    assert {family for family, _ in found.values()} == set(_device_text.TABLES)
    assert "clamp F32" not in found and found["clamp_both F32"] == ["ternary", "clamp_both_f32"]
    assert json.dumps(found) and os.path.exists(_device_text.root())


def test_kernels_may_be_left_out_for_measuring():
    standin.run(
        """
import ctypes, os, taeda
driver = ctypes.CDLL(os.environ["TAEDA_LIBCUDA"])
x = taeda.tensor([1.0, 2.0]).cuda()
before = driver.td_null_launches()
y = x + 1
assert driver.td_null_launches() == before + 1 and y.tolist() != [2, 3]
assert x.tolist() == [1, 2], "copies are made"
""",
        TAEDA_NULL_SKIP="1",
    )
