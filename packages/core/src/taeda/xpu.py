"""Intel GPUs: this build has none, and says so.

Questions have answers (no device, no memory); what needs a device raises RuntimeError.
"""

from __future__ import annotations

from typing import Any

from taeda._native import core as _core
from taeda._torch_names.absent_answers import (
    device_count,
    empty_cache,
    is_available,
    is_initialized,
    manual_seed,
    max_memory_allocated,
    memory_allocated,
    reset_peak_memory_stats,
)
from taeda._torch_names.absent_device import (
    AbsentDevice,
    AbsentEvent,
    AbsentStream,
    AbsentStreamContext,
    refuse,
)

__all__ = [
    "Event",
    "Stream",
    "StreamContext",
    "current_device",
    "current_stream",
    "device",
    "device_count",
    "device_of",
    "empty_cache",
    "get_arch_list",
    "get_device_capability",
    "get_device_name",
    "get_device_properties",
    "get_gencode_flags",
    "get_rng_state",
    "get_rng_state_all",
    "get_stream_from_external",
    "init",
    "initial_seed",
    "is_available",
    "is_initialized",
    "manual_seed",
    "manual_seed_all",
    "max_memory_allocated",
    "max_memory_reserved",
    "mem_get_info",
    "memory_allocated",
    "memory_reserved",
    "memory_stats",
    "memory_stats_as_nested_dict",
    "reset_accumulated_memory_stats",
    "reset_peak_memory_stats",
    "seed",
    "seed_all",
    "set_device",
    "set_rng_state",
    "set_rng_state_all",
    "set_stream",
    "stream",
    "synchronize",
]

Tensor = _core.Tensor


def init() -> None:
    """RuntimeError: there is nothing to initialise.

    >>> taeda.xpu.init()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    RuntimeError: taeda.xpu.init needs a xpu device...
    """
    refuse("xpu", "init")


def current_device() -> int:
    """RuntimeError: there is none.

    >>> taeda.xpu.current_device()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    RuntimeError: taeda.xpu.current_device needs a xpu device...
    """
    refuse("xpu", "current_device")


def set_device(device: Any) -> None:
    """RuntimeError: there is none.

    >>> taeda.xpu.set_device(0)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    RuntimeError: taeda.xpu.set_device needs a xpu device...
    """
    refuse("xpu", "set_device")


def synchronize(device: Any = None) -> None:
    """RuntimeError: there is nothing to wait for.

    >>> taeda.xpu.synchronize()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    RuntimeError: taeda.xpu.synchronize needs a xpu device...
    """
    refuse("xpu", "synchronize")


def get_device_capability(device: Any = None) -> Any:
    """RuntimeError: there is none.

    >>> taeda.xpu.get_device_capability()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    RuntimeError: taeda.xpu.get_device_capability needs a xpu device...
    """
    refuse("xpu", "get_device_capability")


def get_device_name(device: Any = None) -> str:
    """RuntimeError: there is none.

    >>> taeda.xpu.get_device_name()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    RuntimeError: taeda.xpu.get_device_name needs a xpu device...
    """
    refuse("xpu", "get_device_name")


def get_device_properties(device: Any = None) -> Any:
    """RuntimeError: there is none.

    >>> taeda.xpu.get_device_properties()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    RuntimeError: taeda.xpu.get_device_properties needs a xpu device...
    """
    refuse("xpu", "get_device_properties")


def mem_get_info(device: Any = None) -> tuple[int, int]:
    """RuntimeError: there is no memory to tell of.

    >>> taeda.xpu.mem_get_info()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    RuntimeError: taeda.xpu.mem_get_info needs a xpu device...
    """
    refuse("xpu", "mem_get_info")


def memory_stats_as_nested_dict(device: Any = None) -> dict[str, Any]:
    """An empty dict, as `memory_stats`.

    >>> taeda.xpu.memory_stats_as_nested_dict()
    {}
    """
    return {}


def get_arch_list() -> list[str]:
    """No architecture: an empty list.

    >>> taeda.xpu.get_arch_list()
    []
    """
    return []


def get_gencode_flags() -> str:
    """No flag.

    >>> taeda.xpu.get_gencode_flags()
    ''
    """
    return ""


def get_rng_state_all() -> list[Tensor]:
    """The state of each device's generator: an empty list.

    >>> taeda.xpu.get_rng_state_all()
    []
    """
    return []


def set_rng_state_all(new_states: list[Tensor]) -> None:
    """Nothing for an empty list; RuntimeError for states that no device takes.

    >>> taeda.xpu.set_rng_state_all(taeda.xpu.get_rng_state_all())  # a program for any number of devices
    """
    if len(new_states):
        refuse("xpu", "set_rng_state_all")


def manual_seed_all(seed: int) -> None:
    """Nothing, as `manual_seed`.

    >>> taeda.xpu.manual_seed_all(7)  # of no device
    """
    int(seed)


def seed() -> None:
    """Nothing, as `manual_seed`.

    >>> taeda.xpu.seed()  # of no device
    """


def seed_all() -> None:
    """Nothing, as `manual_seed`.

    >>> taeda.xpu.seed_all()  # of no device
    """


def initial_seed() -> int:
    """RuntimeError: no device has a generator.

    >>> taeda.xpu.initial_seed()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    RuntimeError: taeda.xpu.initial_seed needs a xpu device...
    """
    refuse("xpu", "initial_seed")


def get_rng_state(device: Any = "xpu") -> Tensor:
    """RuntimeError: no device has a generator.

    >>> taeda.xpu.get_rng_state()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    RuntimeError: taeda.xpu.get_rng_state needs a xpu device...
    """
    refuse("xpu", "get_rng_state")


def set_rng_state(new_state: Tensor, device: Any = "xpu") -> None:
    """RuntimeError: no device has a generator.

    >>> taeda.xpu.set_rng_state(taeda.get_rng_state())  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    RuntimeError: taeda.xpu.set_rng_state needs a xpu device...
    """
    refuse("xpu", "set_rng_state")


def memory_reserved(device: Any = None) -> int:
    """0 bytes.

    >>> taeda.xpu.memory_reserved()
    0
    """
    return 0


def max_memory_reserved(device: Any = None) -> int:
    """0 bytes.

    >>> taeda.xpu.max_memory_reserved()
    0
    """
    return 0


def memory_stats(device: Any = None) -> dict[str, Any]:
    """An empty dict: no allocator has begun.

    >>> taeda.xpu.memory_stats()
    {}
    """
    return {}


def reset_accumulated_memory_stats(device: Any = None) -> None:
    """Nothing: every count is 0.

    >>> taeda.xpu.reset_accumulated_memory_stats()
    >>> taeda.xpu.memory_stats()
    {}
    """


class device(AbsentDevice):
    """Within the block this device would be the current one.
    RuntimeError on entering with an index from 0 on.

    >>> with taeda.xpu.device(-1):  # of no device: nothing changes
    ...     taeda.ones(2).device
    device(type='cpu')
    """

    kind = "xpu"


class device_of(device):
    """`device` of a tensor; one on another kind of device changes nothing.

    >>> x = taeda.ones(2)
    >>> with taeda.xpu.device_of(x):  # `x` is on the CPU: nothing changes
    ...     (x + x).tolist()
    [2.0, 2.0]
    """

    def __init__(self, obj: Tensor) -> None:
        super().__init__(obj.device.index if obj.device.type == self.kind else -1)


# ---- streams: there are none ----


class Stream(AbsentStream):
    """RuntimeError: there is no device to work on.

    >>> taeda.xpu.Stream()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    RuntimeError: taeda.xpu.Stream needs a xpu device...
    """

    kind = "xpu"


class Event(AbsentEvent):
    """RuntimeError: there is no device whose work could be marked.

    >>> taeda.xpu.Event()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    RuntimeError: taeda.xpu.Event needs a xpu device...
    """

    kind = "xpu"


class StreamContext(AbsentStreamContext):
    """Within the block a stream would be the current one; None changes nothing, and there is no stream.

    >>> with taeda.xpu.StreamContext(None):
    ...     taeda.ones(2).sum().item()
    2.0
    """

    kind = "xpu"


def stream(stream: None) -> StreamContext:
    """`with taeda.xpu.stream(None):` changes nothing; RuntimeError for anything else.

    >>> with taeda.xpu.stream(None):
    ...     taeda.ones(2).sum().item()
    2.0
    """
    return StreamContext(stream)


def current_stream(device: Any = None) -> Stream:
    """RuntimeError: there is none.

    >>> taeda.xpu.current_stream()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    RuntimeError: taeda.xpu.current_stream needs a xpu device...
    """
    refuse("xpu", "current_stream")


def set_stream(stream: Any) -> None:
    """RuntimeError: there is no device to choose it for.

    >>> taeda.xpu.set_stream(None)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    RuntimeError: taeda.xpu.set_stream needs a xpu device...
    """
    refuse("xpu", "set_stream")


def get_stream_from_external(data_ptr: int, device: Any = None) -> Stream:
    """RuntimeError: there is no device that another library could use.

    >>> taeda.xpu.get_stream_from_external(0)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    RuntimeError: taeda.xpu.get_stream_from_external needs a xpu device...
    """
    refuse("xpu", "get_stream_from_external")
