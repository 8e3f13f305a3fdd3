"""Shared memory by name: files in /dev/shm, and the connection to the process that removes them.

A file is called after the socket of its watcher, so whoever is told its name can say that he holds it.
"""

from __future__ import annotations

import itertools
import os
import socket
import sys
import threading
from multiprocessing.util import Finalize
from pathlib import Path

from .._native import core as _core
from . import shared_files_watcher as _shared_files_watcher
from .sharing import FILES

Tensor = _core.Tensor
__all__ = ["abandon", "arrived", "create", "created", "sending"]

_numbers = itertools.count()
_sockets: dict[str, socket.socket] = {}
_own: str | None = None  # the watcher that this process, or one it was forked from, has started
_lock = threading.RLock()


def _forget() -> None:
    """A forked process speaks for itself: the connections are its parent's."""
    global _lock
    _lock = threading.RLock()
    for connection in _sockets.values():
        connection.close()  # or the parent would seem to live as long as this process
    _sockets.clear()


os.register_at_fork(after_in_child=_forget)


def create() -> tuple[int, str]:
    """A new watched file: its descriptor and name. OSError if there is none to be had."""
    with _lock:  # one thread at a time asks and waits for the answer
        connection = _connect(_watcher())
        name = f"{FILES}{_own}-{os.getpid()}-{next(_numbers)}"
        connection.send(b"+" + name.encode())
        connection.send(b"?")
        connection.recv(1)  # known before it exists: from here on it cannot be left behind
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    try:
        return os.open(name, flags, 0o600), name  # half-written: it is memory, told of when whole
    except OSError:
        abandon(name)
        raise


def _watcher() -> str:
    global _own
    if _own is None:
        _own = _start_watcher()
    return _own


def created(tensor: Tensor, name: str) -> None:
    """The storage lies in the file now, and its end is the file's."""
    _core.watch_storage(tensor, _connection(name).fileno())


def abandon(name: str) -> None:
    """The file is not needed after all."""
    _connection(name).send(b"-" + name.encode())


def _hold(tensor: Tensor, name: str) -> None:
    """Say that this process holds the file, unless it has said so. RuntimeError if the file is gone."""
    connection = _connection(name)
    if not _core.watch_storage(tensor, connection.fileno()):
        return
    connection.send(b"+" + name.encode())
    if not Path(name).exists():
        raise RuntimeError(
            f"the shared memory {name} has no name any more, as the process that made it has ended: "
            "send it from there, or use the strategy 'file_descriptor'"
        )


def sending(tensor: Tensor, name: str) -> None:
    """A message that speaks of the file leaves this process."""
    _hold(tensor, name)
    _connection(name).send(b"F" + name.encode())


def arrived(tensor: Tensor, name: str) -> None:
    """A message that speaks of the file has arrived here, and its storage is mapped."""
    global _own
    connection = _connection(name)
    if _own is None:
        _own = _token(name)  # one watcher will do
    if _core.watch_storage(tensor, connection.fileno()):
        connection.send(b"+" + name.encode())
    connection.send(b"f" + name.encode())


# ---- the watcher ----


def _address(token: str) -> str:
    return f"\0taeda-shared-files-{token}"


def _connection(name: str) -> socket.socket:
    with _lock:
        return _connect(_token(name))


def _token(name: str) -> str:
    return name.removeprefix(FILES).partition("-")[0]


def _connect(token: str) -> socket.socket:
    found = _sockets.get(token)
    if found is None:
        found = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        found.setblocking(True)
        try:
            found.connect(_address(token))
            _check_own(found, token)
        except OSError as error:
            found.close()
            raise RuntimeError(
                f"the process that watches over {FILES}{token}-* has ended: {error.strerror}"
            ) from error
        except RuntimeError:
            found.close()
            raise
        _sockets[token] = found
        Finalize(None, _say_goodbye, (token,), exitpriority=-100)
    return found


def _check_own(connection: socket.socket, token: str) -> None:
    """Any user may listen under a name that has become free."""
    uid = _shared_files_watcher.peer_uid(connection)
    if uid != os.geteuid():
        raise RuntimeError(
            f"the process that watches over {FILES}{token}-* belongs to user {uid}, this one to user "
            f"{os.geteuid()}: share memory by the strategy 'file_descriptor' between users"
        )


def _say_goodbye(token: str) -> None:
    connection = _sockets.pop(token)
    connection.send(b"!")
    connection.detach()  # open until the process ends: storages that end later still tell so on it


def _start_watcher() -> str:
    """Start the program apart from this one's signals and streams; return its token."""
    token = os.urandom(8).hex()
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listening:
        listening.bind(_address(token))
        listening.listen(1024)
        actions = [
            (os.POSIX_SPAWN_DUP2, listening.fileno(), 0),
            (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
            (os.POSIX_SPAWN_DUP2, 1, 2),
        ]
        command = [sys.executable, "-ISE", _shared_files_watcher.__file__]
        command.append(f"{FILES}{token}-")
        os.posix_spawn(sys.executable, command, os.environ, file_actions=actions, setsid=True)
        _connect(token)  # waits in line until the program is there
    return token
