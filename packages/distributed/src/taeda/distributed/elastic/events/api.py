"""Events, and the loggers that take them: "console" or "null" by default, others by a handler on
the logger.
"""

from __future__ import annotations

import json
import logging
import os
import socket
import traceback
from dataclasses import asdict, dataclass, field
from enum import Enum

__all__ = [
    "Event",
    "EventMetadataValue",
    "EventSource",
    "NodeState",
    "RdzvEvent",
    "construct_and_record_rdzv_event",
    "get_logging_handler",
    "record",
    "record_rdzv_event",
]

EventMetadataValue = str | int | float | bool | None


class EventSource(str, Enum):  # noqa: UP042 - as the interface has it
    """Who tells.

    >>> EventSource("WORKER").value
    'WORKER'
    """

    AGENT = "AGENT"
    WORKER = "WORKER"


class NodeState(str, Enum):  # noqa: UP042 - as the interface has it
    """Where a machine stands in a rendezvous.

    >>> NodeState["RUNNING"].value
    'RUNNING'
    """

    INIT = "INIT"
    RUNNING = "RUNNING"
    SUCCEEDED = "SUCCEEDED"
    FAILED = "FAILED"


@dataclass
class Event:
    """Something that happened.

    >>> event = Event("restart", EventSource.AGENT, metadata={"round": 2})
    >>> str(event)
    '{"name": "restart", "source": "AGENT", "timestamp": 0, "metadata": {"round": 2}}'
    >>> Event.deserialize(str(event)) == event
    True
    """

    name: str
    source: EventSource
    timestamp: int = 0
    metadata: dict[str, EventMetadataValue] = field(default_factory=dict)

    def serialize(self) -> str:
        """As JSON."""
        return json.dumps(asdict(self))

    def __str__(self) -> str:
        return self.serialize()

    @staticmethod
    def deserialize(data: str | Event) -> Event:
        """From JSON."""
        if isinstance(data, Event):
            return data
        words = json.loads(data)
        words["source"] = EventSource[words["source"]]
        return Event(**words)


@dataclass
class RdzvEvent:
    """Something that happened in a rendezvous.

    >>> event = RdzvEvent("join", "job-7", "a machine came", "node-1", 4711, NodeState.INIT)
    >>> event.node_state.value, event.rank
    ('INIT', None)
    """

    name: str
    run_id: str
    message: str
    hostname: str
    pid: int
    node_state: NodeState
    master_endpoint: str = ""
    rank: int | None = None
    local_id: int | None = None
    error_trace: str = ""

    def serialize(self) -> str:
        """As JSON."""
        return json.dumps(asdict(self))

    def __str__(self) -> str:
        return self.serialize()


def get_logging_handler(destination: str = "null") -> logging.Handler:
    """What takes events for a destination: "console", or "null" for nothing. ValueError for another.

    >>> type(get_logging_handler("console")).__name__
    'StreamHandler'
    """
    makers = {"console": logging.StreamHandler, "null": logging.NullHandler}
    if destination not in makers:
        raise ValueError(f"no destination {destination!r} of events; there are {', '.join(makers)}")
    return makers[destination]()


def _logger(destination: str) -> logging.Logger:
    logger = logging.getLogger(f"taeda.elastic.events.{destination}")
    if not logger.handlers:
        logger.setLevel(os.environ.get("LOGLEVEL", "INFO"))
        logger.propagate = False
        logger.addHandler(get_logging_handler(destination))
    return logger


def record(event: Event, destination: str = "null") -> None:
    """Give an event to a destination.

    >>> record(Event("restart", EventSource.AGENT), destination="null")  # "console" shows it
    """
    _logger(destination).info(event.serialize())


def record_rdzv_event(event: RdzvEvent) -> None:
    """Give an event of a rendezvous to its logger.

    >>> record_rdzv_event(RdzvEvent("join", "job-7", "a machine came", "node-1", 1, NodeState.INIT))
    """
    _logger("null").info(event.serialize())


def construct_and_record_rdzv_event(
    run_id: str,
    message: str,
    node_state: NodeState,
    name: str = "",
    hostname: str = "",
    pid: int | None = None,
    master_endpoint: str = "",
    local_id: int | None = None,
    rank: int | None = None,
) -> None:
    """Make an event of a rendezvous and give it to its logger; with the trace of the error that is
    being handled.

    >>> construct_and_record_rdzv_event(
    ...     "job-7", "all machines are there", NodeState.RUNNING, hostname="node-1"
    ... )
    """
    trace = traceback.format_exc() if node_state == NodeState.FAILED else ""
    record_rdzv_event(
        RdzvEvent(
            name,
            run_id,
            message,
            hostname or socket.getfqdn(),
            pid or os.getpid(),
            node_state,
            master_endpoint,
            rank,
            local_id,
            trace,
        )
    )
