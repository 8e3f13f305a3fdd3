"""The interface that `taeda.autograd.profiler` offers."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from ._collect import record_function
from ._events import EventList, FunctionEvent, FunctionEventAvg
from ._nvprof import load_nvprof, parse_nvprof_trace
from ._profile import _KinetoProfile, refuse_unknown
from ._settings import ProfilerActivity

__all__ = [
    "EnforceUnique",
    "EventList",
    "FunctionEvent",
    "KinetoStepTracker",
    "emit_itt",
    "emit_nvtx",
    "load_nvprof",
    "parse_nvprof_trace",
    "profile",
    "record_function",
]


class profile:
    """Records what this thread runs within its block; `taeda.profiler.profile` says what the arguments mean.

    Args:
        record_shapes: whether the shapes of arguments are kept (default: False)
        with_flops: whether floating-point operations are estimated (default: False)
        profile_memory: whether bytes taken and given back are kept (default: False)
        with_stack: whether lines of Python are kept (default: False)
        with_modules: whether the names of layers are kept (default: False)

    >>> import taeda
    >>> with profile() as prof:
    ...     _ = taeda.ones(3).exp()
    >>> [event.name for event in prof.function_events]
    ['aten::ones', 'aten::exp']
    """

    def __init__(
        self,
        enabled: bool = True,
        *,
        use_cuda: bool = False,
        use_device: str | None = None,
        record_shapes: bool = False,
        with_flops: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_modules: bool = False,
        use_kineto: bool = False,
        use_cpu: bool = True,
        experimental_config: Any = None,
        acc_events: bool = False,
        custom_trace_id_callback: Any = None,
    ) -> None:
        refuse_unknown("profile", use_device=use_device, experimental_config=experimental_config)
        wanted = [ProfilerActivity.CPU] * use_cpu + [ProfilerActivity.CUDA] * use_cuda
        self.enabled = enabled
        self._profile = _KinetoProfile(
            activities=wanted,
            record_shapes=record_shapes,
            profile_memory=profile_memory,
            with_stack=with_stack,
            with_flops=with_flops,
            with_modules=with_modules,
            acc_events=acc_events,
            custom_trace_id_callback=custom_trace_id_callback,
        )

    def __enter__(self) -> Self:
        if self.enabled:
            self._profile.start()
        return self

    def __exit__(self, *raised: object) -> None:
        if self.enabled:
            self._profile.stop()

    @property
    def function_events(self) -> EventList | None:
        """The events, once the block has ended."""
        return self._profile._found() if self._profile._recordings else None

    @property
    def self_cpu_time_total(self) -> float:
        """Microseconds of all events, each counted once."""
        return self._profile.events().self_cpu_time_total

    def key_averages(
        self,
        group_by_input_shape: bool = False,
        group_by_stack_n: int = 0,
        group_by_overload_name: bool = False,
    ) -> EventList:
        """Sums by name, as `taeda.profiler.profile.key_averages`."""
        return self._profile.key_averages(
            group_by_input_shape, group_by_stack_n, group_by_overload_name
        )

    def total_average(self) -> FunctionEventAvg:
        """The sum of all events."""
        return self._profile.total_average()

    def table(self, *args: Any, **kwargs: Any) -> str:
        """The events as a table, as `EventList.table`."""
        return self._profile.events().table(*args, **kwargs)

    def export_chrome_trace(self, path: str) -> None:
        """Write the events to a file that chrome://tracing and Perfetto read."""
        self._profile.export_chrome_trace(path)

    def export_stacks(self, path: str, metric: str = "self_cpu_time_total") -> None:
        """Write the stacks with their microseconds, for a flame graph."""
        self._profile.export_stacks(path, metric)

    def __str__(self) -> str:
        return "<unfinished profile>" if self.function_events is None else str(self.function_events)

    def __repr__(self) -> str:
        return str(self)


class _Emit:
    """Marks of operations for a profiler of a device: RuntimeError on entering, unless it is off."""

    tool: ClassVar[str]

    def __init__(self, enabled: bool = True, record_shapes: bool = False) -> None:
        self.enabled, self.record_shapes = enabled, record_shapes

    def __enter__(self) -> Self:
        if self.enabled:
            raise RuntimeError(
                f"{type(self).__name__}: {self.tool} functions not installed: this build of taeda "
                "emits no such marks. "
                "Record with taeda.profiler.profile, or pass enabled=False"
            )
        return self

    def __exit__(self, *raised: object) -> None: ...


class emit_nvtx(_Emit):
    """NVTX marks of operations: this build emits none, and raises RuntimeError on entering unless
    `enabled` is False.

    >>> with emit_nvtx(enabled=False):
    ...     taeda.ones(2).sum().item()
    2.0
    """

    tool = "NVTX"


class emit_itt(_Emit):
    """ITT marks of operations: this build emits none, and raises RuntimeError on entering unless
    `enabled` is False.

    >>> with emit_itt(enabled=False):
    ...     taeda.ones(2).sum().item()
    2.0
    """

    tool = "ITT"


class EnforceUnique:
    """Refuses a key that came before.

    >>> names = EnforceUnique()
    >>> names.see("aten::add")
    >>> names.see("aten::add")
    Traceback (most recent call last):
    RuntimeError: EnforceUnique: ('aten::add',) came before
    """

    def __init__(self) -> None:
        self.seen: set[Any] = set()

    def see(self, *key: Any) -> None:
        """RuntimeError if this key was seen."""
        if key in self.seen:
            raise RuntimeError(f"EnforceUnique: {key} came before")
        self.seen.add(key)


class KinetoStepTracker:
    """Counts steps for several who count, as optimizer and profiler: the step is that of who is furthest.

    >>> KinetoStepTracker.init_step_count("example")
    >>> KinetoStepTracker.increment_step("example") == KinetoStepTracker.current_step()
    True
    >>> KinetoStepTracker.erase_step_count("example")
    True
    """

    _current: ClassVar[int] = 0
    _steps: ClassVar[dict[str, int]] = {}

    @classmethod
    def init_step_count(cls, requester: str) -> None:
        """Somebody begins to count, from the current step."""
        cls._steps[requester] = cls._current

    @classmethod
    def erase_step_count(cls, requester: str) -> bool:
        """Somebody no longer counts; whether it did."""
        return cls._steps.pop(requester, None) is not None

    @classmethod
    def increment_step(cls, requester: str) -> int:
        """Somebody has made a step; the current one is returned."""
        cls._steps.setdefault(requester, cls._current)
        cls._steps[requester] += 1
        cls._current = max(cls._current, *cls._steps.values())
        return cls._current

    @classmethod
    def current_step(cls) -> int:
        """The step of who is furthest."""
        return cls._current
