"""Weights from the network, and models from a folder with a `hubconf.py`.

Files lie in `get_dir()`: TORCH_HOME, or $XDG_CACHE_HOME/torch, or ~/.cache/torch, and there in
`hub`, as programs expect.
"""

from __future__ import annotations

import builtins
import hashlib
import importlib.util
import os
import re
import sys
import urllib.request
from types import ModuleType
from typing import Any
from urllib.parse import urlparse

from taeda._io.atomic import atomic_write

__all__ = [
    "download_url_to_file", "get_dir", "help", "list", "load", "load_state_dict_from_url", "set_dir",
]  # fmt: skip

_chosen: str | None = None
HASH_REGEX = re.compile(r"-([a-f0-9]{8,64})\.")
_BLOCK = 1 << 20


def _get_torch_home() -> str:
    """The folder of caches."""
    base = os.getenv("XDG_CACHE_HOME", "~/.cache")
    return os.path.expanduser(os.getenv("TORCH_HOME", os.path.join(base, "torch")))


def get_dir() -> str:
    """Where downloaded files lie: what `set_dir` chose, or `hub` in the folder of caches.

    >>> taeda.hub.set_dir("cache")
    >>> taeda.hub.get_dir()
    'cache'
    """
    return _chosen or os.path.join(_get_torch_home(), "hub")


def set_dir(d: str | os.PathLike[str]) -> None:
    """Keep downloaded files elsewhere, in this process.

    >>> taeda.hub.set_dir("cache")
    >>> taeda.hub.get_dir()
    'cache'
    """
    global _chosen
    _chosen = os.path.expanduser(os.fspath(d))


def download_url_to_file(
    url: str, dst: str | os.PathLike[str], hash_prefix: str | None = None, progress: bool = True
) -> None:
    """Write what lies at `url` to the file `dst`, which is there whole or not at all.

    With `hash_prefix` its SHA-256 has to begin so: RuntimeError otherwise, and no file. `progress`
    shows bytes on stderr.

    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "there.txt").write_text("three words more")
    >>> here = folder / "here.txt"
    >>> taeda.hub.download_url_to_file((folder / "there.txt").as_uri(), str(here), progress=False)
    >>> here.read_text()
    'three words more'
    """
    request = urllib.request.Request(url, headers={"User-Agent": "taeda.hub"})
    digest = hashlib.sha256()
    with urllib.request.urlopen(request) as source, atomic_write(os.path.expanduser(dst)) as file:
        total = int(source.headers.get("Content-Length") or 0)
        done = 0
        while block := source.read(_BLOCK):
            file.write(block)
            digest.update(block)
            done += len(block)
            if progress:
                _show(done, total)
        if progress:
            sys.stderr.write("\n")
        found = digest.hexdigest()
        if hash_prefix is not None and not found.startswith(hash_prefix):
            raise RuntimeError(f'invalid hash value (expected "{hash_prefix}", got "{found}")')


def _show(done: int, total: int) -> None:
    share = f" of {total / 1e6:.1f} MB ({100 * done // total} %)" if total else " MB"
    sys.stderr.write(f"\r{done / 1e6:.1f}{share}")


def load_state_dict_from_url(
    url: str,
    model_dir: str | None = None,
    map_location: Any = None,
    progress: bool = True,
    check_hash: bool = False,
    file_name: str | None = None,
    weights_only: bool = True,
) -> Any:
    """What `taeda.load` reads from the file at `url`, kept in `model_dir` (`checkpoints` of
    `get_dir()`) for the next time.

    With `check_hash` the name has to end in part of its SHA-256, as in `model-5c106cde.pth`, and
    the content has to fit.

    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> taeda.save({"weight": taeda.ones(2)}, folder / "model.pt")
    >>> url = (folder / "model.pt").as_uri()
    >>> taeda.hub.load_state_dict_from_url(url, str(folder / "kept"), progress=False)
    {'weight': tensor([1., 1.])}
    """
    import taeda

    folder = os.path.join(get_dir(), "checkpoints") if model_dir is None else model_dir
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, file_name or os.path.basename(urlparse(url).path))
    if not os.path.exists(path):
        sys.stderr.write(f"Downloading: {url} to {path}\n")
        match = HASH_REGEX.search(os.path.basename(path)) if check_hash else None
        download_url_to_file(url, path, match and match.group(1), progress)
    return taeda.load(path, map_location=map_location, weights_only=weights_only)


# ---- models of a folder ----


def _entries(folder: str) -> ModuleType:
    """The module of a folder's `hubconf.py`, whose own imports find that folder."""
    path = os.path.join(folder, "hubconf.py")
    spec = importlib.util.spec_from_file_location("hubconf", path)
    if not os.path.exists(path) or spec is None or spec.loader is None:
        raise FileNotFoundError(f"hub: {folder} has no hubconf.py")
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, folder)
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(folder)
    return module


def _folder(name: Any, source: str) -> str:
    if source != "local":
        raise NotImplementedError(
            f"hub: code is not fetched and run from {source}: clone {name} and give the folder "
            "with source='local'"
        )
    return os.path.expanduser(os.fspath(name))


def _callable(folder: str, model: str) -> Any:
    found = getattr(_entries(folder), model, None)
    if not callable(found) or model.startswith("_"):
        raise RuntimeError(f"Cannot find callable {model} in hubconf")
    return found


def list(github: Any, *, source: str = "local", **options: Any) -> builtins.list[str]:
    """The names of the models in a folder. NotImplementedError unless source is "local".

    >>> _ = open("hubconf.py", "w").write("def tiny(): return 'a model'")
    >>> taeda.hub.list(".", source="local")
    ['tiny']
    """
    entries = vars(_entries(_folder(github, source)))
    return [name for name, value in entries.items() if callable(value) and name[0] != "_"]


def help(github: Any, model: str, *, source: str = "local", **options: Any) -> str | None:
    r"""The documentation of a model in a folder.

    >>> _ = open("hubconf.py", "w").write("def tiny():\n    'A model of one layer.'\n")
    >>> taeda.hub.help(".", "tiny", source="local")
    'A model of one layer.'
    """
    return _callable(_folder(github, source), model).__doc__


def load(
    repo_or_dir: Any,
    model: str,
    *args: Any,
    source: str = "github",
    trust_repo: Any = None,
    force_reload: bool = False,
    verbose: bool = True,
    skip_validation: bool = False,
    **kwargs: Any,
) -> Any:
    """What the function `model` of a folder's `hubconf.py` returns for the arguments.
    That code runs: trust it first.

    NotImplementedError unless source is "local".

    >>> _ = open("hubconf.py", "w").write("def tiny(size=1): return f'a model of size {size}'")
    >>> taeda.hub.load(".", "tiny", source="local", size=3)
    'a model of size 3'
    """
    return _callable(_folder(repo_or_dir, source), model)(*args, **kwargs)
