"""What taeda says of libraries and devices that programs ask about, and that it does without."""

import pytest

import taeda

NAMES = ("mkl", "mkldnn", "nnpack", "openmp", "mps", "cudnn", "cusparselt", "opt_einsum")


@pytest.mark.parametrize("name", NAMES)
def test_other_libraries_are_not_used(name):
    assert getattr(taeda.backends, name).is_available() is False


def test_the_processor_names_the_instruction_set_of_the_kernels():
    assert taeda.backends.cpu.get_cpu_capability() in ("AVX512", "AVX2", "DEFAULT")
