"""How a part that is not installed is to be had, here: from where this core came from, and from no
package index.

The names of these distributions are not published yet. Whoever is told to fetch one from an index
would get what a stranger put there, so the advice names a checkout, a repository or a folder of
wheels, and with it every sibling that is missing too.
"""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Iterator
from importlib import metadata
from typing import Any
from urllib.parse import unquote, urlsplit

__all__ = ["NEEDS", "advice", "missing", "origin"]

#: the siblings that a distribution needs besides taeda-core, each after what it needs itself
NEEDS: dict[str, tuple[str, ...]] = {
    "taeda-autograd": (),
    "taeda-amp": ("taeda-autograd",),
    "taeda-nn": ("taeda-autograd",),
    "taeda-optim": ("taeda-autograd",),
    "taeda-data": (),
    "taeda-masked": ("taeda-autograd",),
    "taeda-nested": ("taeda-autograd",),
    "taeda-quantization": ("taeda-autograd", "taeda-nn"),
    "taeda-vision-ops": ("taeda-autograd",),
    "taeda-benchmark": (),
    "taeda-profiler": (),
    "taeda-cpp-extension": (),
    "taeda-sparse": ("taeda-autograd",),
    "taeda-compile": ("taeda-autograd", "taeda-nn"),
    "taeda-export": ("taeda-autograd", "taeda-nn", "taeda-compile"),
    "taeda-onnx": ("taeda-autograd", "taeda-nn", "taeda-compile", "taeda-export"),
    "taeda-distributions": ("taeda-autograd", "taeda-nn"),
    "taeda-distributed": (
        "taeda-autograd",
        "taeda-nn",
        "taeda-optim",
        "taeda-amp",
        "taeda-sparse",
    ),
}


def advice(name: str) -> str:
    """The command that installs the distribution `name`, with the siblings it needs that are not here."""
    names = [part for part in (*NEEDS[name], name) if missing(part)]
    kind, place = origin()
    if kind == "checkout":
        folders = (os.path.join(place, "packages", part.removeprefix("taeda-")) for part in names)
        return f"pip install {' '.join(map(shlex.quote, folders))}"
    if kind == "repository":
        short = (part.removeprefix("taeda-") for part in names)
        wanted = (f"{place}#subdirectory=packages/{part}" for part in short)
        return "pip install " + " ".join(
            shlex.quote(f"{part} @ {url}") for part, url in zip(names, wanted, strict=True)
        )
    folder = shlex.quote(place) if place else "FOLDER"
    command = f"pip install --no-index --find-links {folder} {' '.join(names)}"
    return command if place else f"{command}   (FOLDER holds the wheels that this core came with)"


def missing(name: str) -> bool:
    """Whether a distribution is not installed."""
    try:
        metadata.distribution(name)
    except metadata.PackageNotFoundError:
        return True
    return False


def origin() -> tuple[str, str]:
    """Where this core came from: ("checkout", its root), ("repository", its URL and commit) or
    ("wheels", folder or "").
    """
    for root in _checkouts():
        if os.path.isfile(os.path.join(root, "packages", "autograd", "pyproject.toml")):
            return "checkout", root
    source = _direct_url()
    if vcs := source.get("vcs_info"):
        return "repository", f"{vcs['vcs']}+{source['url']}@{vcs['commit_id']}"
    place = urlsplit(source.get("url", ""))
    is_wheel = place.scheme == "file" and place.path.endswith(".whl")
    folder = os.path.dirname(unquote(place.path)) if is_wheel else ""
    return "wheels", folder if os.path.isdir(folder) else ""


def _checkouts() -> Iterator[str]:
    """Roots that may be checkouts with packages/core: what pip was given, and where this file lies."""
    place = urlsplit(_direct_url().get("url", ""))
    if place.scheme == "file":
        yield os.path.dirname(os.path.dirname(unquote(place.path).rstrip("/")))
    here = os.path.dirname(os.path.abspath(__file__))
    yield os.path.normpath(os.path.join(here, *[os.pardir] * 5))  # packages/core/src/taeda/_parts


def _direct_url() -> dict[str, Any]:
    """What pip wrote down about the source of taeda-core; nothing if it came by name, or by the
    import path alone.
    """
    try:
        text = metadata.distribution("taeda-core").read_text("direct_url.json")
    except metadata.PackageNotFoundError:
        return {}
    return json.loads(text) if text else {}
