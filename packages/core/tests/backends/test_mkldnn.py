"""oneDNN is not used, and its calls are not promised to be printed."""

from __future__ import annotations

import pytest

from taeda.backends import mkldnn


def test_it_is_absent():
    assert mkldnn.is_available() is False
    with mkldnn.verbose(mkldnn.VERBOSE_OFF):
        pass
    with pytest.raises(RuntimeError, match="not used"), mkldnn.verbose(mkldnn.VERBOSE_ON):
        pass
