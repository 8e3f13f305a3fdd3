"""`python -m taeda port`: imports rewritten in every form, and files that are refused."""

import ast
import subprocess
import sys

import pytest

from taeda._torch_names.porting import NotPorted, port, ported

FORMS = {
    "import torch\n": "import taeda as torch\n",
    "import torch as T\n": "import taeda as T\n",
    "import torch.nn as nn\n": "import taeda.nn as nn\n",
    "import torch.nn.functional\n": "import taeda as torch, taeda.nn.functional\n",
    "import os, torch, torch.nn as nn\n": "import os, taeda as torch, taeda.nn as nn\n",
    "import torch, torch.nn, torch.optim\n": "import taeda as torch, taeda.nn, taeda.optim\n",
    "from torch import nn, Tensor as T\n": "from taeda import nn, Tensor as T\n",
    "from torch.utils.data import DataLoader\n": "from taeda.utils.data import DataLoader\n",
    "from  torch . nn import (\n    Linear,\n)\n": "from  taeda . nn import (\n    Linear,\n)\n",
    "import torch; import sys\r\n": "import taeda as torch; import sys\r\n",
    "def f():\n\tfrom torch import nn\n": "def f():\n\tfrom taeda import nn\n",
    "# \u00e9 torch\nx = '\u00e9'; import torch\n": "# \u00e9 torch\nx = '\u00e9'; import taeda as torch\n",
    "text = 'import torch'\n": "text = 'import torch'\n",
    "from .torch import x\nimport torchless\n": "from .torch import x\nimport torchless\n",
}


@pytest.mark.parametrize("before", [key for key in FORMS if "torchless" not in key])
def test_forms(before):
    assert ported(before.encode()).decode() == FORMS[before]
    ast.parse(FORMS[before])


def test_a_module_named_like_torch_that_is_not_installed_counts_as_built_on_it():
    with pytest.raises(NotPorted, match="1: torchless imports torch itself"):
        ported(b"import torchless")


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf", b"# coding: latin-1\n"])
def test_encoding_and_what_is_not_imported_stay(mark):
    name = "é".encode("latin-1" if b"latin" in mark else "utf-8")
    before = mark + b"import torch  # " + name + b"\r\nx = 1"
    assert ported(before) == mark + b"import taeda as torch  # " + name + b"\r\nx = 1"


REFUSED = {
    "import torch\nprint(torch.no_such_thing(1))": "2: torch.no_such_thing is not there",
    "from torch.nn import NoSuchLayer": "1: torch.nn.NoSuchLayer is not there",
    "import torch.no_such_module": "1: torch.no_such_module is not there",
    "import importlib\nimportlib.import_module('torch.nn')": "2: 'torch.nn' is a name in a string",
    "import sys\nsys.modules['torch']": "2: 'torch' is a name in a string",
    "exec('import torch')": "1: a string that is run imports torch",
    "import torch\ntaeda = 3": "2: the program has a name `taeda` of its own",
    "import torch\nimport torchvision": "2: torchvision imports torch itself",
    "import torch\nif": "2: this is no Python that can be read",
}


@pytest.mark.parametrize("source", REFUSED)
def test_refusals(source):
    with pytest.raises(NotPorted) as caught:
        ported(source.encode())
    (reason,) = caught.value.reasons
    assert reason.startswith(REFUSED[source])


def test_every_reason_is_told_at_once():
    with pytest.raises(NotPorted) as caught:
        ported(b"import torch\ntorch.absent_a\ntorch.nn.absent_b.c\ntorch.nn.Linear.weight")
    assert [reason.partition(" is")[0] for reason in caught.value.reasons] == [
        "2: torch.absent_a",
        "3: torch.nn.absent_b",
    ]


def test_a_name_that_the_program_binds_otherwise_is_not_followed():
    before = b"import torch\ntorch = fake = 3\ntorch.no_such_thing"
    assert ported(before) == before.replace(b"import torch", b"import taeda as torch")


def test_files_change_whole_or_not_at_all(tmp_path, capsys):
    good, bad, none = (tmp_path / name for name in ("good.py", "bad.py", "none.py"))
    good.write_text("import torch\n")
    bad.write_text("import torch\ntorch.absent_a\n")
    none.write_text("x = 1\n")
    assert port(["--dry-run", str(good)]) == 0 and good.read_text() == "import torch\n"
    assert "-import torch\n+import taeda as torch\n" in capsys.readouterr().out
    assert port([str(good), str(bad), str(none), str(tmp_path / "absent.py")]) == 1
    assert good.read_text() == "import taeda as torch\n"
    assert bad.read_text() == "import torch\ntorch.absent_a\n"
    told = capsys.readouterr().err
    assert f"{bad}:2: torch.absent_a is not there" in told and f"{bad}: left as it is" in told
    assert f"{none}: nothing of torch is imported" in told
    assert "absent.py: No such file" in told


def test_the_command_and_a_program_that_it_ported(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        "import torch.nn.functional as F\nimport torch, torch.utils.data\nfrom torch import nn\n"
        "print(F.relu(nn.Linear(2, 1)(torch.zeros(3, 2))).shape, torch.utils.data.DataLoader.__module__)\n"
    )
    outputs = []
    for words in (["-m", "taeda", "port", program], [program]):
        done = subprocess.run([sys.executable, *words], check=True, capture_output=True, text=True)
        outputs.append(done.stdout)
    assert outputs[0].count("\n+import") == 2
    assert outputs[1].startswith("taeda.Size([3, 1]) taeda")
