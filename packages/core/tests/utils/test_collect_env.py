"""The facts as a table and as text."""

from __future__ import annotations

import taeda
from taeda.utils import collect_env


def test_facts_as_a_table_and_as_text(capsys):
    info = collect_env.get_env_info()
    assert info["taeda"]["version"].startswith(taeda.__version__)
    text = collect_env.pretty_str(info)
    assert text == collect_env.get_pretty_env_info()
    assert all(value in text for rows in info.values() for value in rows.values())
    collect_env.main()
    assert capsys.readouterr().out == text
