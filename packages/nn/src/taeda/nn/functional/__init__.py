"""Layers as functions: tensors in, tensors out, nothing kept. One file a family."""

from __future__ import annotations

from .activation import *  # noqa: F403 - every file names what it gives
from .attention import *  # noqa: F403
from .conv import *  # noqa: F403
from .distance import *  # noqa: F403
from .dropout import *  # noqa: F403
from .embedding import *  # noqa: F403
from .interpolation import *  # noqa: F403
from .linear import *  # noqa: F403
from .loss_classes import *  # noqa: F403
from .loss_pairs import *  # noqa: F403
from .loss_regression import *  # noqa: F403
from .loss_sequence import *  # noqa: F403
from .normalization import *  # noqa: F403
from .padding import *  # noqa: F403
from .pooling import *  # noqa: F403
from .sampling import *  # noqa: F403
from .unpooling import *  # noqa: F403
from .vision import *  # noqa: F403
