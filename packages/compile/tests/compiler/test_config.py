from __future__ import annotations

import logging
import os
import subprocess
import sys

import pytest

import taeda
from taeda.compiler import config


@pytest.fixture(autouse=True)
def _no_job():
    yield
    config.job_id = None


def eager(x):
    return x * x.sum().item()


def test_lines_of_the_log_name_the_job(caplog):
    caplog.set_level(logging.INFO, "taeda.compiler")
    config.job_id = "100%s"
    taeda.compile(eager)(taeda.ones(1))
    assert caplog.messages[0].startswith("100%s: eager stays eager: a value is read")
    caplog.clear()
    config.job_id = None
    taeda.compile(lambda x: x * x.sum().item())(taeda.ones(1))
    assert caplog.messages[0].startswith("test_lines")


def test_the_environment_says_it():
    code = "import taeda.compiler as c; print(c.config.job_id)"
    for value, said in (("a-7", "a-7"), ("", "None")):
        env = {**os.environ, "TAEDA_COMPILE_JOB_ID": value}
        run = [sys.executable, "-c", code]
        made = subprocess.run(run, env=env, capture_output=True, text=True, check=True)
        assert made.stdout.strip() == said


def test_refused():
    with pytest.raises(ValueError, match="a string or None, got 3"):
        config.job_id = 3
    with pytest.raises(AttributeError, match="no 'job'; it has chains, job_id"):
        config.job = "a"


def test_chains():
    assert config.chains == "background"
    for value in ("off", "wait", "background"):
        config.chains = value
        assert config.chains == value
    with pytest.raises(ValueError, match="is one of 'background', 'wait', 'off', got True"):
        config.chains = True
    code = "import taeda.compiler as c; print(c.config.chains)"
    for value, status in (("off", 0), ("none", 1)):
        env = {**os.environ, "TAEDA_COMPILE_CHAINS": value}
        run = [sys.executable, "-c", code]
        made = subprocess.run(run, env=env, capture_output=True, text=True, check=False)
        assert made.returncode == status
        assert made.stdout.strip() == ("off" if status == 0 else "")
    assert "chains (TAEDA_COMPILE_CHAINS) is one of" in made.stderr
