"""Two machines on one: network namespaces with a wire between them and a host name each. They need root."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

__all__ = ["Node", "two_nodes", "why_not"]


@dataclass(frozen=True)
class Node:
    """A namespace. Its processes reach the other one's address, and nothing else."""

    namespace: str
    host: str
    address: str
    device: str

    def command(self, words: Sequence[str]) -> list[str]:
        """`words` as a process of this machine: its network, its host name."""
        # both nodes are one kernel, and UCX would go by its memory instead of the wire
        named = 'hostname "$0" && UCX_TLS=tcp,self exec "$@"'
        inside = ["unshare", "--uts", "sh", "-c", named, self.host, *words]
        return ["ip", "netns", "exec", self.namespace, *inside]

    def link(self, state: str) -> None:
        """Pull the plug ("down") or put it in again ("up")."""
        _ip("netns", "exec", self.namespace, "ip", "link", "set", self.device, state)


def why_not() -> str:
    """Why namespaces cannot be made here; empty if they can."""
    if os.geteuid() != 0:
        return "network namespaces need root"
    if not shutil.which("ip") or not shutil.which("unshare"):
        return "network namespaces need the commands ip and unshare"
    name = f"taeda_{os.getpid()}_try"
    made = subprocess.run(["ip", "netns", "add", name], capture_output=True, text=True, check=False)
    if made.returncode:
        return f"this system makes no network namespaces: {made.stderr.strip()}"
    _ip("netns", "del", name)
    return ""


@contextlib.contextmanager
def two_nodes() -> Iterator[tuple[Node, Node]]:
    """Two namespaces and the wire between them; both are gone at the end."""
    stem = f"taeda_{os.getpid()}"
    wires = [f"tw{os.getpid()}{end}" for end in "ab"]  # at most 15 characters
    nodes = [
        Node(f"{stem}_{end}", f"node-{end}", f"10.213.7.{number}", wire)
        for number, (end, wire) in enumerate(zip("ab", wires, strict=True), 1)
    ]
    try:
        for node in nodes:
            _ip("netns", "add", node.namespace)
        _ip("link", "add", wires[0], "type", "veth", "peer", "name", wires[1])
        for node in nodes:
            _ip("link", "set", node.device, "netns", node.namespace)
            for words in (
                ["addr", "add", f"{node.address}/24", "dev", node.device],
                ["link", "set", node.device, "up"],
                ["link", "set", "lo", "up"],
            ):
                _ip("netns", "exec", node.namespace, "ip", *words)
        yield nodes[0], nodes[1]
    finally:
        for node in nodes:  # the wire goes with them
            subprocess.run(["ip", "netns", "del", node.namespace], capture_output=True, check=False)


def _ip(*words: str) -> None:
    done = subprocess.run(["ip", *words], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"ip {' '.join(words)}: {done.stderr.strip()}")
