"""Layers, losses and containers, one family a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .activation import *  # noqa: F403 - every file names what it gives
from .adaptive import *  # noqa: F403
from .batchnorm import *  # noqa: F403
from .container import *  # noqa: F403
from .conv import *  # noqa: F403
from .distance import *  # noqa: F403
from .dropout import *  # noqa: F403
from .flatten import *  # noqa: F403
from .fold import *  # noqa: F403
from .instancenorm import *  # noqa: F403
from .lazy_conv import *  # noqa: F403
from .linear import Bilinear as Bilinear
from .linear import Identity as Identity
from .linear import LazyLinear as LazyLinear
from .linear import Linear as Linear
from .loss import *  # noqa: F403
from .module import Module as Module
from .normalization import *  # noqa: F403
from .padding import *  # noqa: F403
from .parameter_container import *  # noqa: F403
from .pixelshuffle import *  # noqa: F403
from .pooling import *  # noqa: F403
from .rnn import *  # noqa: F403
from .sparse import *  # noqa: F403
from .transformer import *  # noqa: F403
from .upsampling import *  # noqa: F403

# A type checker takes what the imports bring: it reads no list that is put together.
if not TYPE_CHECKING:
    __all__ = [name for name, value in globals().items() if isinstance(value, type)]
