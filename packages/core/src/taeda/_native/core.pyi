# The compiled module, which taeda/_native/__init__.py starts. Types that are public are typed where they are public.
from typing import Any

from taeda import Generator as Generator
from taeda import Size as Size
from taeda import Tensor as Tensor
from taeda import device as device
from taeda import dtype as dtype
from taeda import layout as layout
from taeda import memory_format as memory_format

def __getattr__(name: str) -> Any: ...
