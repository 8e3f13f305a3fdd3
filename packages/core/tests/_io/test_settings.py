"""What programs set for all saves and loads."""

from __future__ import annotations

from mmap import MAP_PRIVATE

import pytest

from taeda._io import settings


def test_what_holds_at_first():
    assert settings.save == settings.SaveSettings(compute_crc32=True)
    assert settings.load == settings.LoadSettings(False, MAP_PRIVATE, None)
    assert settings.skips_data.get() is False
    assert [e.name for e in settings.LoadEndianness] == ["NATIVE", "LITTLE", "BIG"]


def test_a_setting_that_is_misspelt_is_refused():
    for one in (settings.SaveSettings(), settings.LoadSettings()):
        with pytest.raises(AttributeError):
            one.compute_crc23 = False
