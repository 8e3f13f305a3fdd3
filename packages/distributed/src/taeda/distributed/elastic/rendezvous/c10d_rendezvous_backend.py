"""The state of a rendezvous in a store."""

from __future__ import annotations

import socket
from base64 import b64decode, b64encode
from datetime import timedelta
from typing import Any

from ..._errors import DistError, DistNetworkError
from ..._stores import FileStore, Store, TCPStore
from .api import RendezvousConnectionError, RendezvousParameters
from .dynamic_rendezvous import RendezvousBackend
from .static_tcp_rendezvous import split_endpoint

__all__ = ["C10dRendezvousBackend", "create_backend"]

_NONE = "-"  # what the key holds before there is a state


class C10dRendezvousBackend(RendezvousBackend):
    """The state of the job `run_id`, under one key of `store`.

    >>> from taeda import distributed as dist
    >>> backend = C10dRendezvousBackend(dist.HashStore(), "job-7")
    >>> _, token, replaced = backend.set_state(b"first")
    >>> replaced, backend.get_state()[0]
    (True, b'first')
    """

    def __init__(self, store: Store, run_id: str) -> None:
        if not run_id:
            raise ValueError("the state needs the name of a job, run_id")
        self._store, self._key = store, f"taeda.rendezvous.{run_id}"
        self._call(store.compare_set, self._key, "", _NONE)

    def _call(self, method: Any, *args: Any) -> bytes:
        try:
            return method(*args)
        except DistError as error:
            raise RendezvousConnectionError(f"the store of the rendezvous: {error}") from error

    @property
    def name(self) -> str:
        return "c10d"

    def get_state(self) -> tuple[bytes, Any] | None:
        found = self._call(self._store.get, self._key)
        return None if found == _NONE.encode() else (b64decode(found), found)

    def set_state(self, state: bytes, token: Any = None) -> tuple[bytes, Any, bool] | None:
        wanted = b64encode(state)
        now = self._call(self._store.compare_set, self._key, token or _NONE.encode(), wanted)
        return (b64decode(now), now, now == wanted) if now != _NONE.encode() else None


def create_backend(params: RendezvousParameters) -> tuple[C10dRendezvousBackend, Store]:
    """A backend and its store: "tcp" (the first machine at the endpoint serves it) or "file", by
    the word `store_type`.

    >>> import os, tempfile
    >>> place = os.path.join(tempfile.mkdtemp(), "store")
    >>> params = RendezvousParameters("c10d", place, "job-7", 1, 4, store_type="file")
    >>> backend, store = create_backend(params)
    >>> backend.name, type(store).__name__
    ('c10d', 'FileStore')
    """
    kind = str(params.get("store_type", "tcp")).lower()
    if kind == "file":
        store: Store = FileStore(params.endpoint)
    elif kind == "tcp":
        store = _tcp_store(params)
    else:
        raise ValueError(f"store_type is tcp or file, not {kind!r}")
    return C10dRendezvousBackend(store, params.run_id), store


def _tcp_store(params: RendezvousParameters) -> TCPStore:
    host, port = split_endpoint(params.endpoint, 29400)
    limit = timedelta(seconds=params.get_as_int("read_timeout", 60) or 60)
    is_host = params.get_as_bool("is_host", _is_here(host))
    if is_host:
        try:
            return TCPStore(host, port, is_master=True, timeout=limit)
        except DistNetworkError:  # another agent of this machine was quicker
            pass
    try:
        return TCPStore(host, port, timeout=limit)
    except DistError as error:
        raise RendezvousConnectionError(str(error)) from error


def _is_here(host: str) -> bool:
    """Is the address one of this machine's? A socket can be bound to it, then."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.bind(address)
    except OSError:
        return False
    return True
