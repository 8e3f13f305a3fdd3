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


ABSENT = ("xpu", "mtia", "mps")


@pytest.mark.parametrize("kind", ABSENT)
def test_what_needs_an_absent_device_says_what_to_do(kind):
    module = getattr(taeda, kind)
    with pytest.raises(RuntimeError, match=rf"taeda\.{kind}\.is_available\(\)"):
        module.synchronize()
    with pytest.raises(RuntimeError, match="needs a"):
        module.get_rng_state()
    module.manual_seed(1)
    module.empty_cache()
    assert module.device_count() == 0


def test_questions_about_absent_devices_have_answers():
    assert taeda.xpu.memory_allocated() == taeda.mps.current_allocated_memory() == 0
    assert (taeda.xpu.get_arch_list(), taeda.mtia.memory_stats()) == ([], {})
    with taeda.xpu.device(None), taeda.xpu.device_of(taeda.ones(1)), taeda.mtia.device(-1):
        pass
    with pytest.raises(RuntimeError, match="needs a xpu device"), taeda.xpu.device(0):
        pass


@pytest.mark.parametrize("kind", ["xpu", "mtia"])
def test_streams_of_absent_devices_refuse(kind):
    module = getattr(taeda, kind)
    refused = pytest.raises(RuntimeError, match=rf"needs a {kind} device")
    for call in (
        *(module.Stream, module.Event, module.current_stream, lambda: module.set_stream(None)),
        *(lambda: module.stream(1), lambda: module.StreamContext(1)),
    ):
        with refused:
            call()
    with module.stream(None):
        pass
    for name in ("query", "synchronize", "record_event"):
        with refused:
            getattr(module.Stream, name)(object.__new__(module.Stream))
    for name in ("wait_event", "wait_stream"):
        with refused:
            getattr(module.Stream, name)(object.__new__(module.Stream), None)
    for name in ("record", "query", "synchronize", "wait"):
        with refused:
            getattr(module.Event, name)(object.__new__(module.Event))
    with refused:
        module.Event.elapsed_time(object.__new__(module.Event), None)


def test_the_rest_of_absent_devices_refuses_or_answers():
    mps, mtia, xpu = taeda.mps, taeda.mtia, taeda.xpu
    assert mtia.memory.memory_stats() == {}
    assert not mps.profiler.is_capturing_metal() and not mps.profiler.is_metal_capture_enabled()
    for call in (
        *(mps.event.Event, mps.profiler.profile, mps.profiler.start, mps.profiler.stop),
        *(lambda: mps.profiler.metal_capture("x"), mtia.default_stream, mtia.snapshot),
        *(mtia.record_memory_history, lambda: xpu.get_stream_from_external(0)),
    ):
        with pytest.raises(RuntimeError, match="needs a"):
            call()


def test_the_accelerator_refuses_in_known_words():
    accelerator = taeda.accelerator
    for name in ("current_device_index", "synchronize", "empty_cache", "memory_allocated"):
        with pytest.raises(RuntimeError, match="Cannot access accelerator device"):
            getattr(accelerator, name)()
    with accelerator.device_index(None):
        pass
    with pytest.raises(RuntimeError, match="Cannot access"), accelerator.device_index(0):
        pass


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


@pytest.mark.parametrize("name", ["mkl", "mkldnn"])
def test_calls_that_are_never_made_are_not_promised_to_be_printed(name):
    module = getattr(taeda.backends, name)
    with module.verbose(module.VERBOSE_OFF):
        pass
    with pytest.raises(RuntimeError, match="not used"), module.verbose(module.VERBOSE_ON):
        pass
