"""What the ranks of a group tell each other through the store when they meet: where each runs."""

from __future__ import annotations

import json
import os
import socket
from dataclasses import asdict, dataclass
from datetime import timedelta

from .._stores import Store

__all__ = ["Facts", "meet"]


@dataclass(frozen=True)
class Facts:
    """A rank's process: its id, its machine (kernel, namespace of processes, host name), its place
    among MPI's, its way to other machines if there is only one.
    """

    pid: int
    node: str
    mpi: str = ""
    between: str = ""


def node_name() -> str:
    """The same text in two processes if they can see each other's descriptors and go by the same
    host name.
    """
    with open("/proc/sys/kernel/random/boot_id") as file:
        boot = file.read().strip()
    return f"{socket.gethostname()}/{boot}/{os.stat('/proc/self/ns/pid').st_ino}"


def meet(store: Store, rank: int, ranks: list[int], mine: Facts, timeout: timedelta) -> list[Facts]:
    """Tell the others of `mine`, and return everybody's facts in the order of `ranks`."""
    store.set(f"facts/{rank}", json.dumps(asdict(mine)))
    keys = [f"facts/{other}" for other in ranks]
    store.wait(keys, timeout)
    return [Facts(**json.loads(value)) for value in store.multi_get(keys)]
