"""Messages are made the same way every time, every kind of sender occurs, and a short run finds nothing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

TOOLS = Path(__file__).parents[1] / "hunt"
sys.path.insert(0, str(TOOLS))
import fuzz_ports  # noqa: E402 - found through the line above


class Deaf(fuzz_ports.Server):
    """A server with a secret, which nobody asks."""

    def proof(self, greeting: bytes) -> bytes:
        return greeting[::-1] * 2

    def request(self, random: Random, key: bytes) -> bytes:
        return random.randbytes(8)


class Asking(Deaf):
    """One whose requests are their key."""

    def request(self, random: Random, key: bytes) -> bytes:
        return key


def test_the_same_number_makes_the_same_message():
    made = [fuzz_ports.message(Deaf(), b"0123456789" * 2, Random(str(n))) for n in range(60)]
    assert made == [
        fuzz_ports.message(Deaf(), b"0123456789" * 2, Random(str(n))) for n in range(60)
    ]
    assert {who for who, _ in made} == {"stranger", "forger", "client"}


def test_a_forger_never_has_the_proof():
    proof = Deaf().proof(b"0123456789" * 2)
    for n in range(300):
        who, data = fuzz_ports.message(Deaf(), b"0123456789" * 2, Random(str(n)))
        assert data.startswith(proof) == (who == "client")


@pytest.mark.parametrize("name", fuzz_ports.SERVERS)
def test_a_short_run(name):
    program = [sys.executable, str(TOOLS / "fuzz_ports.py"), "--messages", "300", "--servers", name]
    done = subprocess.run(program, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 findings" in done.stdout and not done.stderr


def test_what_a_stranger_wrote_is_found(tmp_path):
    store = fuzz_ports.Store(tmp_path)
    store.check()
    store._store.set(fuzz_ports.INTRUDER.decode(), "1")
    with pytest.raises(fuzz_ports.Finding, match="stranger"):
        store.check()
    helper = fuzz_ports.Pmi(tmp_path)
    helper.check()
    with helper.connect() as made:
        made.sendall(helper.proof(b"") + b"cmd=put key=" + fuzz_ports.INTRUDER + b" value=v\n")
        assert b"put_result" in made.recv(100)
    with pytest.raises(fuzz_ports.Finding, match="stranger"):
        helper.check()
    helper.close()


def test_strangers_ask_for_their_key_and_clients_for_theirs():
    asked = {"stranger": b"", "forger": b"", "client": b""}
    for n in range(200):
        who, data = fuzz_ports.message(Asking(), b"0123456789" * 2, Random(str(n)))
        asked[who] += data
    assert fuzz_ports.INTRUDER in asked["stranger"] and fuzz_ports.INTRUDER in asked["forger"]
    assert fuzz_ports.INTRUDER not in asked["client"] and fuzz_ports.FRIEND in asked["client"]
