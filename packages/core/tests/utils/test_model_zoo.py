import sys

import taeda
from taeda.utils import model_zoo


def test_it_is_the_hub_under_its_older_name():
    assert model_zoo.load_url is taeda.hub.load_state_dict_from_url


def test_bars_count_where_tqdm_is_not_installed(monkeypatch):
    for name in ("tqdm", "tqdm.auto"):
        monkeypatch.setitem(sys.modules, name, None)
    names = {}
    with open(model_zoo.__file__) as file:
        exec(compile(file.read(), model_zoo.__file__, "exec"), names)
    with names["tqdm"](total=3, unit="B") as bar:
        bar.update(2)
        bar.update()
    assert (bar.n, bar.total) == (3, 3)
