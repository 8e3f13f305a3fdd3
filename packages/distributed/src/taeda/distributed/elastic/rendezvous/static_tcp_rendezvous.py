"""A fixed number of machines that know their numbers; number 0 serves the store."""

from __future__ import annotations

from datetime import timedelta

from ..._errors import DistError
from ..._stores import PrefixStore, TCPStore
from .api import (
    RendezvousConnectionError,
    RendezvousHandler,
    RendezvousInfo,
    RendezvousParameters,
    RendezvousStoreInfo,
)

__all__ = ["StaticTCPRendezvous", "create_rdzv_handler"]


class StaticTCPRendezvous(RendezvousHandler):
    """Machine `rank` of `world_size`; they meet at `master_addr` and `master_port`, port 0 being a
    free one of machine 0.

    >>> handler = StaticTCPRendezvous("127.0.0.1", 0, 0, 1, "job-7", timeout=60)
    >>> info = handler.next_rendezvous()
    >>> info.rank, info.world_size, info.bootstrap_store_info.master_port > 0
    (0, 1, True)
    >>> handler.shutdown()
    True
    """

    def __init__(
        self,
        master_addr: str,
        master_port: int,
        rank: int,
        world_size: int,
        run_id: str,
        timeout: float,
    ) -> None:
        self.master_addr, self.master_port = master_addr, master_port
        self.rank, self.world_size, self.run_id = rank, world_size, run_id
        self.timeout = timedelta(seconds=timeout)
        self._store: TCPStore | None = None

    def get_backend(self) -> str:
        return "static"

    @property
    def use_agent_store(self) -> bool:
        return True

    def next_rendezvous(self) -> RendezvousInfo:
        if self._store is None:
            is_master = self.rank == 0
            try:
                self._store = TCPStore(
                    self.master_addr, self.master_port, self.world_size, is_master, self.timeout
                )
            except DistError as error:
                raise RendezvousConnectionError(str(error)) from error
        place = RendezvousStoreInfo(self.master_addr, self._store.port)
        return RendezvousInfo(
            PrefixStore(self.run_id, self._store), self.rank, self.world_size, place
        )

    def is_closed(self) -> bool:
        return False

    def set_closed(self) -> None:
        """Nothing to tell: the number of machines is fixed."""

    def num_nodes_waiting(self) -> int:
        return 0

    def get_run_id(self) -> str:
        return self.run_id

    def shutdown(self) -> bool:
        if self._store is not None:
            self._store.close()
            self._store = None
        return True


def create_rdzv_handler(params: RendezvousParameters) -> RendezvousHandler:
    """From parameters with the endpoint host:port and the word `rank`.

    >>> params = RendezvousParameters("static", "node-1", "job-7", 2, 2, rank=1)
    >>> handler = create_rdzv_handler(params)
    >>> handler.master_addr, handler.master_port, handler.rank
    ('node-1', 29500, 1)
    """
    host, port = split_endpoint(params.endpoint, 29500)
    rank = params.get_as_int("rank")
    if rank is None:
        raise ValueError("a static rendezvous needs this machine's number, rank")
    if not 0 <= rank < params.max_nodes:
        raise ValueError(f"the machine's number {rank} is outside of 0 to {params.max_nodes - 1}")
    timeout = params.get_as_int("timeout", 900) or 900
    return StaticTCPRendezvous(host, port, rank, params.max_nodes, params.run_id, timeout)


def split_endpoint(endpoint: str, default_port: int) -> tuple[str, int]:
    """Host and port of "host:port"; ValueError for a port that is none.

    >>> split_endpoint("10.0.0.1:5000", 29500), split_endpoint("node", 29500)
    (('10.0.0.1', 5000), ('node', 29500))
    """
    host, colon, port = endpoint.strip().rpartition(":")
    if not colon:
        return endpoint.strip() or "127.0.0.1", default_port
    try:
        return host.strip("[]") or "127.0.0.1", int(port)
    except ValueError:
        raise ValueError(f"the endpoint {endpoint!r} is not of the form host:port") from None
