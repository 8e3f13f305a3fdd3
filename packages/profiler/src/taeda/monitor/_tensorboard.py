"""The handler that writes statistics for TensorBoard."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._events import Event

if TYPE_CHECKING:
    from taeda.utils.tensorboard import SummaryWriter

__all__ = ["TensorboardEventHandler"]


class TensorboardEventHandler:
    """For `register_event_handler`: statistics become scalars of `writer`; other events are let pass.

    Args:
        writer: a SummaryWriter

    >>> import tempfile
    >>> from taeda import monitor
    >>> from taeda.utils.tensorboard import SummaryWriter
    >>> with tempfile.TemporaryDirectory() as folder, SummaryWriter(folder) as writer:
    ...     handle = monitor.register_event_handler(TensorboardEventHandler(writer))
    ...     monitor.unregister_event_handler(handle)
    """

    def __init__(self, writer: SummaryWriter) -> None:
        self._writer = writer

    def __call__(self, event: Event) -> None:
        if event.name == "taeda.monitor.Stat":
            when = event.timestamp.timestamp()
            for tag, value in event.data.items():
                self._writer.add_scalar(tag, value, walltime=when)
