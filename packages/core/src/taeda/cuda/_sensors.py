"""What NVIDIA's management library tells of devices: load, temperature, power, processes. It needs
the package nvidia-ml-py, of the extras `taeda-core[cuda12]` and `taeda-core[cuda13]`.
"""

from __future__ import annotations

import importlib
from typing import Any

from ._devices import get_device_properties

__all__ = [
    "clock_rate",
    "device_memory_used",
    "list_gpu_processes",
    "memory_usage",
    "power_draw",
    "temperature",
    "utilization",
]

_TO_SENSOR, _CLOCK_OF_MULTIPROCESSORS = 0, 1


def _library() -> Any:
    """pynvml, started. ModuleNotFoundError says which package has it."""
    try:
        library = importlib.import_module("pynvml")
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "sensors of CUDA devices need the package nvidia-ml-py: "
            "pip install nvidia-ml-py, or taeda-core[cuda12], or taeda-core[cuda13]"
        ) from error
    try:
        library.nvmlInit()
    except library.NVMLError as error:
        raise RuntimeError(
            f"NVIDIA's management library does not start: {error}; it comes with the driver"
        ) from error
    return library


def _ask(question: str, device: Any, *words: Any) -> Any:
    """The library's answer for a device, found by its UUID: `CUDA_VISIBLE_DEVICES` renumbers."""
    library = _library()
    facts = get_device_properties(device)
    try:
        handle = library.nvmlDeviceGetHandleByUUID(f"GPU-{facts.uuid}")
        return getattr(library, question)(handle, *words)
    except library.NVMLError as error:
        raise RuntimeError(
            f"{question} of {facts.name} ({facts.uuid}) is not answered: {error}"
        ) from error


def utilization(device: Any = None) -> int:
    """Percent of the last sample period in which a kernel ran.
    ModuleNotFoundError without nvidia-ml-py; RuntimeError where the device does not tell.

    Args:
        device: a device or its number; None is the current one.

    >>> from importlib.util import find_spec
    >>> if taeda.cuda.is_available() and find_spec("pynvml"):
    ...     assert 0 <= taeda.cuda.utilization() <= 100
    """
    return int(_ask("nvmlDeviceGetUtilizationRates", device).gpu)


def memory_usage(device: Any = None) -> int:
    """Percent of the last sample period in which memory was read or written.

    Args:
        device: a device or its number; None is the current one.

    >>> from importlib.util import find_spec
    >>> if taeda.cuda.is_available() and find_spec("pynvml"):
    ...     assert 0 <= taeda.cuda.memory_usage() <= 100
    """
    return int(_ask("nvmlDeviceGetUtilizationRates", device).memory)


def device_memory_used(device: Any = None) -> int:
    """Bytes of a device that all processes use.

    Args:
        device: a device or its number; None is the current one.

    >>> from importlib.util import find_spec
    >>> if taeda.cuda.is_available() and find_spec("pynvml"):
    ...     assert taeda.cuda.device_memory_used() > 0
    """
    return int(_ask("nvmlDeviceGetMemoryInfo", device).used)


def temperature(device: Any = None) -> int:
    """Degrees Celsius of the processor.

    Args:
        device: a device or its number; None is the current one.

    >>> from importlib.util import find_spec
    >>> if taeda.cuda.is_available() and find_spec("pynvml"):
    ...     degrees = taeda.cuda.temperature()
    """
    return int(_ask("nvmlDeviceGetTemperature", device, _TO_SENSOR))


def power_draw(device: Any = None) -> int:
    """Milliwatts.

    Args:
        device: a device or its number; None is the current one.

    >>> from importlib.util import find_spec
    >>> if taeda.cuda.is_available() and find_spec("pynvml"):
    ...     watts = taeda.cuda.power_draw() / 1000
    """
    return int(_ask("nvmlDeviceGetPowerUsage", device))


def clock_rate(device: Any = None) -> int:
    """Megahertz of the multiprocessors.

    Args:
        device: a device or its number; None is the current one.

    >>> from importlib.util import find_spec
    >>> if taeda.cuda.is_available() and find_spec("pynvml"):
    ...     megahertz = taeda.cuda.clock_rate()
    """
    return int(_ask("nvmlDeviceGetClockInfo", device, _CLOCK_OF_MULTIPROCESSORS))


def list_gpu_processes(device: Any = None) -> str:
    """Lines of the processes that use a device, with their memory.

    Args:
        device: a device or its number; None is the current one.

    >>> from importlib.util import find_spec
    >>> if taeda.cuda.is_available() and find_spec("pynvml"):
    ...     assert taeda.cuda.list_gpu_processes().startswith("GPU:")
    """
    found = _ask("nvmlDeviceGetComputeRunningProcesses", device)
    lines = [f"GPU:{get_device_properties(device).name}"]
    for one in found:
        used = (
            "memory unknown" if one.usedGpuMemory is None else f"{one.usedGpuMemory / 2**20:.3f} MB"
        )
        lines.append(f"process {one.pid:>10d} uses {used} GPU memory")
    return "\n".join(lines if found else [*lines, "no processes are running"])
