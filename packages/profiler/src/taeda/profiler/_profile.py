"""The context that records, over steps if it has a schedule."""

from __future__ import annotations

import json
import os
import sys
import time
import uuid
from collections.abc import Callable, Iterable
from typing import Any, Self

from taeda._core_api import warn
from taeda._core_api.files import atomic_write

from ._collect import Collector, record_function
from ._events import EventList, FunctionEventAvg
from ._page import page
from ._recording import Range, Recording
from ._report import report
from ._schedule import ProfilerAction, always
from ._settings import ProfilerActivity, Settings, chosen
from ._timeline import BlockLog, write_timeline
from ._trace import write_trace
from ._watch import Watch

__all__ = ["_KinetoProfile", "profile", "refuse_unknown"]

Action = ProfilerAction


def refuse_unknown(who: str, **arguments: Any) -> None:
    """NotImplementedError for an argument that would do nothing here."""
    for name, value in arguments.items():
        if value is not None:
            raise NotImplementedError(f"{who}: {name} has no effect in taeda; leave it out")


def _observer_of(given: Any) -> Any:
    """What has `start` and `stop`, or None; TypeError for something else."""
    if given is None or (
        callable(getattr(given, "start", None)) and callable(getattr(given, "stop", None))
    ):
        return given
    raise TypeError(
        f"profile: execution_trace_observer is {type(given).__name__}, and has to have start() and stop(), "
        "as taeda.profiler.ExecutionTraceObserver has"
    )


class _KinetoProfile:
    """Records between `start` and `stop` what this thread runs; `profile` is the context with steps
    around it.

    `record_shapes` notes the shapes of tensor arguments, `profile_memory` the bytes that were taken
    and given back, `with_stack` the places in the source, `with_flops` the arithmetic of products
    and convolutions by `taeda.utils.flop_counter`, `with_modules` which module was called.
    `with_advice` looks for what the program wastes while it runs, for `export_html`; that costs some
    20 microseconds an operation. Operations of other threads are not seen.
    """

    def __init__(
        self,
        *,
        activities: Iterable[ProfilerActivity] | None = None,
        record_shapes: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_flops: bool = False,
        with_modules: bool = False,
        with_advice: bool = False,
        experimental_config: Any = None,
        execution_trace_observer: Any = None,
        acc_events: bool = False,
        custom_trace_id_callback: Callable[[], str] | None = None,
    ) -> None:
        refuse_unknown("profile", experimental_config=experimental_config)
        self.execution_trace_observer = _observer_of(execution_trace_observer)
        self.activities = chosen(activities)
        self.settings = Settings(
            shapes=record_shapes,
            memory=profile_memory,
            stack=with_stack,
            flops=with_flops,
            modules=with_modules,
        )
        self.record_shapes, self.profile_memory, self.with_stack = (
            record_shapes,
            profile_memory,
            with_stack,
        )
        self.with_flops, self.with_modules, self.acc_events = with_flops, with_modules, acc_events
        self.custom_trace_id_callback = custom_trace_id_callback
        self._metadata: dict[str, Any] = {}
        self._preset: dict[str, Any] = {}
        self._collector: Collector | None = None
        self._origin: int | None = None
        self._recordings: list[Recording] = []
        self._events: EventList | None = None
        self._blocks: BlockLog | None = None
        self._trace_id = ""
        self.with_advice = with_advice
        self._watch: Watch | None = None

    # ---- begin and end ----

    def start(self) -> None:
        """Record from now on. RuntimeError if this thread is being profiled already."""
        self._start()

    def stop(self) -> None:
        """End the recording; `events` and the other questions have answers from now on."""
        self._stop()

    def _start(self) -> None:
        collector = Watch(settings=self.settings) if self.with_advice else Collector(self.settings)
        collector.start()
        self._collector = collector
        if not self.activities:
            collector.watch(False)
        self._trace_id = (
            self.custom_trace_id_callback() if self.custom_trace_id_callback else uuid.uuid4().hex
        )
        if self._origin is None:
            self._origin = collector.clock()
        self._metadata = dict(self._preset)
        if self.execution_trace_observer is not None:
            self.execution_trace_observer.start()

    def _stop(self) -> None:
        collector, self._collector = self._collector, None
        if collector is None:
            return
        if self.execution_trace_observer is not None:
            self.execution_trace_observer.stop()
        collector.stop()
        self._blocks = collector.blocks
        self._watch = collector if isinstance(collector, Watch) else None
        before = self._recordings if self.acc_events else []
        self._recordings, self._events = [*before, collector.recording()], None

    def toggle_collection_dynamic(
        self, enable: bool, activities: Iterable[ProfilerActivity]
    ) -> None:
        """Leave operations out from now on, or see them again. Named ranges are always recorded."""
        if self._collector is None:
            raise RuntimeError("toggle_collection_dynamic: the profile is not recording")
        if ProfilerActivity.CPU in chosen(activities):
            self._collector.watch(enable)

    # ---- what was found ----

    def _found(self) -> EventList:
        if not self._recordings:
            raise RuntimeError(
                "profile: nothing is recorded yet; ask after the with block, or in on_trace_ready"
            )
        if self._events is None:
            noted, origin = self._noted, self._origin or 0
            self._events = EventList.of(
                noted, origin, memory=self.profile_memory, flops=self.with_flops
            )
        return self._events

    @property
    def _noted(self) -> list[Range]:
        return [one for recording in self._recordings for one in recording.ranges()]

    def events(self) -> EventList:
        """Every event, in the order in which they began."""
        return self._found()

    def key_averages(
        self,
        group_by_input_shape: bool = False,
        group_by_stack_n: int = 0,
        group_by_overload_name: bool = False,
    ) -> EventList:
        """Sums by name; apart for each list of shapes, for the innermost places of the source, for
        each overload.
        """
        return self._found().key_averages(
            group_by_input_shape, group_by_stack_n, group_by_overload_name
        )

    def total_average(self) -> FunctionEventAvg:
        """The sum of all events."""
        return self._found().total_average()

    # ---- files ----

    def export_chrome_trace(self, path: str) -> None:
        """Write the last cycle to a file that chrome://tracing and Perfetto read; gzip where the
        name ends in .gz.
        """
        facts = {
            "record_shapes": int(self.record_shapes),
            "profile_memory": int(self.profile_memory),
        }
        more = {
            "with_stack": int(self.with_stack),
            "with_flops": int(self.with_flops),
            "trace_id": self._trace_id,
        }
        write_trace(path, self._found(), {**facts, **more, **self._where(), **self._metadata})

    def _where(self) -> dict[str, Any]:
        """What tells this process from others, and its times from theirs: for merged traces."""
        shift = time.time_ns() - time.perf_counter_ns()
        facts: dict[str, Any] = {"baseTimeNanoseconds": (self._origin or 0) + shift}
        if "taeda.distributed" in sys.modules:
            from taeda import distributed  # upward: the program has imported it

            if distributed.is_available() and distributed.is_initialized():
                rank, size = distributed.get_rank(), distributed.get_world_size()
                facts["distributedInfo"] = {"rank": rank, "world_size": size}
        return facts

    def export_html(self, path: str | os.PathLike[str], title: str = "profile") -> None:
        """Write one page below 2 MB that shows the recording without a network: timeline, operators,
        modules (`with_modules`), lines (`with_stack`), time by phase, memory (`profile_memory`),
        arithmetic against what this machine can do (`with_flops`; measured now). With
        `with_advice=True` it has all of these, and says what the program wastes, with its lines, as
        `python -m taeda.profiler script.py` does.

        >>> import tempfile, os
        >>> with profile() as prof:
        ...     _ = taeda.ones(8, 8) @ taeda.ones(8, 8)
        >>> path = os.path.join(tempfile.mkdtemp(), "page.html")
        >>> prof.export_html(path)
        >>> os.path.getsize(path) < 2_000_000
        True
        """
        self._found()
        curve = self._blocks.curve() if self._blocks is not None else []
        with atomic_write(os.fspath(path)) as file:
            file.write(page(report(title, self._noted, curve, self._watch)))

    def export_stacks(self, path: str, metric: str = "self_cpu_time_total") -> None:
        """Write the stacks with their microseconds, for a flame graph; needs `with_stack`."""
        self._found().export_stacks(path, metric)

    def export_memory_timeline(self, path: str, device: str | None = None) -> None:
        """Write what memory held over the last cycle, by what it was for; needs `profile_memory`.

        `path` ends in .html: a page with a plot (needs matplotlib); .json or .json.gz: [times, sizes],
        for each time in nanoseconds the bytes of each `Category`, unknown ones first; .raw.json.gz:
        (time, action, bytes, category) of each event. `device` is "cpu" unless given; nothing is
        recorded of others. ValueError for another ending, RuntimeError without `profile_memory`.
        """
        self._found()
        if self._blocks is None:
            raise RuntimeError(
                "export_memory_timeline: nothing was noted; pass profile_memory=True"
            )
        write_timeline(path, self._blocks, self._origin or 0, device or "cpu")

    def add_metadata(self, key: str, value: str) -> None:
        """A text that stands in the trace under `key`."""
        self._metadata[key] = str(value)

    def add_metadata_json(self, key: str, value: str) -> None:
        """A value, given as JSON, that stands in the trace under `key`. ValueError if it is no JSON."""
        self._metadata[key] = json.loads(value)

    def preset_metadata_json(self, key: str, value: str) -> None:
        """As `add_metadata_json`, for every recording that begins from now on."""
        self._preset[key] = json.loads(value)


class profile(_KinetoProfile):
    """Records what this thread runs within its block.

    With a `schedule` each call of `step` moves on: some steps are idle, some are thrown away, the
    others recorded; `on_trace_ready(profile)` is called at the end of each cycle, and of the block.
    The other arguments are those of `_KinetoProfile`: shapes, memory, places, arithmetic, modules.

    Args:
        activities: what is watched: a list of ProfilerActivity; None for what there is
        schedule: a function from the number of a step to a ProfilerAction; None to record all
        on_trace_ready: a function of the profiler, called when a span of recording ends; None for
            none (default: None)
        record_shapes: whether the shapes of arguments are kept (default: False)
        profile_memory: whether bytes taken and given back are kept (default: False)
        with_stack: whether lines of Python are kept (default: False)
        with_flops: whether floating-point operations are estimated (default: False)
        with_modules: whether the names of layers are kept (default: False)
        with_advice: whether wastes are looked for, for `export_html` (default: False)
        experimental_config: None; ValueError for what is not known here
        execution_trace_observer: what also hears of every operation; None for nobody
        acc_events: whether the events of all cycles are kept, not those of the last one (default: False)
        use_cuda: deprecated: True is activities=[CPU, CUDA], False [CPU] (default: None)
        custom_trace_id_callback: a function that gives the name of each trace; None for a random one

    >>> import taeda
    >>> from taeda.profiler import profile, schedule
    >>> with profile(schedule=schedule(wait=1, warmup=1, active=2), profile_memory=True) as prof:
    ...     for _ in range(4):
    ...         _ = taeda.zeros(256).exp()
    ...         prof.step()
    >>> {event.key: (event.count, event.self_cpu_memory_usage) for event in prof.key_averages()}["aten::exp"]
    (2, 2048)
    """

    def __init__(
        self,
        *,
        activities: Iterable[ProfilerActivity] | None = None,
        schedule: Callable[[int], ProfilerAction] | None = None,
        on_trace_ready: Callable[..., Any] | None = None,
        record_shapes: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_flops: bool = False,
        with_modules: bool = False,
        with_advice: bool = False,
        experimental_config: Any = None,
        execution_trace_observer: Any = None,
        acc_events: bool = False,
        use_cuda: bool | None = None,
        custom_trace_id_callback: Callable[[], str] | None = None,
    ) -> None:
        if use_cuda is not None:
            warn("profile: use_cuda is deprecated; name activities instead", FutureWarning)
            wanted = {ProfilerActivity.CPU, *([ProfilerActivity.CUDA] if use_cuda else [])}
            activities = wanted if activities is None else activities
        super().__init__(
            activities=activities,
            record_shapes=record_shapes,
            profile_memory=profile_memory,
            with_stack=with_stack,
            with_flops=with_flops,
            with_modules=with_modules,
            with_advice=with_advice,
            experimental_config=experimental_config,
            execution_trace_observer=execution_trace_observer,
            acc_events=acc_events,
            custom_trace_id_callback=custom_trace_id_callback,
        )
        self.schedule, self.record_steps = schedule or always, schedule is not None
        self.on_trace_ready = on_trace_ready
        self.step_num = 0
        self.current_action = self.schedule(0)
        self._step: record_function | None = None
        self._running = False

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self.stop()

    def start(self) -> None:
        """Begin with the first step."""
        self._running = True
        self._move(Action.NONE, self.current_action)
        self._enter_step()

    def stop(self) -> None:
        """End the last step, and the recording."""
        self._running = False
        self._leave_step()
        self._move(self.current_action, None)

    def step(self) -> None:
        """The next step of the program begins. Before `start` and after `stop` it is counted and no more."""
        self._leave_step()
        before, self.step_num = self.current_action, self.step_num + 1
        self.current_action = self.schedule(self.step_num)
        if not self._running:  # nobody would end a recording that begins here
            return
        self._move(before, self.current_action)
        self._enter_step()

    def _enter_step(self) -> None:
        if self.record_steps:
            self._step = record_function(f"ProfilerStep#{self.step_num}").__enter__()

    def _leave_step(self) -> None:
        if self._step is not None:
            self._step.__exit__()
            self._step = None

    def _move(self, before: ProfilerAction, now: ProfilerAction | None) -> None:
        """From what one step did to what the next does; None is the end of the block."""
        recording = before in (Action.RECORD, Action.RECORD_AND_SAVE)
        if before is Action.RECORD and now in (Action.NONE, Action.WARMUP):
            warn(
                "profile: the schedule goes from RECORD to an idle step without RECORD_AND_SAVE, "
                "so that nobody is told of the trace"
            )
            self._stop()
        elif before is Action.RECORD_AND_SAVE or (recording and now is None):
            self._stop()
            if self.on_trace_ready is not None:
                self.on_trace_ready(self)
        elif before is Action.WARMUP and now in (Action.NONE, None):
            self._drop()
        elif before is Action.WARMUP and now is not Action.WARMUP and self._collector is not None:
            self._collector.forget()
        if now not in (Action.NONE, None) and self._collector is None:
            self._start()

    def _drop(self) -> None:
        """Steps to warm up that no recorded step follows."""
        collector, self._collector = self._collector, None
        if collector is not None:
            collector.stop()

    def get_trace_id(self) -> str | None:
        """What tells this recording from others: 32 hexadecimal digits, or what the callback gave;
        None before the first.
        """
        return self._trace_id or None

    def set_custom_trace_id_callback(self, callback: Callable[[], str]) -> None:
        """Recordings that begin from now on are named by `callback()`."""
        self.custom_trace_id_callback = callback
