"""Autocast regions: which types come out, where they begin and end, what is cast once."""

from __future__ import annotations

import threading

import pytest

import taeda
from taeda import Tensor, amp, autocast
from taeda.utils.checkpoint import checkpoint

LOW = [taeda.bfloat16, taeda.float16]


def weight(*shape):
    return taeda.rand(*shape).requires_grad_()


@pytest.mark.parametrize("low", LOW)
def test_three_lists_and_the_rest(low):
    x, half = taeda.rand(3, 3), taeda.rand(3, 3).to(low)
    with autocast("cpu", dtype=low):
        assert (x @ x).dtype is low and x.mm(half).dtype is low
        assert taeda.einsum("ij,jk->ik", x, x).dtype is low
        assert half.prod().dtype is taeda.float32 and taeda.fft.fft(half).dtype is taeda.complex64
        assert taeda.cat([x, half]).dtype is taeda.float32 and taeda.cat([half, half]).dtype is low
        assert half.exp().dtype is low and x.softmax(0).dtype is taeda.float32
        assert (x + half).dtype is taeda.float32


def test_values_are_those_of_the_lower_type():
    x, w = taeda.rand(4, 3), taeda.rand(3, 2)
    with autocast("cpu"):
        y = x @ w
    assert taeda.equal(y, x.bfloat16() @ w.bfloat16())


def test_two_lower_types_meet_in_float32():
    with autocast("cpu"):
        made = taeda.stack([taeda.ones(2, dtype=low) for low in LOW])
    assert made.dtype is taeda.float32


LEFT_ALONE = {
    "float64": lambda: taeda.rand(2, 2).double() @ taeda.rand(2, 2).double(),
    "integers": lambda: taeda.ones(2, 2, dtype=taeda.int64) @ taeda.ones(2, 2, dtype=taeda.int64),
    "complex": lambda: taeda.ones(2, 2, dtype=taeda.complex64) @ taeda.ones(2, 2, dtype=taeda.complex64),
    "in place": lambda: taeda.zeros(2, 2).addmm_(taeda.rand(2, 2), taeda.rand(2, 2)),
    "out": lambda: taeda.mm(taeda.rand(2, 2), taeda.rand(2, 2), out=taeda.empty(2, 2)),
    "dtype": lambda: taeda.rand(2).bfloat16().prod(dtype=taeda.float64),
    "meta": lambda: taeda.ones(2, 2, device="meta") @ taeda.ones(2, 2, device="meta"),
}  # fmt: skip


@pytest.mark.parametrize("call", LEFT_ALONE.values(), ids=LEFT_ALONE)
def test_left_alone(call):
    wanted = call().dtype
    with autocast("cpu"):
        assert call().dtype is wanted


# ---- regions ----


def product():
    return (taeda.ones(1, 1) @ taeda.ones(1, 1)).dtype


def test_regions_nest_and_islands_are_off():
    with autocast("cpu"):
        with autocast("cpu", dtype=taeda.float16):
            assert product() is taeda.float16
            with autocast("cpu", enabled=False):
                assert product() is taeda.float32
                assert not taeda.is_autocast_enabled("cpu")
            assert product() is taeda.float16
        assert product() is taeda.bfloat16
    assert product() is taeda.float32


def test_a_region_ends_with_an_error_and_may_be_entered_again():
    region = autocast("cpu", dtype=taeda.float16)
    for _ in range(2):
        with region, region:
            assert product() is taeda.float16
        with pytest.raises(KeyError), region:
            {}["nothing"]
        assert product() is taeda.float32
    assert taeda.get_autocast_dtype("cpu") is taeda.bfloat16


def test_decorator():
    @autocast("cpu")
    def run(x, *, again=False):
        """Squares."""
        return run(x @ x) if again else (x @ x).dtype

    assert run.__doc__ == "Squares." and run(taeda.ones(1, 1), again=True) is taeda.bfloat16
    assert product() is taeda.float32


def test_other_threads_do_not_cast():
    seen = []
    with autocast("cpu"):
        thread = threading.Thread(target=lambda: seen.append(product()))
        thread.start()
        thread.join()
    assert seen == [taeda.float32]


def test_state_functions():
    assert taeda.is_autocast_cpu_enabled() is False and taeda.is_autocast_enabled() is False
    taeda.set_autocast_enabled("cpu", True)
    taeda.set_autocast_dtype("cpu", taeda.float16)
    try:
        assert product() is taeda.float16 and taeda.is_autocast_cpu_enabled()
    finally:
        taeda.set_autocast_cpu_enabled(False)
        taeda.set_autocast_cpu_dtype(taeda.bfloat16)
    assert taeda.get_autocast_cpu_dtype() is taeda.bfloat16
    assert taeda.get_autocast_gpu_dtype() is taeda.float16
    assert amp.is_autocast_available("cpu")


# ---- weights are cast once ----


def casts(run):
    from taeda.utils.op_trace import trace_ops

    with trace_ops() as trace:
        run()
    return sum(call.op.startswith(("_to_copy", "to", "copy_", "_copy")) for call in trace.calls)


def times(count, region, x, w):
    def run():
        with region:
            for _ in range(count):
                x @ w

    return casts(run)


def test_weights_are_cast_once_a_region():
    x, w = taeda.rand(2, 2).bfloat16(), weight(2, 2)
    once = times(1, autocast("cpu"), x, w)
    assert once > 0 and times(5, autocast("cpu"), x, w) == once
    assert times(5, autocast("cpu", cache_enabled=False), x, w) == 5 * once
    assert times(5, autocast("cpu"), x, w.detach()) == 5 * once
    assert taeda.is_autocast_cache_enabled()


def test_an_inner_region_keeps_what_was_cast_and_the_outermost_lets_go():
    from taeda._layers import autocast as layer

    w = weight(2, 2)
    with autocast("cpu"):
        w @ w
        with autocast("cpu", enabled=False):
            pass
        assert len(layer._here.cache) == 1
    assert not layer._here.cache


def test_a_weight_that_was_written_is_cast_again():
    w = taeda.ones(1, 1, requires_grad=True)
    with autocast("cpu"):
        assert (w @ w).item() == 1
        with taeda.no_grad():
            w.mul_(3)
        assert (w @ w).item() == 9


def test_casts_without_a_graph_do_not_cut_it_off_later():
    w = taeda.ones(1, 1, requires_grad=True)
    with autocast("cpu"):
        with taeda.no_grad():
            w @ w
        (w @ w).float().sum().backward()
    assert w.grad.item() == 2


def test_gradients_have_the_type_of_the_weights():
    x, w, b = taeda.rand(5, 3), weight(4, 3), weight(4)
    with autocast("cpu"):
        y = taeda.addmm(b, x, w.t())
        loss = (y.sin() ** 2).float().mean()
    loss.backward()
    got = w.grad, b.grad
    w.grad = b.grad = None
    (taeda.addmm(b, x, w.t()).sin() ** 2).mean().backward()
    for low, exact in zip(got, (w.grad, b.grad), strict=True):
        assert low.dtype is taeda.float32
        assert taeda.allclose(low, exact, atol=0.02)


# ---- with others ----


def test_checkpoints_cast_as_the_first_time():
    x, w = taeda.rand(3, 3), weight(3, 3)
    grads = []
    for reentrant in (None, False, True):
        with autocast("cpu"):
            f = lambda w: ((x @ w).sin() @ w).float().sum()  # noqa: E731 - a name for a line
            loss = f(w) if reentrant is None else checkpoint(f, w, use_reentrant=reentrant)
        loss.backward()
        grads.append(w.grad)
        w.grad = None
    assert taeda.equal(grads[0], grads[1]) and taeda.equal(grads[0], grads[2])


def test_subclasses_are_asked_first():
    seen = []

    class Sees(Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            seen.append(func)
            return super().__torch_function__(func, types, args, kwargs or {})

    x = taeda.rand(2, 2).as_subclass(Sees)
    with autocast("cpu"):
        y = taeda.mm(x, x)
    assert type(y) is Sees and seen == [taeda.mm]
    assert y.as_subclass(Tensor).dtype is taeda.bfloat16


# ---- custom functions ----


def doubled(fwd, bwd, seen):
    class Doubled(taeda.autograd.Function):
        @staticmethod
        @fwd
        def forward(ctx, x, scale=2):
            seen.append(("forward", x.dtype, product()))
            return x * scale

        @staticmethod
        @bwd
        def backward(ctx, grad):
            seen.append(("backward", product()))
            return grad * 2, None

    return Doubled.apply


def test_custom_functions_keep_the_state_of_forward():
    seen = []
    apply = doubled(amp.custom_fwd(device_type="cpu"), amp.custom_bwd(device_type="cpu"), seen)
    x = weight(2)
    with autocast("cpu", dtype=taeda.float16):
        y = apply(x)
    y.sum().backward()
    assert seen == [("forward", taeda.float32, taeda.float16), ("backward", taeda.float16)]


def test_custom_functions_may_cast_their_inputs():
    seen = []
    fwd = amp.custom_fwd(device_type="cpu", cast_inputs=taeda.float32)
    apply = doubled(fwd, amp.custom_bwd(device_type="cpu"), seen)
    half = weight(2).detach().bfloat16().requires_grad_()
    with autocast("cpu"):
        apply(half).sum().backward()
    assert seen == [("forward", taeda.float32, taeda.float32), ("backward", taeda.float32)]
    del seen[:]
    apply(half).sum().backward()
    assert seen == [("forward", taeda.bfloat16, taeda.float32), ("backward", taeda.float32)]


def test_devices_of_which_there_are_none():
    """Programs ask of every kind they know, and may switch it off."""
    assert not amp.is_autocast_available("xpu")
    assert not taeda.is_autocast_enabled("mps")
    assert taeda.get_autocast_dtype("hpu") == taeda.bfloat16
    taeda.set_autocast_enabled("mps", False)
    with autocast("mps", enabled=False), autocast("cpu"):
        assert not taeda.is_autocast_enabled("mps")
    with pytest.warns(UserWarning, match="not available"):
        region = autocast("xpu", dtype=taeda.bfloat16)
    with region:
        assert taeda.get_autocast_dtype("xpu") == taeda.bfloat16
        assert (weight(2) @ weight(2)).dtype == taeda.float32
    assert taeda.get_autocast_dtype("xpu") == taeda.float16


# ---- refusals ----

REFUSED = {
    "device": (lambda: autocast("fpga"), RuntimeError, "unsupported autocast device_type 'fpga'"),
    "on": (lambda: taeda.set_autocast_enabled("mps", True), RuntimeError, "no autocast on 'mps'"),
    "kind": (lambda: autocast(3), ValueError, "of type `str`, got: `int`"),
    "custom": (lambda: amp.custom_fwd(device_type=None), ValueError, "got: `NoneType`"),
    "custom backward": (lambda: amp.custom_bwd(device_type=1), ValueError, "got: `int`"),
    "dtype": (lambda: taeda.set_autocast_dtype("cpu", "half"), TypeError, "wanted a dtype, got str"),
}  # fmt: skip


@pytest.mark.parametrize(("call", "error", "fact"), REFUSED.values(), ids=REFUSED)
def test_refused(call, error, fact):
    with pytest.raises(error, match=fact):
        call()


@pytest.mark.parametrize(
    ("words", "fact"),
    [
        ({"device_type": "cpu", "dtype": taeda.float32}, "float32 is not supported"),
        ({"device_type": "cuda"}, "'cuda', but it is not available"),
        ({"device_type": "mps"}, "'mps', but it is not available"),
    ],
)
def test_what_is_not_there_warns_and_is_off(words, fact):
    with pytest.warns(UserWarning, match=fact) as seen:
        region = autocast(**words)
    assert seen[0].filename == __file__
    with region:
        assert product() is taeda.float32


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
@pytest.mark.parametrize("given", [taeda.bfloat16, taeda.float32])
def test_recurrent_layers_take_what_other_layers_give(kind, given):
    nn = pytest.importorskip("taeda.nn")
    layer = getattr(nn, kind)(3, 4, num_layers=2, bidirectional=True)
    x = taeda.randn(5, 2, 3).to(given)
    plain = layer(x.float())[0]
    with taeda.autocast("cpu", dtype=taeda.bfloat16):
        result = layer(x)[0]
        packed = nn.utils.rnn.pack_padded_sequence(x, taeda.tensor([5, 3]))
        layer(packed)
    assert result.dtype is (given if kind == "GRU" else taeda.bfloat16)
    assert (result.float() - plain).abs().max() < 0.02
    result.float().sum().backward()
    assert layer.weight_ih_l0.grad.dtype is taeda.float32


def test_result_types_of_norms():
    nn = pytest.importorskip("taeda.nn")
    rows, images = taeda.ones(2, 4, 8), taeda.ones(2, 4, 8, 8)
    with taeda.autocast("cpu", dtype=taeda.bfloat16):
        assert nn.RMSNorm(8)(rows.bfloat16()).dtype is taeda.bfloat16
        assert nn.LocalResponseNorm(2)(rows.bfloat16()).dtype is taeda.bfloat16
        assert nn.LocalResponseNorm(2)(images.bfloat16()).dtype is taeda.float32
        assert nn.LPPool2d(2, 2)(images.bfloat16()).dtype is taeda.bfloat16


class Reflected:
    """Answers for operators of tensors, which do not know it."""

    def __radd__(self, other):
        return "reflected"


def test_operators_leave_what_they_do_not_know_to_the_other_type():
    x = taeda.ones(2)
    for around in (autocast("cpu", dtype=taeda.bfloat16), autocast("cpu", enabled=False)):
        with around:
            assert (x == None) is False  # noqa: E711 - the operator is what is asked
            assert (x != "a") is True and x not in [(), None]
            assert x + Reflected() == "reflected"
            with pytest.raises(TypeError, match="unsupported operand"):
                x - Reflected()
