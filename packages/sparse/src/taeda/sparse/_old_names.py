"""Old names of products, as they stand at the top of the namespace."""

from __future__ import annotations

from taeda import mm

from ._more_products import hspmm as hsmm
from ._more_products import sspaddmm as saddmm

__all__ = ["dsmm", "hsmm", "saddmm", "spmm"]

dsmm = spmm = mm
