"""Kill ranks of a training at random moments: with restarts it ends with the weights of a run that
nobody disturbed.

python tools/hunt/restarts.py                            20 kills in three minutes
python tools/hunt/restarts.py --kills 2 --seconds 15     a short run
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from random import Random

PROGRAM = Path(__file__).parents[1] / "testing" / "restart_program.py"
PAUSE = 0.02  # seconds between steps
RANKS = 2


def start(folder: Path, steps: int, restarts: int, errors: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "taeda.distributed.run", "--nproc-per-node", str(RANKS)]
    command += ["--max-restarts", str(restarts), "--monitor-interval", "0.1", str(PROGRAM)]
    env = {**os.environ, "OMP_NUM_THREADS": "1"}
    with errors.open("wb") as file:
        words = [*command, str(folder), str(steps), str(PAUSE)]
        return subprocess.Popen(words, stdout=file, stderr=file, env=env)


def weights(folder: Path) -> list[str]:
    return [(folder / f"weights.{rank}").read_text() for rank in range(RANKS)]


def kill_one(folder: Path, random: Random) -> bool:
    """End a rank by force, if it runs."""
    path = folder / f"pid.{random.randrange(RANKS)}"
    try:
        os.kill(int(path.read_text()), signal.SIGKILL)
        path.unlink()  # not again before it has started again
    except (OSError, ValueError):
        return False
    return True


def disturbed(folder: Path, steps: int, kills: int, seconds: float, random: Random) -> list[str]:
    """The weights of a run that was killed `kills` times; what is wrong is raised."""
    process = start(folder, steps, 2 * kills + 2, folder / "log")
    done, until = 0, time.monotonic() + 10 * seconds + 300
    try:
        while process.poll() is None and time.monotonic() < until:
            time.sleep(random.uniform(0.2, 1.4 * seconds / kills))
            if done < kills and process.poll() is None and kill_one(folder, random):
                done += 1
                print(f"kill {done} of {kills}", flush=True)
        if process.poll() != 0:
            raise SystemExit(
                f"the launcher: {process.poll()}\n{(folder / 'log').read_text()[-3000:]}"
            )
    finally:
        if process.poll() is None:
            process.terminate()
            process.wait()
    if done < kills:
        raise SystemExit(f"the training ended after {done} kills: give it more --seconds")
    return weights(folder)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=180)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    steps = int(options.seconds / (PAUSE + 0.005))
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
        found = disturbed(Path(one), steps, options.kills, options.seconds, Random(options.seed))
        calm = start(Path(other), steps, 0, Path(other) / "log")
        if calm.wait():
            raise SystemExit((Path(other) / "log").read_text()[-3000:])
        same = found == weights(Path(other)) and len(set(found)) == 1
    told = "the same bits" if same else "OTHER BITS"
    seconds = time.monotonic() - begin
    print(f"{steps} steps, {options.kills} kills: {told} as undisturbed, {seconds:.0f} s")
    return not same


if __name__ == "__main__":
    sys.exit(main())
