"""Settings of CUDA: those of products act on devices (tests/cuda/test_products.py), others are kept."""

import pytest

import taeda


def test_cuda_is_built_and_its_fused_attention_is_not():
    cuda = taeda.backends.cuda
    assert cuda.is_built()
    assert not cuda.is_flash_attention_available()
    assert not cuda.can_use_flash_attention(None)


def test_tf32_is_the_precision_of_products():
    matmul = taeda.backends.cuda.matmul
    try:
        assert not matmul.allow_tf32
        matmul.allow_tf32 = True
        assert taeda.get_float32_matmul_precision() == "high"
        taeda.set_float32_matmul_precision("highest")
        assert not matmul.allow_tf32
        taeda.set_float32_matmul_precision("medium")
        assert matmul.allow_tf32
    finally:
        matmul.allow_tf32 = False


def test_flags_of_products_take_bools():
    matmul = taeda.backends.cuda.matmul
    flags = ("allow_fp16_reduced_precision_reduction", "allow_bf16_reduced_precision_reduction")
    for name in (*flags, "allow_fp16_accumulation"):
        before = getattr(matmul, name)
        setattr(matmul, name, not before)
        assert getattr(matmul, name) is not before
        setattr(matmul, name, before)
        with pytest.raises(RuntimeError, match="expected a bool, but got int"):
            setattr(matmul, name, 1)
    with pytest.raises(AttributeError):
        matmul.allow_tf23 = True


def test_settings_without_a_reader_are_kept():
    backends = taeda.backends
    with backends.cuda.sdp_kernel(enable_flash=False):
        assert not backends.cuda.flash_sdp_enabled()
    assert backends.cuda.flash_sdp_enabled()
    assert backends.cuda.preferred_linalg_library("magma") == "magma"
    assert backends.cuda.preferred_linalg_library("default") == "default"
    with pytest.raises(RuntimeError, match="Choose from"):
        backends.cuda.preferred_blas_library("fast")
    with backends.nnpack.flags(enabled=False):
        assert backends.nnpack.set_flags(True) == (False,)
    assert backends.nnpack.set_flags(True) == (True,)
    backends.mha.set_fastpath_enabled(False)
    assert not backends.mha.get_fastpath_enabled()
    backends.mha.set_fastpath_enabled(True)
