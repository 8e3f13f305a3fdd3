"""Timing products of matrices against each other, which taeda leaves to cuBLASLt.

Switches answer that they are off; switching one on, and what would read or write timings, raises
NotImplementedError.
"""

from __future__ import annotations

from ._refused import refused

__all__ = [
    "enable",
    "get_filename",
    "get_max_tuning_duration",
    "get_max_tuning_iterations",
    "get_results",
    "get_rotating_buffer_size",
    "get_validators",
    "is_enabled",
    "mgpu_tune_gemm_in_file",
    "read_file",
    "record_untuned_enable",
    "record_untuned_is_enabled",
    "set_filename",
    "set_max_tuning_duration",
    "set_max_tuning_iterations",
    "set_numerical_check_tolerances",
    "set_rotating_buffer_size",
    "tune_gemm_in_file",
    "tuning_enable",
    "tuning_is_enabled",
    "write_file",
    "write_file_on_exit",
]

_WAY = (
    "Products of matrices are not timed against each other: cuBLASLt chooses, and its choice is kept for "
    "each kind of product. Leave the call out."
)


def is_enabled() -> bool:
    """False: products are never timed.

    >>> taeda.cuda.tunable.is_enabled()
    False
    """
    return False


def tuning_is_enabled() -> bool:
    """False: products are never timed.

    >>> taeda.cuda.tunable.tuning_is_enabled()
    False
    """
    return False


def record_untuned_is_enabled() -> bool:
    """False: products are never recorded for timing.

    >>> taeda.cuda.tunable.record_untuned_is_enabled()
    False
    """
    return False


def enable(val: bool = True) -> None:
    """Off is what it is anyway.

    Args:
        val: False. NotImplementedError if True.

    >>> taeda.cuda.tunable.enable(False)
    """
    if val:
        refused(f"{__name__}.enable", _WAY)()


def tuning_enable(val: bool = True) -> None:
    """Off is what it is anyway.

    Args:
        val: False. NotImplementedError if True.

    >>> taeda.cuda.tunable.tuning_enable(False)
    """
    if val:
        refused(f"{__name__}.tuning_enable", _WAY)()


def record_untuned_enable(val: bool = True) -> None:
    """Off is what it is anyway.

    Args:
        val: False. NotImplementedError if True.

    >>> taeda.cuda.tunable.record_untuned_enable(False)
    """
    if val:
        refused(f"{__name__}.record_untuned_enable", _WAY)()


get_filename = refused(f"{__name__}.get_filename", _WAY)
get_max_tuning_duration = refused(f"{__name__}.get_max_tuning_duration", _WAY)
get_max_tuning_iterations = refused(f"{__name__}.get_max_tuning_iterations", _WAY)
get_results = refused(f"{__name__}.get_results", _WAY)
get_rotating_buffer_size = refused(f"{__name__}.get_rotating_buffer_size", _WAY)
get_validators = refused(f"{__name__}.get_validators", _WAY)
mgpu_tune_gemm_in_file = refused(f"{__name__}.mgpu_tune_gemm_in_file", _WAY)
read_file = refused(f"{__name__}.read_file", _WAY)
set_filename = refused(f"{__name__}.set_filename", _WAY)
set_max_tuning_duration = refused(f"{__name__}.set_max_tuning_duration", _WAY)
set_max_tuning_iterations = refused(f"{__name__}.set_max_tuning_iterations", _WAY)
set_numerical_check_tolerances = refused(f"{__name__}.set_numerical_check_tolerances", _WAY)
set_rotating_buffer_size = refused(f"{__name__}.set_rotating_buffer_size", _WAY)
tune_gemm_in_file = refused(f"{__name__}.tune_gemm_in_file", _WAY)
write_file = refused(f"{__name__}.write_file", _WAY)
write_file_on_exit = refused(f"{__name__}.write_file_on_exit", _WAY)
