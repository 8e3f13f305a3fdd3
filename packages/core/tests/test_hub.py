"""Downloads are whole or not there; models come from folders alone."""

import hashlib

import pytest

import taeda
from taeda import hub


@pytest.fixture
def weights(tmp_path):
    path = tmp_path / "source" / "w.safetensors"
    path.parent.mkdir()
    taeda.save({"w": taeda.arange(3)}, path)
    return path


def test_weights_are_fetched_once(weights, tmp_path, monkeypatch):
    monkeypatch.setattr(hub, "_chosen", None)
    monkeypatch.setenv("TORCH_HOME", str(tmp_path / "home"))
    assert hub.get_dir() == str(tmp_path / "home" / "hub")
    hub.set_dir(tmp_path / "cache")
    for _ in range(2):
        made = hub.load_state_dict_from_url(weights.as_uri(), progress=False)
        assert made["w"].tolist() == [0, 1, 2]
        weights.unlink(missing_ok=True)
    assert (tmp_path / "cache" / "checkpoints" / "w.safetensors").exists()


def test_a_wrong_hash_leaves_no_file(weights, tmp_path, capsys):
    target = tmp_path / "t.bin"
    with pytest.raises(RuntimeError, match='expected "00000000"'):
        hub.download_url_to_file(weights.as_uri(), target, "00000000")
    assert list(tmp_path.glob("t.bin*")) == []
    right = hashlib.sha256(weights.read_bytes()).hexdigest()
    hub.download_url_to_file(weights.as_uri(), target, right[:8])
    assert target.read_bytes() == weights.read_bytes()
    assert "100 %" in capsys.readouterr().err


def test_models_of_a_folder(tmp_path):
    (tmp_path / "parts.py").write_text("value = 4\n")
    (tmp_path / "hubconf.py").write_text(
        "import parts\ndef net(x):\n    'A net.'\n    return x + parts.value\ndef _hidden():\n    pass\n"
    )
    assert hub.list(tmp_path) == ["net"]
    assert hub.help(tmp_path, "net") == "A net."
    assert hub.load(tmp_path, "net", 1, source="local") == 5
    with pytest.raises(RuntimeError, match="Cannot find callable _hidden"):
        hub.load(tmp_path, "_hidden", source="local")
    with pytest.raises(NotImplementedError, match="clone some/repo"):
        hub.load("some/repo", "net")
    with pytest.raises(FileNotFoundError, match=r"no hubconf\.py"):
        hub.list(tmp_path / "none")


def test_records_of_a_torch_file(tmp_path):
    path = tmp_path / "w.pt"
    taeda.save({"w": taeda.arange(3, dtype=taeda.float32)}, path, format="pt")
    reader = taeda.PyTorchFileReader(str(path))
    assert {"data.pkl", "version", "data/0"} <= set(reader.get_all_records())
    assert reader.get_storage_from_record("data/0", 3, taeda.float32).tolist() == [0, 1, 2]
    assert reader.has_record("version") and reader.version() == 3
    with pytest.raises(RuntimeError, match="no record 'x'"):
        reader.get_record("x")
    with pytest.raises(RuntimeError, match="need more"):
        reader.get_storage_from_record("data/0", 9, taeda.float32)
    (tmp_path / "other").write_bytes(b"nothing")
    with pytest.raises(RuntimeError, match="no zip archive"):
        taeda.PyTorchFileReader(str(tmp_path / "other"))
