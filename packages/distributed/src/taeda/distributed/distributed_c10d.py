"""Groups and collectives under the name by which many scripts import them."""

from __future__ import annotations

from . import _collectives, _messages, _objects, _setup, _types
from ._collectives import *  # noqa: F403 - the files name what they give
from ._errors import DistBackendError, DistError, DistNetworkError, DistStoreError, QueueEmptyError
from ._groups.group import ProcessGroup
from ._groups.work import Work
from ._groups.world import GroupMember, group, the_group
from ._messages import *  # noqa: F403 - the files name what they give
from ._objects import *  # noqa: F403 - the files name what they give
from ._setup import *  # noqa: F403 - the files name what they give
from ._stores import FileStore, HashStore, PrefixStore, Store, TCPStore
from ._types import *  # noqa: F403 - the files name what they give
from .constants import default_pg_timeout
from .rendezvous import register_rendezvous_handler, rendezvous

__all__ = [
    "DistBackendError",
    "DistError",
    "DistNetworkError",
    "DistStoreError",
    "FileStore",
    "GroupMember",
    "HashStore",
    "PrefixStore",
    "ProcessGroup",
    "QueueEmptyError",
    "Store",
    "TCPStore",
    "Work",
    "default_pg_timeout",
    "group",
    "register_rendezvous_handler",
    "rendezvous",
]
__all__ += _setup.__all__
__all__ += _collectives.__all__
__all__ += _messages.__all__
__all__ += _objects.__all__
__all__ += _types.__all__


def _get_default_group() -> ProcessGroup:
    """The default group. ValueError without one."""
    made = the_group(None, "_get_default_group")
    assert made is not None
    return made
