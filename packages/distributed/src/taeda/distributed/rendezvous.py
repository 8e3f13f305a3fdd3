"""From an address to a store, a rank and a world size: `env://`, `tcp://host:port`, `file:///path`,
and others by registration.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from datetime import timedelta
from urllib.parse import parse_qs, urlparse

from ._mpi import world as mpi_world
from ._mpi.launched import LAUNCHERS, launcher, slurm_address
from ._mpi.meeting import meet_over_mpi
from ._settings import STORE_TIMEOUT, env
from ._stores import FileStore, PrefixStore, Store, TCPStore

__all__ = ["register_rendezvous_handler", "rendezvous"]

Meeting = tuple[Store, int, int]
Handler = Callable[..., Iterator[Meeting]]
_handlers: dict[str, Handler] = {}


def register_rendezvous_handler(scheme: str, handler: Handler) -> None:
    """Let `handler(url, timeout=...)` serve addresses of `scheme`; it yields (store, rank, world
    size). RuntimeError if taken.

    Args:
        scheme: what stands before "://" in such addresses.
        handler: called as `handler(url, timeout=...)`, yields (store, rank, world size).

    >>> from taeda import distributed as dist
    >>> def alone(url, timeout):
    ...     yield dist.HashStore(), 0, 1
    >>> dist.register_rendezvous_handler("alone", alone)
    >>> dist.init_process_group("gloo", init_method="alone://")
    >>> dist.get_world_size()
    1
    >>> dist.destroy_process_group()
    """
    if scheme in _handlers:
        raise RuntimeError(f"the scheme {scheme}:// has a handler already")
    _handlers[scheme] = handler


def rendezvous(
    url: str, rank: int = -1, world_size: int = -1, timeout: timedelta = STORE_TIMEOUT
) -> Iterator[Meeting]:
    """Yield (store, rank, world size) for the address; `rank` and `world_size` go before what it
    says itself.

    Args:
        url: an address such as "env://", "tcp://host:port" or "file:///path".
        rank: this process's number; -1, the default, leaves it to the address.
        world_size: how many processes there are; -1, the default, leaves it to the address.
        timeout: how long the store waits, as a timedelta.

    >>> import pathlib, tempfile
    >>> from taeda import distributed as dist
    >>> place = pathlib.Path(tempfile.mkdtemp(), "store").as_uri()
    >>> store, rank, world_size = next(dist.rendezvous(place, rank=0, world_size=2))
    >>> rank, world_size
    (0, 2)
    """
    if not isinstance(url, str):
        raise RuntimeError(f"init_method is a str such as 'env://', not {url!r}")
    parts = urlparse(url)
    if parts.scheme not in _handlers:
        known = ", ".join(f"{scheme}://" for scheme in _handlers)
        raise RuntimeError(f"no rendezvous for {url!r}; there are {known}")
    words = {name: values[-1] for name, values in parse_qs(parts.query).items()}
    for name, given in (("rank", rank), ("world_size", world_size)):
        if given != -1:
            words[name] = str(given)
    query = "&".join(f"{name}={value}" for name, value in words.items())
    return _handlers[parts.scheme](parts._replace(query=query).geturl(), timeout=timeout)


def _number(words: dict[str, list[str]], name: str, url: str, variable: str = "") -> int:
    """A number from the address or the environment. ValueError says where to put it."""
    text = words[name][-1] if name in words else os.environ.get(variable)
    if text is None:
        where = f"set the environment variable {variable}" if variable else f"add {name}= to {url}"
        raise ValueError(f"{name} is not known: give it to init_process_group, or {where}")
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"{name} is a number, not {text!r}") from None


def _by_env(url: str, timeout: timedelta = STORE_TIMEOUT) -> Iterator[Meeting]:
    words = parse_qs(urlparse(url).query)
    by = launcher() or LAUNCHERS[0]
    size = _number(words, "world_size", url, by.size)
    rank = _number(words, "rank", url, by.rank)
    _check(rank, size)
    given = [name for name in ("MASTER_ADDR", "MASTER_PORT") if name in os.environ]
    if not given and by.by_mpi and mpi_world.is_available():
        yield meet_over_mpi(rank, size, timeout), rank, size
        return
    if not given and by.name == "Slurm":
        host, port = slurm_address()
    else:
        for name in ("MASTER_ADDR", "MASTER_PORT"):
            if name not in given:
                raise ValueError(f"env:// needs the environment variable {name}; taedarun sets it")
        host, port = os.environ["MASTER_ADDR"], _number({}, "MASTER_PORT", url, "MASTER_PORT")
    yield _tcp_store(host, port, rank, size, timeout), rank, size


def _by_tcp(url: str, timeout: timedelta = STORE_TIMEOUT) -> Iterator[Meeting]:
    parts = urlparse(url)
    words = parse_qs(parts.query)
    if not parts.hostname or parts.port is None:
        raise ValueError(
            f"tcp:// needs an address and a port, as in tcp://10.1.1.20:23456; got {url!r}"
        )
    rank, size = _number(words, "rank", url), _number(words, "world_size", url)
    _check(rank, size)
    yield _tcp_store(parts.hostname, parts.port, rank, size, timeout), rank, size


def _by_file(url: str, timeout: timedelta = STORE_TIMEOUT) -> Iterator[Meeting]:
    parts = urlparse(url)
    if not parts.path or parts.netloc:
        raise ValueError(
            f"file:// needs the whole path of a new file, as in file:///mnt/share/new; got {url!r}"
        )
    words = parse_qs(parts.query)
    rank, size = _number(words, "rank", url), _number(words, "world_size", url)
    _check(rank, size)
    store = FileStore(parts.path, size)
    store.set_timeout(timeout)
    yield store, rank, size


def _check(rank: int, size: int) -> None:
    if size < 1:
        raise ValueError(f"world_size is at least 1, not {size}")
    if not 0 <= rank < size:
        raise ValueError(f"rank {rank} is outside of a world of {size}: 0 to {size - 1}")


def _tcp_store(host: str, port: int, rank: int, size: int, timeout: timedelta) -> Store:
    """The store at an address; served by rank 0, unless the launcher's agent serves it there."""
    by_agent = env("ELASTIC_USE_AGENT_STORE") == "True" or (
        os.environ.get("TORCHELASTIC_USE_AGENT_STORE") == "True"
    )
    serves = rank == 0 and not by_agent
    store = TCPStore(host, port, size, serves, timeout, wait_for_workers=False, multi_tenant=serves)
    turn = (
        os.environ.get(name, "0") for name in ("TAEDA_ELASTIC_ROUND", "TORCHELASTIC_RESTART_COUNT")
    )
    return PrefixStore("/worker/round_{}/attempt_{}".format(*turn), store) if by_agent else store


register_rendezvous_handler("env", _by_env)
register_rendezvous_handler("tcp", _by_tcp)
register_rendezvous_handler("file", _by_file)
