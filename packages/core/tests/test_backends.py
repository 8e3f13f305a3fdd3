"""What taeda says of libraries and devices that programs ask about, and that it does without."""

import pytest

import taeda

NAMES = ("mkl", "mkldnn", "nnpack", "openmp", "mps", "cudnn", "cusparselt", "opt_einsum")


@pytest.mark.parametrize("name", NAMES)
def test_other_libraries_are_not_used(name):
    assert getattr(taeda.backends, name).is_available() is False


def test_the_processor_names_the_instruction_set_of_the_kernels():
    assert taeda.backends.cpu.get_cpu_capability() in ("AVX512", "AVX2", "DEFAULT")


def test_settings_of_cudnn_are_kept_and_given_back():
    cudnn = taeda.backends.cudnn
    assert (cudnn.benchmark, cudnn.enabled) == (False, True)
    with cudnn.flags(enabled=True, benchmark=True, benchmark_limit=3):
        assert (cudnn.benchmark, cudnn.benchmark_limit) == (True, 3)
    assert (cudnn.benchmark, cudnn.benchmark_limit, cudnn.version()) == (False, 10, None)
    with pytest.raises(KeyError), cudnn.flags(deterministic=True):
        raise KeyError
    assert cudnn.deterministic is False


def test_cuda_is_not_built():
    cuda = taeda.backends.cuda
    assert not cuda.is_built()
    assert not cuda.is_flash_attention_available()
    assert not cuda.can_use_flash_attention(None)
    cuda.matmul.allow_tf32 = True
    assert cuda.matmul.allow_tf32
    cuda.matmul.allow_tf32 = False


@pytest.mark.parametrize("kind", ["cuda", "xpu", "mtia", "accelerator"])
def test_there_are_no_devices_of_other_kinds(kind):
    module = getattr(taeda, kind)
    assert (module.is_available(), module.device_count()) == (False, 0)


def test_calls_that_are_safe_without_a_device():
    taeda.cuda.manual_seed(1)
    taeda.cuda.manual_seed_all(1)
    taeda.cuda.empty_cache()
    assert taeda.cuda.memory_allocated() == taeda.cuda.max_memory_reserved() == 0
    assert taeda.cuda.get_rng_state_all() == []
    assert taeda.accelerator.current_accelerator() is None
    with pytest.raises(ValueError, match="invalid literal"):
        taeda.cuda.manual_seed("one")


def test_the_cpu_has_one_device_and_one_stream_at_a_time():
    cpu = taeda.cpu
    assert (cpu.is_available(), cpu.device_count(), cpu.current_device()) == (True, 1, "cpu")
    cpu.synchronize()
    before, mine = cpu.current_stream(), cpu.Stream()
    with cpu.stream(mine):
        assert cpu.current_stream() is mine
        with cpu.stream(None):
            assert cpu.current_stream() is mine
    assert cpu.current_stream() is before
