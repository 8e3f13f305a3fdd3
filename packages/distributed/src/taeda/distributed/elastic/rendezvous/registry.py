"""The handlers that come with this package."""

from __future__ import annotations

from .api import RendezvousHandler, RendezvousParameters, rendezvous_handler_registry
from .static_tcp_rendezvous import create_rdzv_handler

__all__ = ["get_rendezvous_handler"]

rendezvous_handler_registry.register("static", create_rdzv_handler)


def get_rendezvous_handler(params: RendezvousParameters) -> RendezvousHandler:
    """A handler for `params.backend`: "static"."""
    return rendezvous_handler_registry.create_handler(params)
