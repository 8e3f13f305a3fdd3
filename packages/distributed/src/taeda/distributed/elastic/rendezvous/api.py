"""What a rendezvous is: handlers, parameters, errors."""

from __future__ import annotations

import socket
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..._stores import Store

__all__ = [
    "RendezvousClosedError",
    "RendezvousConnectionError",
    "RendezvousError",
    "RendezvousGracefulExitError",
    "RendezvousHandler",
    "RendezvousHandlerCreator",
    "RendezvousHandlerRegistry",
    "RendezvousInfo",
    "RendezvousParameters",
    "RendezvousStateError",
    "RendezvousStoreInfo",
    "RendezvousTimeoutError",
    "rendezvous_handler_registry",
]


class RendezvousError(Exception):
    """A rendezvous failed."""


class RendezvousClosedError(RendezvousError):
    """The rendezvous was closed: the job is over."""


class RendezvousTimeoutError(RendezvousError):
    """Not enough machines came in time."""


class RendezvousConnectionError(RendezvousError):
    """The place to meet cannot be reached."""


class RendezvousStateError(RendezvousError):
    """What is stored about the rendezvous makes no sense."""


class RendezvousGracefulExitError(RendezvousError):
    """This machine is not needed and should leave without an error."""


@dataclass
class RendezvousStoreInfo:
    """The address of the store that a job's processes use.

    >>> from taeda import distributed as dist
    >>> RendezvousStoreInfo.build(0, dist.HashStore(), local_addr="10.0.0.1", server_port=29500)
    RendezvousStoreInfo(master_addr='10.0.0.1', master_port=29500)
    """

    master_addr: str
    master_port: int
    MASTER_ADDR_KEY = "MASTER_ADDR"
    MASTER_PORT_KEY = "MASTER_PORT"

    @staticmethod
    def build(
        rank: int, store: Store, local_addr: str | None = None, server_port: int | None = None
    ) -> RendezvousStoreInfo:
        """Rank 0 tells its address and a port through `store`; all ranks return the same."""
        info = RendezvousStoreInfo
        if rank == 0:
            store.set(info.MASTER_ADDR_KEY, local_addr or _own_address())
            store.set(info.MASTER_PORT_KEY, str(server_port or _free_port()))
        return info(store.get(info.MASTER_ADDR_KEY).decode(), int(store.get(info.MASTER_PORT_KEY)))


def _own_address() -> str:
    """An address and not a name, which others may not resolve."""
    try:
        return socket.gethostbyname(socket.gethostname())
    except OSError:
        return "127.0.0.1"


def _free_port() -> int:
    with socket.create_server(("", 0)) as listener:
        return listener.getsockname()[1]


@dataclass
class RendezvousInfo:
    """What a machine gets: a store, its number, how many there are, and where processes find their store.

    >>> from taeda import distributed as dist
    >>> place = RendezvousStoreInfo("10.0.0.1", 29500)
    >>> info = RendezvousInfo(dist.HashStore(), 1, 4, place)
    >>> info.rank, info.world_size, info.bootstrap_store_info.master_port
    (1, 4, 29500)
    """

    store: Store
    rank: int
    world_size: int
    bootstrap_store_info: RendezvousStoreInfo


class RendezvousHandler(ABC):
    """One machine's side of a rendezvous.

    >>> from taeda.distributed.elastic import rendezvous
    >>> params = RendezvousParameters("static", "127.0.0.1:0", "job-7", 1, 1, rank=0)
    >>> handler = rendezvous.get_rendezvous_handler(params)
    >>> info = handler.next_rendezvous()
    >>> info.rank, info.world_size, handler.get_run_id()
    (0, 1, 'job-7')
    >>> handler.shutdown()
    True
    """

    @abstractmethod
    def get_backend(self) -> str:
        """The name of the kind."""

    @property
    def use_agent_store(self) -> bool:
        """May the job's processes use the store of the agents, too?"""
        return False

    @abstractmethod
    def next_rendezvous(self) -> RendezvousInfo:
        """Wait until enough machines are there.
        RendezvousClosedError, -TimeoutError, -ConnectionError, -StateError.
        """

    @abstractmethod
    def is_closed(self) -> bool:
        """Is the job over?"""

    @abstractmethod
    def set_closed(self) -> None:
        """The job is over."""

    @abstractmethod
    def num_nodes_waiting(self) -> int:
        """How many machines came late and wait to be let in."""

    @abstractmethod
    def get_run_id(self) -> str:
        """The name of the job."""

    @abstractmethod
    def shutdown(self) -> bool:
        """Release everything; did that go well?"""


class RendezvousParameters:
    """How to meet: kind, place, name of the job, how many machines, and a handler's own words.

    ValueError for no backend, no name, or numbers of machines that make no sense.

    >>> params = RendezvousParameters("c10d", "node-1:29400", "job-7", 1, 4, join_timeout="60")
    >>> params.max_nodes, params.get_as_int("join_timeout")
    (4, 60)
    """

    def __init__(
        self,
        backend: str,
        endpoint: str,
        run_id: str,
        min_nodes: int,
        max_nodes: int,
        local_addr: str | None = None,
        **kwargs: Any,
    ) -> None:
        if not backend:
            raise ValueError("a rendezvous needs the name of its backend")
        if not run_id:
            raise ValueError("a rendezvous needs the name of the job, run_id")
        if min_nodes < 1:
            raise ValueError(f"min_nodes is at least 1, not {min_nodes}")
        if max_nodes < min_nodes:
            raise ValueError(f"max_nodes {max_nodes} is less than min_nodes {min_nodes}")
        self.backend, self.endpoint, self.run_id = backend, endpoint, run_id
        self.min_nodes, self.max_nodes, self.local_addr = min_nodes, max_nodes, local_addr
        self.config = kwargs

    def get(self, key: str, default: Any = None) -> Any:
        """A word of the handler's own, or the default."""
        return self.config.get(key, default)

    def get_as_bool(self, key: str, default: bool | None = None) -> bool | None:
        """The same as a truth: true, t, yes, y, 1. ValueError for what is none."""
        value = self.get(key, default)
        if value is None or isinstance(value, bool):
            return value
        word = str(value).lower()
        if word in ("1", "true", "t", "yes", "y"):
            return True
        if word in ("0", "false", "f", "no", "n"):
            return False
        raise ValueError(f"{key} is a truth, not {value!r}")

    def get_as_int(self, key: str, default: int | None = None) -> int | None:
        """The same as a number. ValueError for what is none."""
        value = self.get(key, default)
        if value is None:
            return None
        try:
            return int(value)
        except (TypeError, ValueError):
            raise ValueError(f"{key} is a number, not {value!r}") from None


RendezvousHandlerCreator = Callable[[RendezvousParameters], RendezvousHandler]


class RendezvousHandlerRegistry:
    """Makers of handlers by backend.

    >>> registry = RendezvousHandlerRegistry()
    >>> registry.register("spoken", lambda params: f"a handler of {params.run_id}")
    >>> registry.create_handler(RendezvousParameters("spoken", "", "job-7", 1, 1))
    'a handler of job-7'
    """

    def __init__(self) -> None:
        self._makers: dict[str, RendezvousHandlerCreator] = {}

    def register(self, backend: str, creator: RendezvousHandlerCreator) -> None:
        """Let `creator(params)` make handlers of `backend`. ValueError if another does so already."""
        if not backend:
            raise ValueError("a backend has a name")
        if self._makers.get(backend, creator) is not creator:
            raise ValueError(f"the backend {backend!r} has a maker already")
        self._makers[backend] = creator

    def create_handler(self, params: RendezvousParameters) -> RendezvousHandler:
        """A handler. ValueError for a backend that nobody registered."""
        if params.backend not in self._makers:
            raise ValueError(
                f"no rendezvous backend {params.backend!r}; there are {', '.join(self._makers)}"
            )
        return self._makers[params.backend](params)


rendezvous_handler_registry = RendezvousHandlerRegistry()
