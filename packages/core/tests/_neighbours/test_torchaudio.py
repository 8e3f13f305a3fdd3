"""torchaudio without its compiled part: a package of that shape, in a process of its own."""

import subprocess
import sys

UTILS = """
import torch

def _load_lib(lib):
    torch.ops.load_library(__file__.replace('utils.py', lib + '.so'))
    return True
"""
PROGRAM = """
import sys
sys.path.insert(0, sys.argv[1])
import taeda
taeda.install_as_torch()
from torchaudio._extension import utils
assert utils._load_lib('_torchaudio') is False
"""


def test_compiled_part_that_does_not_load_is_no_part(tmp_path):
    folder = tmp_path / "torchaudio" / "_extension"
    folder.mkdir(parents=True)
    for place in (folder, folder.parent):
        (place / "__init__.py").touch()
    (folder / "utils.py").write_text(UTILS)
    (folder / "_torchaudio.so").write_bytes(b"built against another core")
    subprocess.run([sys.executable, "-c", PROGRAM, str(tmp_path)], check=True)
