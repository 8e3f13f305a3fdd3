"""`taeda.__version__` is what the installer wrote down, read when it is asked for."""

from __future__ import annotations

import subprocess
import sys
from importlib import metadata

import taeda
from taeda import version


def test_the_version_is_that_of_the_distribution():
    assert taeda.__version__ == version.__version__ == metadata.version("taeda-core")


def test_metadata_beside_the_package_comes_before_another_on_the_path(tmp_path, monkeypatch):
    for place, number in (("beside", "7.1.0"), ("before", "8.0.0")):
        info = tmp_path / place / f"taeda_core-{number}.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: taeda-core\nVersion: {number}\n"
        )
    monkeypatch.setattr(sys, "path", [str(tmp_path / "before")])
    monkeypatch.setattr(version, "__file__", str(tmp_path / "beside" / "taeda" / "version.py"))
    assert version._installed() == "7.1.0"
    monkeypatch.setattr(version, "__file__", str(tmp_path / "none" / "taeda" / "version.py"))
    assert version._installed() == "8.0.0"  # an editable install
    monkeypatch.setattr(sys, "path", [])
    assert version._installed() == "0+unknown"


def test_an_import_reads_no_metadata():
    program = "import sys, taeda; print('importlib.metadata' in sys.modules, taeda.__version__)"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["False", metadata.version("taeda-core")]
