"""On a device of this machine, not on the stand-in: values have the processor's bits, streams and
memory do what they say. The sessions `tests-gpu` run these, and `tools/gpu_check.sh`.
"""

from __future__ import annotations

import shutil

import pytest

import taeda

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(shutil.which("nvidia-smi") is None, reason="no NVIDIA device here"),
]

DTYPES = ("float64", "float32", "bfloat16", "float16")
#: loops whose text the processor and the device share; others call the device's own library
SAME = ("neg", "abs", "sqrt", "exp", "tanh", "sigmoid", "sin", "floor", "relu")


def there_and_back(function, *tensors):
    return function(*(t.cuda() for t in tensors)).cpu()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", SAME)
def test_functions_have_the_bits_of_the_processor(name, dtype):
    x = (taeda.randn(1037) * 3).to(getattr(taeda, dtype)).abs()
    function = getattr(taeda, name)
    assert taeda.equal(there_and_back(function, x), function(x))


@pytest.mark.parametrize("dtype", DTYPES)
def test_sums_have_the_bits_of_the_processor(dtype):
    x = taeda.randn(37, 1009).to(getattr(taeda, dtype))
    for dim in (0, 1):
        assert taeda.equal(there_and_back(lambda t, d=dim: t.sum(d), x), x.sum(dim))


def test_random_numbers_are_those_of_the_processor():
    def drawn(device):
        return taeda.rand(1000, device=device, generator=taeda.Generator(device).manual_seed(3))

    assert taeda.equal(drawn("cuda").cpu(), drawn("cpu"))


def test_products_are_close():
    a, b = taeda.randn(129, 257), taeda.randn(257, 65)
    taeda.testing.assert_close(there_and_back(taeda.mm, a, b), a @ b, rtol=1e-4, atol=1e-4)


def test_a_training_step_has_the_loss_of_the_processor():
    def losses(device):
        taeda.manual_seed(0)
        weight = taeda.randn(8, 4).to(device).requires_grad_()
        x, y = taeda.randn(16, 8).to(device), taeda.randn(16, 4).to(device)
        found = []
        for _ in range(5):
            loss = ((x @ weight - y) ** 2).mean()
            (grad,) = taeda.autograd.grad(loss, weight)
            with taeda.no_grad():
                weight -= 0.1 * grad
            found.append(loss.item())
        return found

    assert losses("cuda") == pytest.approx(losses("cpu"), rel=1e-4)


def test_events_measure_and_streams_wait():
    stream = taeda.cuda.Stream()
    begin, end = (taeda.cuda.Event(enable_timing=True) for _ in range(2))
    x = taeda.ones(1 << 20, device="cuda")
    with taeda.cuda.stream(stream):
        stream.wait_stream(taeda.cuda.default_stream())
        begin.record()
        y = x * 2
        end.record()
    taeda.cuda.current_stream().wait_stream(stream)
    assert y.sum().item() == 2 << 20
    assert begin.elapsed_time(end) >= 0


def test_memory_is_counted_and_given_back():
    taeda.cuda.empty_cache()
    before = taeda.cuda.memory_allocated()
    x = taeda.empty(1 << 22, dtype=taeda.uint8, device="cuda")
    assert taeda.cuda.memory_allocated() - before >= 1 << 22
    del x
    assert taeda.cuda.memory_allocated() == before


def test_more_than_there_is_is_refused():
    total = taeda.cuda.get_device_properties(0).total_memory
    with pytest.raises(taeda.cuda.OutOfMemoryError, match="cuda"):
        taeda.empty(2 * total, dtype=taeda.uint8, device="cuda")
