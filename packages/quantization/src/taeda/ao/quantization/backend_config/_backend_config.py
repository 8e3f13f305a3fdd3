"""What a backend can compute on integers, as data that can be written as dicts and read back."""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import taeda

__all__ = [
    "BackendConfig", "BackendPatternConfig", "DTypeConfig", "DTypeWithConstraints", "ObservationType",
]  # fmt: skip


class ObservationType(enum.Enum):
    """Where results of a pattern get their scale.

    >>> ObservationType.OUTPUT_SHARE_OBSERVER_WITH_INPUT.value
    1
    """

    OUTPUT_USE_DIFFERENT_OBSERVER_AS_INPUT = 0  #: from an observer of their own: convolutions, sums
    OUTPUT_SHARE_OBSERVER_WITH_INPUT = 1  #: they have that of the input: pooling, views
    INPUT_OUTPUT_NOT_OBSERVED = 2  #: they have none


@dataclass
class DTypeWithConstraints:
    """A dtype, and what the backend wants of its integers.

    Args:
        dtype: of the tensor (default: None).
        quant_min_lower_bound, quant_max_upper_bound: the integers that the backend takes
            (default: None).
        scale_min_lower_bound, scale_max_upper_bound: the scales that it takes (default: None).
        scale_exact_match, zero_point_exact_match: the one scale and zero point that it takes
            (default: None).

    >>> import taeda
    >>> seven_bits = DTypeWithConstraints(taeda.quint8, quant_max_upper_bound=127)
    >>> config = DTypeConfig(seven_bits, taeda.quint8)
    >>> config.input_dtype_with_constraints.quant_max_upper_bound
    127
    """

    dtype: Any = None
    quant_min_lower_bound: float | None = None
    quant_max_upper_bound: float | None = None
    scale_min_lower_bound: float | None = None
    scale_max_upper_bound: float | None = None
    scale_exact_match: float | None = None
    zero_point_exact_match: int | None = None


_PARTS = ("input_dtype", "output_dtype", "weight_dtype")


@dataclass
class DTypeConfig:
    """The dtypes of a pattern.

    Args:
        input_dtype, output_dtype, weight_dtype: a dtype or a `DTypeWithConstraints` each
            (default: None).
        bias_dtype: a dtype (default: None).
        is_dynamic: whether inputs get the scale of their own range (default: None).

    >>> import taeda
    >>> DTypeConfig(taeda.quint8, taeda.quint8, taeda.qint8, taeda.float32).weight_dtype
    taeda.qint8
    """

    input_dtype_with_constraints: DTypeWithConstraints
    output_dtype_with_constraints: DTypeWithConstraints
    weight_dtype_with_constraints: DTypeWithConstraints
    bias_dtype: Any
    is_dynamic: bool | None

    def __init__(
        self,
        input_dtype: Any = None,
        output_dtype: Any = None,
        weight_dtype: Any = None,
        bias_dtype: Any = None,
        is_dynamic: bool | None = None,
    ) -> None:
        given = zip(_PARTS, (input_dtype, output_dtype, weight_dtype), strict=True)
        for name, value in given:
            whole = (
                value if isinstance(value, DTypeWithConstraints) else DTypeWithConstraints(value)
            )
            setattr(self, f"{name}_with_constraints", whole)
        self.bias_dtype, self.is_dynamic = bias_dtype, is_dynamic

    @property
    def input_dtype(self) -> Any:
        """The dtype of inputs."""
        return self.input_dtype_with_constraints.dtype

    @property
    def output_dtype(self) -> Any:
        """The dtype of results."""
        return self.output_dtype_with_constraints.dtype

    @property
    def weight_dtype(self) -> Any:
        """The dtype of the weight."""
        return self.weight_dtype_with_constraints.dtype

    @classmethod
    def from_dict(cls, dtype_config_dict: dict[str, Any]) -> Self:
        """The dtypes of a dict with those keys. ValueError for a dtype that is none.

        Args:
            dtype_config_dict: what `to_dict` gave.
        """
        found = {key: dtype_config_dict.get(key) for key in (*_PARTS, "bias_dtype")}
        for key, value in found.items():
            if value is not None and not isinstance(value, (taeda.dtype, DTypeWithConstraints)):
                raise ValueError(f"{key} is a dtype or a DTypeWithConstraints, but got {value!r}")
        return cls(**found, is_dynamic=dtype_config_dict.get("is_dynamic"))

    def to_dict(self) -> dict[str, Any]:
        """The dtypes as a dict, without those that are not set."""
        made = {name: getattr(self, f"{name}_with_constraints") for name in _PARTS}
        found = {name: value for name, value in made.items() if value.dtype is not None}
        if self.bias_dtype is not None:
            found["bias_dtype"] = self.bias_dtype
        if self.is_dynamic is not None:
            found["is_dynamic"] = self.is_dynamic
        return found


class BackendConfig:
    """What a backend can compute on integers: patterns of layers, each with its dtypes.

    Args:
        name: of the backend (default: "").

    Each `set_...` returns the config, so that calls can be chained.

    >>> from taeda import nn
    >>> config = BackendConfig("mine").set_backend_pattern_config(BackendPatternConfig(nn.Linear))
    >>> [pattern.pattern.__name__ for pattern in config.configs]
    ['Linear']
    """

    def __init__(self, name: str = "") -> None:
        self.name = name
        self._patterns: dict[Any, BackendPatternConfig] = {}

    def __repr__(self) -> str:
        return f"BackendConfig({self.__dict__})"

    def set_name(self, name: str) -> BackendConfig:
        """Another name of the backend."""
        self.name = name
        return self

    def set_backend_pattern_config(self, config: BackendPatternConfig) -> BackendConfig:
        """A pattern more; it takes the place of one with the same layers."""
        layers = config._pattern_complex_format
        key = config.pattern if layers is None else layers
        self._patterns[key] = config
        return self

    def set_backend_pattern_configs(self, configs: list[BackendPatternConfig]) -> BackendConfig:
        """Patterns more, each as in `set_backend_pattern_config`."""
        for config in configs:
            self.set_backend_pattern_config(config)
        return self

    @property
    def configs(self) -> list[BackendPatternConfig]:
        """All patterns; a new list."""
        return list(self._patterns.values())

    @classmethod
    def from_dict(cls, backend_config_dict: dict[str, Any]) -> BackendConfig:
        """The config of a dict with "name" and "configs", a list of patterns or of their dicts.

        Args:
            backend_config_dict: what `to_dict` gave.

        ValueError for an entry that is no pattern.
        """
        made = cls(backend_config_dict.get("name", ""))
        for entry in backend_config_dict.get("configs", []):
            if isinstance(entry, dict):
                entry = BackendPatternConfig.from_dict(entry)
            if not isinstance(entry, BackendPatternConfig):
                raise ValueError(
                    f"configs has patterns and their dicts, but got {type(entry).__name__}"
                )
            made.set_backend_pattern_config(entry)
        return made

    def to_dict(self) -> dict[str, Any]:
        """The config as a dict."""
        return {"name": self.name, "configs": [config.to_dict() for config in self.configs]}


#: what a pattern says, by the keys of its dict, and what is not set
_KEYS: dict[str, Any] = {
    "root_module": None, "qat_module": None, "reference_quantized_module_for_root": None,
    "fused_module": None, "fuser_method": None, "root_node_getter": None,
    "extra_inputs_getter": None, "num_tensor_args_to_observation_type": {},
    "input_type_to_index": {},
}  # fmt: skip
_ATTRIBUTES = {
    "reference_quantized_module_for_root": "reference_quantized_module",
    **{
        key: f"_{key}"
        for key in (
            "root_node_getter", "extra_inputs_getter", "num_tensor_args_to_observation_type",
            "input_type_to_index",
        )
    },
}  # fmt: skip


class BackendPatternConfig:
    """How a backend computes a pattern of layers on integers.

    Args:
        pattern: a class of modules, a function, the name of a method, or a tuple of such that
            follow each other (default: None).

    Each `set_...` returns the config, so that calls can be chained.

    >>> from taeda import nn
    >>> pooling = ObservationType.OUTPUT_SHARE_OBSERVER_WITH_INPUT
    >>> config = BackendPatternConfig(nn.MaxPool2d).set_observation_type(pooling)
    >>> config.pattern.__name__, config.observation_type.name
    ('MaxPool2d', 'OUTPUT_SHARE_OBSERVER_WITH_INPUT')
    """

    def __init__(self, pattern: Any = None) -> None:
        self.pattern = pattern
        self.observation_type = ObservationType.OUTPUT_USE_DIFFERENT_OBSERVER_AS_INPUT
        self.dtype_configs: list[DTypeConfig] = []
        self.root_module: Any = None
        self.qat_module: Any = None
        self.reference_quantized_module: Any = None
        self.fused_module: Any = None
        self.fuser_method: Callable[..., Any] | None = None
        self._root_node_getter: Callable[..., Any] | None = None
        self._extra_inputs_getter: Callable[..., Any] | None = None
        self._num_tensor_args_to_observation_type: dict[int, ObservationType] = {}
        self._input_type_to_index: dict[str, int] = {}
        self._pattern_complex_format: Any = None

    def __repr__(self) -> str:
        known = {key: value for key, value in self.__dict__.items() if value}
        return f"BackendPatternConfig({known})"

    def set_pattern(self, pattern: Any) -> BackendPatternConfig:
        """The layers. ValueError if they were set in the other form already."""
        if self._pattern_complex_format is not None:
            raise ValueError("the pattern is set in its complex form already")
        self.pattern = pattern
        return self

    def set_observation_type(self, observation_type: ObservationType) -> BackendPatternConfig:
        """Where results get their scale."""
        self.observation_type = observation_type
        return self

    def add_dtype_config(self, dtype_config: DTypeConfig) -> BackendPatternConfig:
        """Dtypes more that the backend computes with."""
        self.dtype_configs.append(dtype_config)
        return self

    def set_dtype_configs(self, dtype_configs: list[DTypeConfig]) -> BackendPatternConfig:
        """The dtypes that the backend computes with, in place of those that were there."""
        self.dtype_configs = dtype_configs
        return self

    def set_root_module(self, root_module: Any) -> BackendPatternConfig:
        """The class of the module whose weight is quantized."""
        self.root_module = root_module
        return self

    def set_qat_module(self, qat_module: Any) -> BackendPatternConfig:
        """The class of the module that is trained for integers."""
        self.qat_module = qat_module
        return self

    def set_reference_quantized_module(
        self, reference_quantized_module: Any
    ) -> BackendPatternConfig:
        """The class of the module that computes in float with the integers' numbers."""
        self.reference_quantized_module = reference_quantized_module
        return self

    def set_fused_module(self, fused_module: Any) -> BackendPatternConfig:
        """The class of the joined module."""
        self.fused_module = fused_module
        return self

    def set_fuser_method(self, fuser_method: Callable[..., Any]) -> BackendPatternConfig:
        """The function (is_qat, layers...) that joins them."""
        self.fuser_method = fuser_method
        return self

    def _set_root_node_getter(self, root_node_getter: Callable[..., Any]) -> BackendPatternConfig:
        self._root_node_getter = root_node_getter
        return self

    def _set_extra_inputs_getter(
        self, extra_inputs_getter: Callable[..., Any]
    ) -> BackendPatternConfig:
        self._extra_inputs_getter = extra_inputs_getter
        return self

    def _set_num_tensor_args_to_observation_type(
        self, num_tensor_args_to_observation_type: dict[int, ObservationType]
    ) -> BackendPatternConfig:
        self._num_tensor_args_to_observation_type = num_tensor_args_to_observation_type
        return self

    def _set_input_type_to_index(self, input_type_to_index: dict[str, int]) -> BackendPatternConfig:
        self._input_type_to_index = input_type_to_index
        return self

    def _set_pattern_complex_format(self, pattern: Any) -> BackendPatternConfig:
        if self.pattern is not None:
            raise ValueError("the pattern is set already")
        self._pattern_complex_format = pattern
        return self

    @classmethod
    def from_dict(cls, backend_pattern_config_dict: dict[str, Any]) -> BackendPatternConfig:
        """The pattern of a dict.

        Args:
            backend_pattern_config_dict: what `to_dict` gave.

        ValueError for dtypes that are none.
        """
        given = backend_pattern_config_dict
        made = cls(given.get("pattern"))
        made.observation_type = given.get("observation_type", made.observation_type)
        for entry in given.get("dtype_configs", []):
            if isinstance(entry, dict):
                entry = DTypeConfig.from_dict(entry)
            if not isinstance(entry, DTypeConfig):
                raise ValueError(
                    f"dtype_configs has DTypeConfigs and their dicts, but got {type(entry).__name__}"
                )
            made.add_dtype_config(entry)
        for key, default in _KEYS.items():
            plain = default.copy() if isinstance(default, dict) else default
            setattr(made, _ATTRIBUTES.get(key, key), given.get(key, plain))
        made._pattern_complex_format = given.get("pattern_complex_format")
        return made

    def to_dict(self) -> dict[str, Any]:
        """The pattern as a dict, without what is not set."""
        made: dict[str, Any] = {
            "observation_type": self.observation_type,
            "dtype_configs": [config.to_dict() for config in self.dtype_configs],
        }
        if self.pattern is not None:
            made["pattern"] = self.pattern
        if self._pattern_complex_format is not None:
            made["pattern_complex_format"] = self._pattern_complex_format
        for key in _KEYS:
            if value := getattr(self, _ATTRIBUTES.get(key, key)):
                made[key] = value
        return made
