"""What the namespace says of itself."""

import pytest

import taeda
from taeda import array_api


def test_the_namespace_answers_for_itself():
    info = array_api.__array_namespace_info__()
    assert info.default_device() == taeda.device("cpu")
    assert info.default_dtypes()["integral"] == taeda.int64
    assert set(info.dtypes(kind="real floating")) == {"float32", "float64"}
    assert len(info.dtypes()) == 13 and info.devices()[0] == taeda.device("cpu")
    assert info.capabilities()["boolean indexing"]
    x = taeda.ones(2)
    assert x.__array_namespace__() is x.__array_namespace__(api_version="2024.12") is array_api
    assert array_api.__array_api_version__ == "2025.12"
    assert x.__array_namespace__(api_version="2025.12") is array_api
    assert isinstance(info.devices(), tuple)
    assert x.to_device("cpu") is x
    with pytest.raises(ValueError, match=r"2025\.12 is there"):
        x.__array_namespace__(api_version="1999.01")
