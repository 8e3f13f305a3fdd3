"""Which devices there are, what they are, and which one is current in this thread."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from types import ModuleType
from typing import Any
from uuid import UUID

from taeda._native import core as _core

__all__ = [
    "can_device_access_peer",
    "cudart",
    "current_device",
    "device",
    "device_count",
    "device_of",
    "get_arch_list",
    "get_device_capability",
    "get_device_name",
    "get_device_properties",
    "get_gencode_flags",
    "get_sync_debug_mode",
    "init",
    "ipc_collect",
    "is_available",
    "is_bf16_supported",
    "is_initialized",
    "is_tf32_supported",
    "ordinal_of",
    "set_device",
    "set_sync_debug_mode",
    "synchronize",
]

# what the compiler of device text is asked for in the sessions, and their kin
_ARCHES = (80, 86, 89, 90, 100, 120)


def is_available() -> bool:
    """Can tensors live on a CUDA device? False without a driver or a device; never an exception.

    >>> device = "cuda" if taeda.cuda.is_available() else "cpu"
    >>> taeda.ones(2).to(device).sum().item()
    2.0
    """
    return device_count() > 0


def device_count() -> int:
    """How many devices the driver shows to this process, by `CUDA_VISIBLE_DEVICES`; 0 without a driver.

    >>> taeda.cuda.device_count() > 0 or not taeda.cuda.is_available()
    True
    """
    return int(_core.cuda_count())


def is_initialized() -> bool:
    """Was a device used, so that `cuda` is a type of device of this process?

    >>> taeda.cuda.is_initialized() in (True, False)
    True
    """
    return bool(_core.cuda_started())


def cudart() -> ModuleType:
    """The functions of CUDA's runtime that programs call by name, among them `cudaProfilerStart`,
    `cudaMemGetInfo` and `cudaHostRegister`. `RuntimeError` without a driver or a device.

    >>> if taeda.cuda.is_available():
    ...     code = taeda.cuda.cudart().cudaProfilerStart()
    """
    init()
    return importlib.import_module("taeda.cuda._cudart")


def init() -> None:
    """Open the driver and the current device now. RuntimeError that says why where that cannot be.

    >>> if taeda.cuda.is_available():
    ...     taeda.cuda.init()  # now, and not within what is timed
    ...     assert taeda.cuda.is_initialized()
    """
    _core.cuda_start()


def ordinal_of(device: Any, otherwise: int | None = None) -> int:
    """The ordinal of a CUDA device given as ordinal, string, device, or None for the current one."""
    if device is None:
        return current_device() if otherwise is None else otherwise
    if isinstance(device, int):
        index = device
    else:
        found = _core.device(device)
        if found.type != "cuda":
            raise ValueError(f"Expected a cuda device, but got: {found}")
        index = current_device() if found.index is None else found.index
    init()
    if not 0 <= index < device_count():
        raise RuntimeError(
            f"there are {device_count()} CUDA devices, with ordinals from 0; got {index}"
        )
    return index


def current_device() -> int:
    """The ordinal of this thread's current device: where `device="cuda"` is.

    >>> if taeda.cuda.is_available():
    ...     taeda.cuda.set_device(0)
    ...     assert taeda.cuda.current_device() == 0
    """
    init()
    return int(_core.cuda_current())


def set_device(device: Any) -> None:
    """Make a device current in this thread. A negative ordinal changes nothing.

    Args:
        device: a device or its number; a negative one changes nothing.

    >>> taeda.cuda.set_device(-1)  # changes nothing
    >>> if taeda.cuda.is_available():
    ...     taeda.cuda.set_device(0)
    ...     assert taeda.ones(2, device="cuda").device.index == 0
    """
    if isinstance(device, int) and device < 0:
        return
    _core.cuda_set_current(ordinal_of(device))


class device:
    """`with taeda.cuda.device(1):` the current device of this thread is another one.
    None and negative ordinals change nothing.

    Args:
        device: a device or its number; None and negative numbers change nothing.

    >>> with taeda.cuda.device(None):  # changes nothing
    ...     x = taeda.ones(2)
    >>> if taeda.cuda.is_available():
    ...     with taeda.cuda.device(taeda.cuda.device_count() - 1):
    ...         x = x.to("cuda")  # on the last device
    """

    def __init__(self, device: Any) -> None:
        none = device is None or (isinstance(device, int) and device < 0)
        self.idx = -1 if none else ordinal_of(device)
        self.prev_idx = -1

    def __enter__(self) -> device:
        if self.idx >= 0:
            self.prev_idx = current_device()
            set_device(self.idx)
        return self

    def __exit__(self, *error: object) -> None:
        set_device(self.prev_idx)


class device_of(device):
    """`with taeda.cuda.device_of(x):` the current device is that of the tensor `x`; of another
    tensor nothing changes.

    Args:
        obj: a tensor of any device.

    >>> x = taeda.ones(2)
    >>> with taeda.cuda.device_of(x):  # new tensors of "cuda" would lie beside `x`
    ...     (x + x).tolist()
    [2.0, 2.0]
    """

    def __init__(self, obj: Any) -> None:
        super().__init__(obj.device.index if obj.device.type == "cuda" else -1)


def synchronize(device: Any = None) -> None:
    """Wait for all work on a device. A fault of earlier work is raised here.

    Args:
        device: a device or its number; None is the current one.

    >>> if taeda.cuda.is_available():
    ...     y = taeda.ones(8, 8, device="cuda").exp()
    ...     taeda.cuda.synchronize()  # `y` is computed
    """
    _core.cuda_synchronize(ordinal_of(device))


def ipc_collect() -> None:
    """Let go of memory that was sent to other processes and that they have released. The next send
    does it, too, and an allocation that finds no memory.

    >>> if taeda.cuda.is_available():
    ...     taeda.cuda.ipc_collect()
    """
    _core.cuda_ipc_collect()


# ---- what they are ----


@dataclass(frozen=True)
class DeviceProperties:
    """What the driver tells of a device."""

    name: str
    total_memory: int
    major: int
    minor: int
    multi_processor_count: int
    warp_size: int
    max_threads_per_block: int
    max_threads_per_multi_processor: int
    uuid: UUID
    pci_domain_id: int
    pci_bus_id: int
    pci_device_id: int
    L2_cache_size: int
    shared_memory_per_block: int
    shared_memory_per_block_optin: int
    shared_memory_per_multiprocessor: int
    regs_per_multiprocessor: int
    is_integrated: bool
    is_multi_gpu_board: bool


#: numbers that the driver has for the last fields
_ATTRIBUTES = (38, 8, 97, 81, 82, 18, 84)


def get_device_properties(device: Any = None) -> DeviceProperties:
    """Name, memory, compute capability, sizes and addresses of a device.

    Args:
        device: a device or its number; None is the current one.

    >>> if taeda.cuda.is_available():
    ...     facts = taeda.cuda.get_device_properties(0)
    ...     assert facts.name and facts.total_memory > 0
    """
    index = ordinal_of(device)
    uuid, bus = _core.cuda_names(index)
    domain, number, slot = bus.split(".")[0].split(":")
    *sizes, integrated, board = (_core.cuda_attribute(index, k) for k in _ATTRIBUTES)
    place = [int(domain, 16), int(number, 16), int(slot, 16)]
    facts = [*_core.cuda_facts(index), UUID(bytes=uuid), *place, *sizes]
    return DeviceProperties(*facts, *map(bool, (integrated, board)))


def can_device_access_peer(device: Any, peer_device: Any) -> bool:
    """Can a device read another's memory? Copies between two work either way. RuntimeError for an
    ordinal that is not there.

    Args:
        device: the one that reads, or its number.
        peer_device: the one whose memory is read, or its number.

    >>> if taeda.cuda.device_count() > 1:
    ...     direct = taeda.cuda.can_device_access_peer(0, 1)
    """
    here, there = ordinal_of(device), ordinal_of(peer_device)
    return bool(_core.cuda_can_reach(here, there))


# ---- waits ----

_MODES = ("default", "warn", "error")


def set_sync_debug_mode(debug_mode: int | str) -> None:
    """What an operation does that waits for the device: nothing ("default", 0), "warn" (1) or raise
    ("error", 2).

    Calls that ask for the wait, such as `synchronize`, stay free.

    Args:
        debug_mode: "default", "warn" or "error", or its number 0 to 2; ValueError for another.

    >>> if taeda.cuda.is_available():
    ...     taeda.cuda.set_sync_debug_mode("warn")
    ...     assert taeda.cuda.get_sync_debug_mode() == 1
    ...     taeda.cuda.set_sync_debug_mode("default")
    """
    if isinstance(debug_mode, str):
        if debug_mode not in _MODES:
            raise RuntimeError(
                f"invalid value of debug_mode, expected one of `default`, `warn`, `error`, got {debug_mode!r}"
            )
        debug_mode = _MODES.index(debug_mode)
    if debug_mode not in (0, 1, 2):
        raise RuntimeError(f"debug_mode is 0, 1 or 2, got {debug_mode!r}")
    _core.cuda_sync_mode(debug_mode)


def get_sync_debug_mode() -> int:
    """0, 1 or 2, as `set_sync_debug_mode` takes them.

    >>> taeda.cuda.get_sync_debug_mode()
    0
    """
    return int(_core.cuda_sync_mode(-1))


def get_device_name(device: Any = None) -> str:
    """The name that the maker gave a device.

    Args:
        device: a device or its number; None is the current one.

    >>> if taeda.cuda.is_available():
    ...     assert taeda.cuda.get_device_name() == taeda.cuda.get_device_properties().name
    """
    return get_device_properties(device).name


def get_device_capability(device: Any = None) -> tuple[int, int]:
    """Compute capability, as (9, 0).

    Args:
        device: a device or its number; None is the current one.

    >>> if taeda.cuda.is_available():
    ...     major, minor = taeda.cuda.get_device_capability()
    ...     assert (major, minor) >= (3, 0)
    """
    found = get_device_properties(device)
    return found.major, found.minor


def get_arch_list() -> list[str]:
    """Architectures that kernels are compiled for when first used, as "sm_90"; empty without a device.

    >>> bool(taeda.cuda.get_arch_list()) == taeda.cuda.is_available()
    True
    """
    return [f"sm_{arch}" for arch in _ARCHES] if is_available() else []


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Does the current device compute in bfloat16?
    Kernels convert to float32 where it does not. False without a device.

    Args:
        including_emulation: whether conversions to float32 count, too (True).

    >>> dtype = taeda.bfloat16 if taeda.cuda.is_bf16_supported() else taeda.float32
    """
    return is_available() and (including_emulation or get_device_capability()[0] >= 8)


def is_tf32_supported() -> bool:
    """Has the current device units for TensorFloat-32? False without a device. Products do not use
    them yet.

    >>> taeda.cuda.is_tf32_supported() <= taeda.cuda.is_available()
    True
    """
    return is_available() and get_device_capability()[0] >= 8


def get_gencode_flags() -> str:
    """The architectures of `get_arch_list` as options of nvcc; empty without a device.

    >>> taeda.cuda.get_gencode_flags().count("-gencode") == len(taeda.cuda.get_arch_list())
    True
    """
    archs = (name.removeprefix("sm_") for name in get_arch_list())
    return " ".join(f"-gencode compute=compute_{arch},code=sm_{arch}" for arch in archs)
