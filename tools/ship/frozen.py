"""Freeze a program with PyInstaller, as a user does, and run it where no Python is.

    python tools/ship/frozen.py               in an environment with taeda's wheels and PyInstaller
    python tools/ship/frozen.py --into DIR    leaves the program in DIR

PyInstaller finds taeda's hook by its entry point. The program asks for what imports do not show:
rules found in folders, libraries that C opens, tables, compiled graphs.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

PROGRAM = """
import os
import tempfile

import taeda
from taeda import nn


def main():
    taeda.manual_seed(0)
    net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.LSTM(8, 3))
    optimizer = taeda.optim.AdamW(net.parameters(), fused=True)
    net(taeda.randn(5, 4))[0].sum().backward()
    optimizer.step()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "state.pt")
        taeda.save(net.state_dict(), path)
        net.load_state_dict(taeda.load(path))
    a = taeda.randn(3, 3)
    assert taeda.linalg.svd(a).S.shape == (3,) and taeda.fft.fft(a).is_complex()
    entries = a.to_sparse().requires_grad_()
    (entries @ a).sum().backward()
    assert entries.grad.layout == taeda.sparse_coo
    assert taeda.quasirandom.SobolEngine(2).draw(1).shape == (1, 2)
    step = taeda.compile(lambda x: (x * 2).sin().sum())
    assert {step(a).item() for _ in range(4)} == {(a * 2).sin().sum().item()}
    assert taeda.distributions.Normal(0.0, 1.0).log_prob(taeda.tensor(0.0)) < 0
    assert len(list(taeda.utils.data.DataLoader(list(range(8)), batch_size=2))) == 4
    print("frozen taeda", taeda.__version__)


if __name__ == "__main__":
    main()
"""


def freeze(into: Path) -> Path:
    """Freeze PROGRAM into a folder below `into`; return the program."""
    script = into / "program.py"
    script.write_text(PROGRAM)
    places = [f"--{name}path={into / name}" for name in ("dist", "work", "spec")]
    command = [sys.executable, "-m", "PyInstaller", "--noconfirm", "--log-level=WARN", *places]
    subprocess.run([*command, str(script)], check=True)
    return into / "dist" / "program" / "program"


def main() -> int:
    """Freeze, run with an empty environment, and say how large it is."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--into", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        into = (options.into or Path(temporary)).resolve()
        into.mkdir(parents=True, exist_ok=True)
        program = freeze(into)
        done = subprocess.run([str(program)], env={}, cwd=into, check=False)
        size = sum(path.stat().st_size for path in program.parent.rglob("*") if path.is_file())
        print(f"{program.name}: exit status {done.returncode}, {size / 1e6:.0f} MB")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
