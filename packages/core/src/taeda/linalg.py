"""Operations of the linalg namespace, from the op table."""

from ._errors import LinAlgError as LinAlgError
from ._native import core as _core

globals().update(_core.functions.get("linalg", {}))
