"""A rendezvous of a number of machines between a least and a most, which may leave and come.

The state is one small JSON text that machines replace by compare-and-set: the round, who takes
part, who waits, when each was last heard of. A round is complete when the most have come, or the
least and nobody else for a while. A machine that comes to a complete round waits in a list; the
agents see it and begin the next round.
"""

from __future__ import annotations

import json
import os
import secrets
import socket
import threading
import time
from abc import ABC, abstractmethod
from datetime import timedelta
from typing import Any

from ..._stores import PrefixStore, Store
from .api import (
    RendezvousClosedError,
    RendezvousConnectionError,
    RendezvousHandler,
    RendezvousInfo,
    RendezvousParameters,
    RendezvousStateError,
    RendezvousStoreInfo,
    RendezvousTimeoutError,
)

__all__ = ["DynamicRendezvousHandler", "RendezvousBackend", "RendezvousTimeout", "create_handler"]

Token = Any


class RendezvousBackend(ABC):
    """Where the state lies.

    >>> class Kept(RendezvousBackend):  # the state of one process
    ...     name, state, version = "kept", None, 0
    ...     def get_state(self):
    ...         return None if self.state is None else (self.state, self.version)
    ...     def set_state(self, state, token=None):
    ...         if replaced := (token or 0) == self.version:
    ...             self.state, self.version = state, self.version + 1
    ...         return self.state, self.version, replaced
    >>> backend = Kept()
    >>> backend.set_state(b"first"), backend.set_state(b"late")
    ((b'first', 1, True), (b'first', 1, False))
    """

    @property
    @abstractmethod
    def name(self) -> str:
        """The name of the kind."""

    @abstractmethod
    def get_state(self) -> tuple[bytes, Token] | None:
        """The state and a token for this version of it; None if there is none yet."""

    @abstractmethod
    def set_state(
        self, state: bytes, token: Token | None = None
    ) -> tuple[bytes, Token, bool] | None:
        """Replace the version that `token` stands for (None: no version).
        What is there now, and was it replaced?
        """


class RendezvousTimeout:
    """How long to wait: for the least number (`join`), for more after that (`last_call`), to close,
    for a sign of life.

    >>> timeout = RendezvousTimeout(join=timedelta(seconds=60))
    >>> timeout.join.seconds, timeout.last_call.seconds
    (60, 30)
    """

    def __init__(
        self,
        join: timedelta | None = None,
        last_call: timedelta | None = None,
        close: timedelta | None = None,
        heartbeat: timedelta | None = None,
    ) -> None:
        self._join = join if join is not None else timedelta(seconds=600)
        self._last_call = last_call if last_call is not None else timedelta(seconds=30)
        self._close = close if close is not None else timedelta(seconds=30)
        self._heartbeat = heartbeat if heartbeat is not None else timedelta(seconds=5)
        for name in ("join", "last_call", "close", "heartbeat"):
            if getattr(self, f"_{name}") <= timedelta(0):
                raise ValueError(f"the timeout {name} must be longer than nothing")

    @property
    def join(self) -> timedelta:
        """For the least number of machines."""
        return self._join

    @property
    def last_call(self) -> timedelta:
        """For more, once the least number is there."""
        return self._last_call

    @property
    def close(self) -> timedelta:
        """For closing."""
        return self._close

    @property
    def heartbeat(self) -> timedelta:
        """For a sign of life to get through."""
        return self._heartbeat


def _fresh() -> dict[str, Any]:
    return {
        "round": 0,
        "complete": False,
        "closed": False,
        "ranks": {},
        "waiting": {},
        "seen": {},
        "last_call": 0.0,
    }


class DynamicRendezvousHandler(RendezvousHandler):
    """One machine's side. Machines that are silent for some `keep_alive_max_attempt` intervals no
    longer count.

    >>> from taeda import distributed as dist
    >>> from taeda.distributed.elastic.rendezvous import c10d_rendezvous_backend
    >>> store = dist.HashStore()
    >>> backend = c10d_rendezvous_backend.C10dRendezvousBackend(store, "job-7")
    >>> handler = DynamicRendezvousHandler.from_backend("job-7", store, backend, 1, 1, "127.0.0.1")
    >>> info = handler.next_rendezvous()  # one machine is enough here
    >>> info.rank, info.world_size
    (0, 1)
    >>> handler.shutdown()
    True
    """

    @classmethod
    def from_backend(
        cls,
        run_id: str,
        store: Store,
        backend: RendezvousBackend,
        min_nodes: int,
        max_nodes: int,
        local_addr: str | None = None,
        timeout: RendezvousTimeout | None = None,
        keep_alive_interval: int = 5,
        keep_alive_max_attempt: int = 3,
    ) -> DynamicRendezvousHandler:
        """A handler for a state in `backend`. ValueError for numbers of machines that make no sense."""
        RendezvousParameters(backend.name, "", run_id, min_nodes, max_nodes)
        return cls(
            run_id,
            store,
            backend,
            (min_nodes, max_nodes),
            local_addr,
            timeout or RendezvousTimeout(),
            keep_alive_interval,
            keep_alive_max_attempt,
        )

    def __init__(
        self,
        run_id: str,
        store: Store,
        backend: RendezvousBackend,
        nodes: tuple[int, int],
        local_addr: str | None,
        timeout: RendezvousTimeout,
        keep_alive_interval: float,
        keep_alive_max_attempt: int,
    ) -> None:
        self._run_id, self._store, self._backend, self._nodes = run_id, store, backend, nodes
        self._local_addr, self._timeout = local_addr, timeout
        self._interval, self._patience = (
            keep_alive_interval,
            keep_alive_interval * keep_alive_max_attempt,
        )
        self._me = f"{socket.gethostname()}_{os.getpid()}_{secrets.token_hex(4)}"
        self.round = 0
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    # ---- the state ----

    def _read(self) -> tuple[dict[str, Any], Token | None]:
        found = self._backend.get_state()
        if found is None:
            return _fresh(), None
        try:
            return json.loads(found[0]), found[1]
        except ValueError as error:
            raise RendezvousStateError(
                f"the state of {self._run_id!r} cannot be read: {error}"
            ) from error

    def _change(self, change: Any) -> dict[str, Any]:
        """Apply `change(state)` until nobody came between; return the state after it."""
        while True:
            state, token = self._read()
            before = json.dumps(state)
            change(state)
            if (after := json.dumps(state)) == before and token is not None:
                return state
            done = self._backend.set_state(after.encode(), token)
            if done is not None and done[2]:
                return state
            time.sleep(0.005)

    # ---- to meet ----

    def get_backend(self) -> str:
        return self._backend.name

    @property
    def use_agent_store(self) -> bool:
        return True

    def next_rendezvous(self) -> RendezvousInfo:
        until = time.monotonic() + self._timeout.join.total_seconds()
        left = self.round  # a round that we were in is over for us
        while True:
            state = self._change(lambda state: self._come(state, left))
            if state["closed"]:
                raise RendezvousClosedError(f"the rendezvous of {self._run_id!r} is closed")
            if state["complete"] and self._me in state["ranks"] and state["round"] > left:
                break
            if time.monotonic() > until:
                self._change(self._leave)
                raise RendezvousTimeoutError(
                    f"{len(state['ranks'])} of at least {self._nodes[0]} machines came to {self._run_id!r} "
                    f"within {self._timeout.join.total_seconds():g} s"
                )
            time.sleep(0.05)
        self.round = state["round"]
        self._keep_alive()
        store = PrefixStore(f"{self._run_id}/round_{self.round}", self._store)
        rank, size = state["ranks"][self._me], len(state["ranks"])
        return RendezvousInfo(store, rank, size, self._place())

    def _place(self) -> RendezvousStoreInfo:
        """The agents' own store, which the processes use as well."""
        store = self._store
        while isinstance(store, PrefixStore):
            store = store.underlying_store
        return RendezvousStoreInfo(getattr(store, "host", "127.0.0.1"), getattr(store, "port", 0))

    def _come(self, state: dict[str, Any], left: int) -> None:
        """One step towards a complete round with us in it."""
        if state["closed"]:
            return
        now = time.time()
        self._forget_silent(state, now)
        if state["complete"] and self._me in state["ranks"] and state["round"] > left:
            return
        state["seen"][self._me] = now
        if state["complete"] and self._me not in state["ranks"] and state["ranks"]:
            state["waiting"][self._me] = True
            return
        if state["complete"]:
            state.update(complete=False, ranks={}, last_call=0.0)
        state["waiting"].pop(self._me, None)
        if len(state["ranks"]) < self._nodes[1]:
            state["ranks"].setdefault(self._me, -1)
        self._complete(state, now)

    def _complete(self, state: dict[str, Any], now: float) -> None:
        count = len(state["ranks"])
        if count < self._nodes[0]:
            state["last_call"] = 0.0
            return
        if not state["last_call"]:
            state["last_call"] = now + self._timeout.last_call.total_seconds()
        if count == self._nodes[1] or now >= state["last_call"]:
            state["ranks"] = {name: rank for rank, name in enumerate(sorted(state["ranks"]))}
            state["complete"], state["round"] = True, state["round"] + 1

    def _forget_silent(self, state: dict[str, Any], now: float) -> None:
        """Drop those who were not heard of; in a complete round they keep their places, which their
        failure shows.
        """
        silent = [name for name, seen in state["seen"].items() if now - seen > self._patience]
        for name in silent:
            state["seen"].pop(name)
            state["waiting"].pop(name, None)
            state["ranks"].pop(name, None)

    def _leave(self, state: dict[str, Any]) -> None:
        for part in ("waiting", "seen"):
            state[part].pop(self._me, None)
        if not state["complete"]:
            state["ranks"].pop(self._me, None)

    # ---- signs of life ----

    def _keep_alive(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._beat, name="taeda-rendezvous", daemon=True)
            self._thread.start()

    def _beat(self) -> None:
        def note(state: dict[str, Any]) -> None:
            state["seen"][self._me] = time.time()

        while not self._stop.wait(self._interval):
            try:
                self._change(note)
            except MemoryError:
                continue  # the next beat tells the same
            except RuntimeError:  # the store is gone; whoever needs it next will say so
                return

    # ---- the end ----

    def is_closed(self) -> bool:
        return bool(self._read()[0]["closed"])

    def set_closed(self) -> None:
        self._change(lambda state: state.update(closed=True))

    def num_nodes_waiting(self) -> int:
        state, _ = self._read()
        return len(state["waiting"]) if state["complete"] else 0

    def get_run_id(self) -> str:
        return self._run_id

    def shutdown(self) -> bool:
        self._stop.set()
        try:
            self._change(self._leave)
        except MemoryError:
            raise
        except (RuntimeError, RendezvousConnectionError):  # the store went first
            return False
        return True


def create_handler(
    store: Store, backend: RendezvousBackend, params: RendezvousParameters
) -> DynamicRendezvousHandler:
    """From parameters; timeouts by the words join_timeout, last_call_timeout, close_timeout, in seconds.

    >>> from taeda import distributed as dist
    >>> from taeda.distributed.elastic.rendezvous import c10d_rendezvous_backend
    >>> store = dist.HashStore()
    >>> backend = c10d_rendezvous_backend.C10dRendezvousBackend(store, "job-7")
    >>> params = RendezvousParameters("c10d", "", "job-7", 1, 4, join_timeout=60)
    >>> handler = create_handler(store, backend, params)
    >>> handler.get_run_id(), handler.is_closed()
    ('job-7', False)
    """
    words = {name: params.get_as_int(f"{name}_timeout") for name in ("join", "last_call", "close")}
    limits = {name: timedelta(seconds=value) for name, value in words.items() if value is not None}
    return DynamicRendezvousHandler.from_backend(
        params.run_id,
        store,
        backend,
        params.min_nodes,
        params.max_nodes,
        params.local_addr,
        RendezvousTimeout(**limits),
        params.get_as_int("keep_alive_interval", 5) or 5,
        params.get_as_int("keep_alive_max_attempt", 3) or 3,
    )
