"""Handlers take numbers by group; by default they are dropped."""

from __future__ import annotations

import functools
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple

__all__ = [
    "ConsoleMetricHandler",
    "MetricData",
    "MetricHandler",
    "MetricStream",
    "MetricsConfig",
    "NullMetricHandler",
    "configure",
    "getStream",
    "prof",
    "profile",
    "publish_metric",
    "put_metric",
]


class MetricData(NamedTuple):
    """A number: when, by which group, under which name.

    >>> MetricData(0.0, "train", "loss", 0.5).value
    0.5
    """

    timestamp: float
    group_name: str
    name: str
    value: float


class MetricsConfig:
    """Words for handlers that want some.

    >>> MetricsConfig({"place": "console"}).params
    {'place': 'console'}
    """

    def __init__(self, params: dict[str, str] | None = None) -> None:
        self.params = params or {}


class MetricHandler(ABC):
    """Takes numbers.

    >>> class Kept(MetricHandler):
    ...     def __init__(self):
    ...         self.values = {}
    ...     def emit(self, metric_data):
    ...         self.values[metric_data.name] = metric_data.value
    >>> kept = Kept()
    >>> MetricStream("train", kept).add_value("loss", 0.5)
    >>> kept.values
    {'loss': 0.5}
    """

    @abstractmethod
    def emit(self, metric_data: MetricData) -> None:
        """A number."""


class ConsoleMetricHandler(MetricHandler):
    """Prints them.

    >>> ConsoleMetricHandler().emit(MetricData(0.0, "train", "loss", 0.5))
    [0.000][train]: loss=0.5
    """

    def emit(self, metric_data: MetricData) -> None:
        print(
            f"[{metric_data.timestamp:.3f}][{metric_data.group_name}]: {metric_data.name}={metric_data.value}"
        )


class NullMetricHandler(MetricHandler):
    """Drops them.

    >>> NullMetricHandler().emit(MetricData(0.0, "train", "loss", 0.5))
    """

    def emit(self, metric_data: MetricData) -> None:
        """Nothing."""


_handlers: dict[str, MetricHandler] = {}
_default: MetricHandler = NullMetricHandler()


class MetricStream:
    """The numbers of one group.

    >>> stream = MetricStream("train", NullMetricHandler())
    >>> stream.add_value("loss", 0.5)
    >>> stream.group_name
    'train'
    """

    def __init__(self, group_name: str, handler: MetricHandler) -> None:
        self.group_name, self.handler = group_name, handler

    def add_value(self, metric_name: str, metric_value: float) -> None:
        """Publish a number."""
        self.handler.emit(MetricData(time.time(), self.group_name, metric_name, metric_value))


def configure(handler: MetricHandler, group: str | None = None) -> None:
    """Let `handler` take the numbers of `group`, or of all groups that have none of their own.

    >>> configure(NullMetricHandler(), group="train")
    >>> type(getStream("train").handler).__name__
    'NullMetricHandler'
    """
    global _default
    if group is None:
        _default = handler
    else:
        _handlers[group] = handler


def getStream(group: str) -> MetricStream:  # noqa: N802 - the public name
    """The stream of a group.

    >>> getStream("train").group_name
    'train'
    """
    return MetricStream(group, _handlers.get(group, _default))


def put_metric(metric_name: str, metric_value: float, metric_group: str = "torchelastic") -> None:
    """Publish a number.

    >>> put_metric("loss", 0.5, metric_group="train")  # to the handler of `configure`
    """
    getStream(metric_group).add_value(metric_name, metric_value)


def publish_metric(metric_group: str, metric_name: str, metric_value: float) -> None:
    """The older order of the arguments of `put_metric`.

    >>> publish_metric("train", "loss", 0.5)
    """
    put_metric(metric_name, metric_value, metric_group)


def prof(fn: Callable[..., Any] | None = None, group: str = "torchelastic") -> Any:
    """A decorator that publishes how often a function succeeds and fails, and its milliseconds.

    >>> @prof(group="train")
    ... def step(x):
    ...     return x + 1
    >>> step(1)
    2
    """

    def wrap(function: Callable[..., Any]) -> Callable[..., Any]:
        name = function.__qualname__

        @functools.wraps(function)
        def run(*args: Any, **kwargs: Any) -> Any:
            start = time.perf_counter()
            outcome = "failure"
            try:
                result = function(*args, **kwargs)
                outcome = "success"
                return result
            finally:
                put_metric(f"{name}.{outcome}", 1, group)
                put_metric(f"{name}.duration.ms", (time.perf_counter() - start) * 1000, group)

        return run

    return wrap(fn) if fn is not None else wrap


def profile(group: str | None = None) -> Any:
    """The older name of `prof`.

    >>> @profile("train")
    ... def step(x):
    ...     return x + 1
    >>> step(1)
    2
    """
    return prof(group=group or "torchelastic")
