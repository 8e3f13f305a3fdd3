"""What goes wrong before or beside the numbers is told with its cure, and nothing hangs. Where each
kind is tested on the stand-in driver:

| what | where |
|---|---|
| no driver, no entry points, no device, hidden devices | test_null: without a device questions have answers |
| a driver that is too old | here |
| a wrong ordinal | here, test_null: refusals |
| mixed devices: the operator, both devices, the cure | here |
| a forked child | here, test_null: a forked child is told to spawn |
| no memory, with what holds it | here, test_null: refusals, test_history |
| a failed launch that shows later | here, test_null: a failing driver is told |
| any call of the driver fails, at any step of a training | test_fail_at |
| pinned memory refused | test_streams: pinned memory that the system refuses |
| pinned memory of no device, of tensors on one | test_streams |
| NVRTC is missing | here |
| cuBLASLt is missing, does not start, or declines | test_products |
| a package of compiled kernels is damaged | test_cubins |
| CuPy is missing, or cannot be imported | _cuda/test_init |
| sensors' package is missing | test_sensors |
| NVTX is missing | test_nvtx |
"""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import standin

START = standin.MEMORY


def test_a_driver_that_is_too_old_is_told_both_versions():
    standin.run(
        START
        + """
assert not cuda.is_available() and cuda.device_count() == 0
for call in (lambda: make(1), cuda.init, lambda: taeda.ones(2).cuda()):
    refuses(RuntimeError, ["serves CUDA 11.8", "wants CUDA 12.0 or later", "newer driver"], call)
""",
        TAEDA_NULL_VERSION="11080",
    )


def test_devices_that_are_not_there_and_tensors_on_several():
    standin.run(
        START
        + """
x, y = taeda.ones(3, device="cuda:0"), taeda.ones(3, device="cuda:1")
refuses(RuntimeError, ["there are 2 devices", "cuda:2"], lambda: x.to("cuda:2"))
refuses(RuntimeError, ["there are 2 CUDA devices"], lambda: cuda.set_device(2))
refuses(RuntimeError, ["there are 2 CUDA devices"], lambda: cuda.synchronize(7))
refuses(RuntimeError, ["mul", "cuda:0 and cuda:1", ".to('cuda:1')"], lambda: x * y)
refuses(RuntimeError, ["cat", "cuda:0", "cpu", ".to("], lambda: taeda.cat([x, x.cpu()]))
refuses(RuntimeError, ["linear", "cpu", "cuda:0", ".to("], lambda: taeda.nn.Linear(3, 2)(x))
refuses(RuntimeError, ["embedding", "cuda:0", "cpu", ".to("],
        lambda: taeda.nn.functional.embedding(taeda.tensor([1]), taeda.ones(2, 2, device="cuda")))
assert (x * taeda.tensor(2.0)).tolist() == [2, 2, 2], "a number goes with any device"
"""
    )


@pytest.mark.slow
def test_what_no_device_takes_is_refused_in_the_processors_words():
    standin.run(
        START
        + """
import warnings
warnings.simplefilter("ignore")
F, inf = taeda.nn.functional, float("inf")
CALLS = [lambda x, n=name: getattr(taeda, n)(x) for name in (
    "floor erf lgamma bitwise_not signbit frac relu sort unique bincount median nanmedian amax argmin cov "
    "logical_not isposinf deg2rad i0 aminmax selu").split()]
CALLS += [lambda x, n=name: getattr(taeda, n)(x, x) for name in (
    "maximum fmin fmod gcd hypot nextafter copysign atan2 xlogy bitwise_and logaddexp heaviside le").split()]
CALLS += [lambda x, n=name: getattr(x, n)(0) for name in (
    "softmax log_softmax cummax logcumsumexp mode kthvalue quantile nansum logsumexp").split()]
CALLS += [lambda x, n=name: getattr(F, n)(x) for name in (
    "gelu silu elu softplus hardtanh leaky_relu logsigmoid dropout").split()]
CALLS += [lambda x: F.mse_loss(x, x), lambda x: F.layer_norm(x, x.shape), lambda x: x.histc(3),
          lambda x: taeda.bucketize(x, x), lambda x: F.huber_loss(x, x), lambda x: x.clone().erf_(),
          lambda x: taeda.floor(x, out=taeda.empty_like(x)),
          lambda x: F.interpolate(x.view(1, 1, 4), 8, mode="linear")]
seen = 0
for name in "bool uint8 int64 uint16 float16 float32 complex32 complex64".split():
    dtype = getattr(taeda, name)
    x = taeda.tensor([1, 0, 1, 1]).to(dtype)
    for k, call in enumerate(CALLS):
        words = []
        for device in ("cpu", "cuda"):
            try:
                call(x.to(device))
            except (NotImplementedError, RuntimeError, TypeError) as error:
                words.append((type(error), str(error)))
        assert len(words) in (0, 2) and words[:1] == words[1:], (k, dtype, words)
        seen += len(words) // 2
assert seen > 150, seen
""",
        TAEDA_CUDA_FALLBACK="",
    )


def test_a_forked_child_is_told_what_to_do():
    standin.run(
        START
        + """
import os
x = make(1)
child = os.fork()
if child == 0:
    status = 1
    try:
        for call in (lambda: make(1), lambda: x + 1, x.cpu, cuda.synchronize, lambda: cuda.Stream()):
            refuses(RuntimeError, ["forked subprocess", "spawn"], call)
        status = 0
    finally:
        os._exit(status)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
"""
    )


def test_without_memory_the_holders_are_told():
    standin.run(
        START
        + """
held = [make(300), make(100), make(100)]
refuses(taeda.OutOfMemoryError, ["700.00 MiB", "cuda:0", "300.00 MiB", "200.00 MiB", "2 blocks"],
        lambda: make(700))
del held
assert make(700).numel() == 700 * MIB, "what was freed serves again"
""",
        TAEDA_NULL_MIB="1024",
    )


@pytest.mark.parametrize("blocking", ["0", "1"])
def test_a_fault_of_a_kernel_names_the_way_to_its_launch(blocking):
    standin.run(
        START
        + f"""
x = taeda.ones(4).to("cuda")
y = None
def launch():
    global y
    y = x.exp()
def wait():
    cuda.synchronize()
first, then = (launch, wait) if {blocking} else (wait, launch)
if not {blocking}:
    launch()
words = ['launching "exp" in exp'] if {blocking} else ["CUDA_LAUNCH_BLOCKING=1"]
refuses(RuntimeError, ["719", "cannot be used in this process", *words], first)
refuses(RuntimeError, ["719", *words], then)
assert taeda.ones(2).exp().shape == (2,), "the cpu goes on"
""",
        CUDA_LAUNCH_BLOCKING=blocking,
        TAEDA_NULL_FAIL="cuStreamSynchronize:2:719"
        if blocking == "1"
        else "cuCtxSynchronize:1:719",
    )


@pytest.mark.parametrize("code", [214, 700, 719, 999])
def test_a_device_that_is_lost_says_by_what_at_every_call(code):
    standin.run(
        START
        + f"""
import ctypes, os
driver = ctypes.CDLL(os.environ["TAEDA_LIBCUDA"])
x = taeda.ones(4).to("cuda")
y = (x * 2).exp() + 1
driver.td_null_fail(b"cuStreamSynchronize", 1, {code})
words = ["({code})", "restart it", "waiting for a copy, called at <string>:", "add, exp, mul"]
for call in (y.tolist, lambda: x + 1, x.tolist, cuda.synchronize, taeda.ones(3).cuda, cuda.Event().record):
    refuses(RuntimeError, words, call)
assert taeda.ones(2).exp().shape == (2,), "the cpu goes on"
"""
    )


def test_without_nvrtc_the_extra_is_named():
    standin.run(
        START
        + """
x = taeda.ones(3).to("cuda")  # a copy needs no kernel
refuses(RuntimeError, ["/nowhere.so was not found", "taeda-core[cuda12]", "taeda-core[cuda13]"],
        lambda: x.exp())
assert x.cpu().tolist() == [1, 1, 1]
""",
        TAEDA_LIBNVRTC="/nowhere.so",
        TAEDA_CACHE_DIR="/nowhere/cache",
    )
