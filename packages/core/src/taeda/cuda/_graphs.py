"""CUDA graphs: work that is recorded once and replayed by one call.

What is replayed reads and writes the memory that it had when it was captured: put new inputs into
the same tensors (`copy_`), and read results from the same tensors.
"""

from __future__ import annotations

import gc
import weakref
from itertools import count
from typing import Any, NoReturn

from taeda._native import core as _core

from ._devices import synchronize
from ._memory import empty_cache
from ._pools import MemPool
from ._streams import Event, Stream, StreamContext, _captures, current_stream

__all__ = [
    "CUDAGraph",
    "graph",
    "graph_pool_handle",
    "is_current_stream_capturing",
]

_MODES = {"global": 0, "thread_local": 1, "relaxed": 2}
_numbers = count(1)
#: pools by the number that programs know them by, while a graph or a `MemPool` holds them
_pools: weakref.WeakValueDictionary[tuple[int, int], MemPool] = weakref.WeakValueDictionary()


def graph_pool_handle() -> tuple[int, int]:
    """A number for a pool that several graphs share, as `pool=`. Graphs that share one must be
    replayed in the order of their captures, for they reuse each other's memory.

    >>> pool = taeda.cuda.graph_pool_handle()
    >>> pool != taeda.cuda.graph_pool_handle()  # a new one each time
    True
    """
    return (1, next(_numbers))


def is_current_stream_capturing() -> bool:
    """Does work of the current stream go into a graph? False without a device.

    >>> taeda.cuda.is_current_stream_capturing()
    False
    """
    return bool(_core.cuda_capturing(_core.cuda_current())) if _core.cuda_started() else False


def _pool_of(token: Any) -> tuple[tuple[int, int], MemPool]:
    if token is None:
        token = graph_pool_handle()
    if isinstance(token, MemPool):
        return token.id, token
    if not (isinstance(token, tuple) and len(token) == 2):
        raise TypeError(
            f"pool: wanted what graph_pool_handle, CUDAGraph.pool or MemPool.id gives, got {token!r}"
        )
    pool = _pools.get(token)
    if pool is None:
        pool = _pools[token] = MemPool()
    return token, pool


class CUDAGraph:
    """Work of a stream, captured between `capture_begin` and `capture_end` (or within
    `taeda.cuda.graph`), and queued again by `replay`.

    Tensors that are made during the capture lie in a pool
    of the graph's own. What waits for the device, reads it, or compiles a kernel cannot be captured:
    the RuntimeError names the operator and the line, and the graph is not made. So call everything
    once before. Random numbers are drawn anew by each replay, from the default generator.

    Args:
        keep_graph: whether the description stays until `instantiate` or the first `replay`; without
            it (False) that happens at the end of the capture.

    >>> g = taeda.cuda.CUDAGraph()
    >>> g.replay()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    RuntimeError: Called CUDAGraph::replay without a preceding successful capture...
    """

    def __init__(self, keep_graph: bool = False) -> None:
        self._handle = 0
        self._keep, self._ended, self._debug = keep_graph, False, False
        self._pool: MemPool | None = None
        self._token: tuple[int, int] | None = None
        self._device = 0
        self._events: list[Event] = []  # the driver's graph does not keep them

    def capture_begin(self, pool: Any = None, capture_error_mode: str = "global") -> None:
        """Work of the current stream, which must not be the default one, goes into this graph from
        now on. `pool`: of another graph, or `graph_pool_handle()`. `capture_error_mode`: what other
        threads may do meanwhile ("global": nothing that waits; "thread_local"; "relaxed").
        """
        if capture_error_mode not in _MODES:
            raise RuntimeError(
                f"Unknown capture error mode. Expected `global`, `thread_local`, or `relaxed`, "
                f"got {capture_error_mode}"
            )
        if self._handle:
            raise RuntimeError(
                "This CUDAGraph holds a capture already: reset() it, or make another"
            )
        self._token, self._pool = _pool_of(pool)
        self._device = _core.cuda_current()
        self._stream = current_stream()
        self._handle = _core.cuda_graph_begin(
            self._device, self._pool._handle, _MODES[capture_error_mode]
        )
        _captures[id(self)] = self._events

    def capture_end(self) -> None:
        """The capture is over. RuntimeError where something was called that cannot be captured."""
        if not self._handle or self._ended:
            raise RuntimeError("capture_end() without capture_begin()")
        if current_stream(self._device) != self._stream:
            raise RuntimeError("Capture must end on the same stream it began on")
        try:
            _core.cuda_graph_end(self._handle)
        except BaseException:
            self.reset()
            raise
        finally:
            _captures.pop(id(self), None)
        self._ended = True
        if not self._keep:
            self.instantiate()

    def _ready(self, name: str) -> int:
        if not self._ended:
            raise RuntimeError(
                f"Called CUDAGraph::{name} without a preceding successful capture: the graph was "
                f"never captured, or reset() gave its work and memory back"
            )
        return self._handle

    def instantiate(self) -> None:
        """Make it ready to be replayed."""
        _core.cuda_graph_make(self._ready("instantiate"))

    def replay(self) -> None:
        """Queue all of its work on the current stream."""
        handle = self._ready("replay")
        _core.cuda_graph_replay(handle, current_stream(self._device).cuda_stream)

    def reset(self) -> None:
        """Give its work and its hold on memory back."""
        if self._handle:
            _core.cuda_graph_free(self._handle)
        _captures.pop(id(self), None)
        self._handle, self._ended, self._pool, self._events = 0, False, None, []

    def pool(self) -> tuple[int, int]:
        """The number of its pool, as `pool=` of another graph."""
        if self._token is None or self._pool is None:
            raise RuntimeError("Called CUDAGraph::pool() without a preceding capture_begin()")
        return self._token

    def enable_debug_mode(self) -> None:
        """`debug_dump` may be called after the capture."""
        self._debug = True

    def debug_dump(self, debug_path: str) -> None:
        """Write what it holds for Graphviz. RuntimeError without `enable_debug_mode` before."""
        if not self._debug and not self._keep:
            raise RuntimeError("debug_dump: call enable_debug_mode() before the capture")
        _core.cuda_graph_dump(self._ready("debug_dump"), str(debug_path))

    def raw_cuda_graph(self) -> int:
        """The address of the driver's graph (`CUgraph`). RuntimeError without `keep_graph`."""
        if not self._keep:
            raise RuntimeError(
                "raw_cuda_graph: the graph was not kept; make it with keep_graph=True"
            )
        return int(_core.cuda_graph_raw(self._ready("raw_cuda_graph")))

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "a CUDAGraph cannot be copied or pickled: it holds work of this process; capture another"
        )

    def __del__(self) -> None:
        if getattr(self, "_handle", 0):
            self.reset()


_streams: dict[int, Stream] = {}


def _stream_of_captures() -> Stream:
    """The one that all captures of the current device share."""
    index = _core.cuda_current()
    if graph.default_capture_stream is None:
        graph.default_capture_stream = _streams[index] = Stream()
    if index not in _streams:  # another device than that of the first one
        _streams[index] = Stream()
    return _streams[index]


class graph:
    """Capture what is called within into `cuda_graph`, on a stream of its own or on `stream`.

        g = taeda.cuda.CUDAGraph()
        with taeda.cuda.graph(g):
            y = model(x)
        x.copy_(batch)
        g.replay()  # y holds the result for the batch

    Args:
        cuda_graph: the graph that is made.
        pool: memory of `graph_pool_handle()` or of another graph's `pool()`; None is a new one.
        stream: where work goes within; None is a stream that all captures share.
        capture_error_mode: what other threads may do meanwhile: "global" (nothing that waits),
            "thread_local" or "relaxed".

    >>> if taeda.cuda.is_available():
    ...     x = taeda.zeros(4, device="cuda")
    ...     _ = x + 1  # its kernel is compiled before the capture
    ...     g = taeda.cuda.CUDAGraph()
    ...     with taeda.cuda.graph(g):
    ...         y = x + 1
    ...     _ = x.copy_(taeda.arange(4.0))
    ...     g.replay()
    ...     assert y.tolist() == [1.0, 2.0, 3.0, 4.0]
    """

    default_capture_stream: Stream | None = None

    def __init__(
        self,
        cuda_graph: CUDAGraph,
        pool: Any = None,
        stream: Stream | None = None,
        capture_error_mode: str = "global",
    ) -> None:
        if not isinstance(cuda_graph, CUDAGraph):
            raise TypeError(f"wanted a CUDAGraph, got {type(cuda_graph).__name__}")
        self.cuda_graph, self.pool, self.capture_error_mode = cuda_graph, pool, capture_error_mode
        self.capture_stream = _stream_of_captures() if stream is None else stream

    def __enter__(self) -> None:
        synchronize()
        gc.collect()
        empty_cache()
        self._within = StreamContext(self.capture_stream)
        self._within.__enter__()
        try:
            self.cuda_graph.capture_begin(self.pool, self.capture_error_mode)
        except BaseException:
            self._within.__exit__(None, None, None)
            raise

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        try:
            if kind is None:
                self.cuda_graph.capture_end()
            else:
                self.cuda_graph.reset()
        finally:
            self._within.__exit__(kind, error, trace)
