"""The handlers that come with this package."""

from __future__ import annotations

from .api import RendezvousHandler, RendezvousParameters, rendezvous_handler_registry
from .c10d_rendezvous_backend import create_backend
from .dynamic_rendezvous import create_handler
from .static_tcp_rendezvous import create_rdzv_handler

__all__ = ["get_rendezvous_handler"]


def _create_c10d(params: RendezvousParameters) -> RendezvousHandler:
    backend, store = create_backend(params)
    return create_handler(store, backend, params)


rendezvous_handler_registry.register("static", create_rdzv_handler)
rendezvous_handler_registry.register("c10d", _create_c10d)


def get_rendezvous_handler(params: RendezvousParameters) -> RendezvousHandler:
    """A handler for `params.backend`: "static", "c10d", or one that was registered.

    >>> params = RendezvousParameters("static", "node-1:29500", "job-7", 2, 2, rank=1)
    >>> handler = get_rendezvous_handler(params)
    >>> handler.get_backend(), handler.get_run_id()
    ('static', 'job-7')
    """
    return rendezvous_handler_registry.create_handler(params)
