"""Settings of CUDA are kept, and answers are those of a build without it."""

import pytest

import taeda


def test_cuda_is_not_built():
    cuda = taeda.backends.cuda
    assert not cuda.is_built()
    assert not cuda.is_flash_attention_available()
    assert not cuda.can_use_flash_attention(None)
    cuda.matmul.allow_tf32 = True
    assert cuda.matmul.allow_tf32
    cuda.matmul.allow_tf32 = False


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
