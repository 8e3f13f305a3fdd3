"""Files of data beside modules, read by whatever loaded these."""

from __future__ import annotations

import pkgutil

__all__ = ["read"]


def read(package: str, name: str) -> bytes:
    """The bytes of the file `name` beside the modules of a package.

    By `pkgutil`, which is imported already. `importlib.resources` imports more of itself when it
    reads: a handler of a signal that came amid that would find half of it.
    """
    found = pkgutil.get_data(package, name)
    if found is None:
        raise ImportError(f"{name} of {package} cannot be read: its loader gives no data")
    return found
