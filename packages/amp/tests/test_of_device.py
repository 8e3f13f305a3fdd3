"""The older names, with the device in the module's name."""

from __future__ import annotations

import pytest

import taeda
import taeda.cpu.amp
import taeda.cuda.amp


def test_on_the_cpu_they_work():
    with pytest.warns(FutureWarning, match=r"taeda.cpu.amp.autocast is the older name") as seen:
        region = taeda.cpu.amp.autocast()
    assert seen[0].filename == __file__
    with region:
        assert (taeda.ones(1, 1) @ taeda.ones(1, 1)).dtype is taeda.bfloat16
    with pytest.warns(FutureWarning, match="GradScaler"):
        scaler = taeda.cpu.amp.GradScaler(4.0)
    assert scaler.get_scale() == 4 and isinstance(scaler, taeda.amp.GradScaler)
    assert repr(type(scaler)) == "<class 'taeda.cpu.amp.GradScaler'>"


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_without_cuda_they_warn_and_are_off():
    with pytest.warns(UserWarning, match="'cuda', but it is not available"):
        region = taeda.cuda.amp.autocast()
    with region:
        assert (taeda.ones(1, 1) @ taeda.ones(1, 1)).dtype is taeda.float32
    with pytest.warns(UserWarning, match="for 'cuda'"):
        assert not taeda.cuda.amp.GradScaler().is_enabled()


@pytest.mark.filterwarnings("error::UserWarning", "ignore::FutureWarning")
def test_switched_off_they_say_nothing_of_it():
    with taeda.cuda.amp.autocast(enabled=False):
        assert (taeda.ones(1, 1) @ taeda.ones(1, 1)).dtype is taeda.float32
    scaler = taeda.cuda.amp.GradScaler(enabled=False)
    assert scaler.scale(taeda.ones(1)).item() == 1


def test_custom_functions():
    with pytest.warns(FutureWarning):

        class Double(taeda.autograd.Function):
            @staticmethod
            @taeda.cuda.amp.custom_fwd(cast_inputs=taeda.float32)
            def forward(ctx, x):
                return x * 2

            @staticmethod
            @taeda.cuda.amp.custom_bwd
            def backward(ctx, gradient):
                return gradient * 2

    x = taeda.ones(1, requires_grad=True)
    Double.apply(x).backward()
    assert x.grad.item() == 2
