"""What a program that an error ends shows of taeda."""

import os
import re
import subprocess
import sys
import traceback

import pytest

import taeda
from taeda import _tracebacks

#: (what ends the program, the name of the function that it called)
ENDS = [
    ("taeda.tensor(['a'])", "tensor"),
    ("taeda.ones(3)[0.5]", "getitem"),
    ("taeda.load(PATH)", "load"),
    ("taeda.einsum('ij,jk->ik', taeda.ones(2, 3), taeda.ones(2, 3))", ""),
    ("taeda.hub.load('nowhere', 'model', source='local')", "load"),
    ("taeda.save(lambda: 1, PATH + '.new')", "save"),
]  # fmt: skip
FRAME = re.compile(r'^  File "(.*)", line \d+, in (.*)$', re.M)


def ended(code, tmp_path, **environment):
    """(frames of the program, frames of taeda, all that was written) of a program that ends by an error."""
    script = tmp_path / "program.py"
    script.write_text(code)
    environment = {
        **{k: v for k, v in os.environ.items() if k != _tracebacks.VARIABLE},
        **environment,
    }
    done = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, env=environment, check=False
    )
    assert done.returncode == 1, done.stderr
    frames = FRAME.findall(done.stderr)
    own = [function for file, function in frames if file == str(script)]
    return own, [function for file, function in frames if "/taeda/" in file], done.stderr


@pytest.mark.parametrize(("call", "name"), ENDS)
def test_at_most_two_frames_of_ours(call, name, tmp_path):
    (tmp_path / "file.pt").write_bytes(b"PK\3\4 and no more")
    code = f"import taeda\nPATH = {str(tmp_path / 'file.pt')!r}\ndef work():\n    {call}\nwork()\n"
    own, ours, text = ended(code, tmp_path)
    assert own == ["<module>", "work"]
    assert len(ours) <= 2 and (not ours or name in ours[0])
    own, whole, text = ended(code, tmp_path, TAEDA_TRACEBACK="whole")
    assert len(whole) >= len(ours) and "left out" not in text


def test_what_lies_between_frames_of_the_program_is_left_out(tmp_path):
    code = """
import taeda
taeda.ones(2).apply_(lambda number: number / 0)
"""
    own, ours, text = ended(code, tmp_path)
    assert (own, ours) == (["<module>", "<lambda>"], [])
    assert re.match(r"\(\d+ frames of taeda left out: TAEDA_TRACEBACK=whole shows them\)\n", text)
    assert text.endswith("ZeroDivisionError: float division by zero\n")


def test_causes_are_short_too_and_a_hook_of_the_program_is_kept(tmp_path):
    code = """
import sys
import traceback

def hook(kind, error, trace):
    print(kind.__name__, len(traceback.extract_tb(error.__cause__.__traceback__)), file=sys.stderr)

sys.excepthook = hook
import taeda
try:
    taeda.tensor([['a']])
except TypeError as error:
    caught = error
    assert len(traceback.extract_tb(error.__traceback__)) > 3
    raise ValueError("no numbers") from error
"""
    assert "ValueError 3\n" in ended(code, tmp_path)[2]


def test_error_keeps_its_whole_traceback():
    with pytest.raises(TypeError) as caught:
        taeda.tensor([["a"]])
    whole = traceback.extract_tb(caught.value.__traceback__)
    short = traceback.extract_tb(_tracebacks.shown(caught.value.__traceback__))
    assert len(short) == 3 < len(whole) and short[-1] == whole[-1] and short[1].name == "tensor"
    assert len(traceback.extract_tb(caught.value.__traceback__)) == len(whole)
    assert _tracebacks.shown(None) is None


def test_cells_of_ipython_are_short(monkeypatch):
    class Shell:
        custom_exceptions = ()

        def set_custom_exc(self, kinds, handler):
            self.custom_exceptions, self.handler = kinds, handler

        def showtraceback(self, found, tb_offset):
            self.seen = len(traceback.extract_tb(found[2]))

    shell = Shell()
    monkeypatch.setitem(sys.modules, "IPython", type("IPython", (), {"get_ipython": lambda: shell}))
    monkeypatch.delenv(_tracebacks.VARIABLE, raising=False)
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)
    _tracebacks.install()
    with pytest.raises(TypeError) as caught:
        taeda.tensor([["a"]])
    shell.handler(shell, TypeError, caught.value, caught.tb)
    assert shell.seen == 3
