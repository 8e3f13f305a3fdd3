"""keras: models on its torch backend are fitted, saved and read."""

from __future__ import annotations

import tempfile
from typing import Any

import keras
import numpy as np

from .given import normal, uniform

X = np.random.default_rng(0).standard_normal((64, 4)).astype(np.float32)


def _filled(model: Any) -> Any:
    def drawn(shape: tuple[int, ...]) -> Any:
        return uniform(*shape).numpy() * 0.4 + (0.1 if len(shape) == 1 else -0.2)

    model.set_weights([drawn(weight.shape) for weight in model.get_weights()])
    return model


def dense_networks() -> None:
    assert keras.backend.backend() == "torch"
    keras.utils.set_random_seed(0)
    y = X.sum(1, keepdims=True)
    layers = keras.layers
    model = keras.Sequential(
        [
            layers.Input((4,)),
            layers.Dense(8, activation="relu"),
            layers.Dropout(0.1),
            layers.Dense(1),
        ]
    )
    model.compile(optimizer="adam", loss="mse", metrics=["mae"])
    history = model.fit(
        X,
        y,
        epochs=5,
        verbose=0,
        validation_split=0.25,
        callbacks=[keras.callbacks.EarlyStopping(patience=3)],
    ).history
    assert history["loss"][-1] < history["loss"][0]
    with tempfile.TemporaryDirectory() as folder:
        model.save(f"{folder}/m.keras")
        again = keras.models.load_model(f"{folder}/m.keras")
    assert np.allclose(again.predict(X, verbose=0), model.predict(X, verbose=0))
    assert len(model.evaluate(X, y, verbose=0)) == 2


def other_networks() -> Any:
    layers, found = keras.layers, []
    pictures = keras.Sequential(
        [
            layers.Input((8, 8, 1)),
            layers.Conv2D(4, 3, padding="same"),
            layers.BatchNormalization(),
            layers.MaxPooling2D(),
            layers.DepthwiseConv2D(3),
            layers.Flatten(),
            layers.Dense(3, activation="softmax"),
        ]
    )
    words = keras.Sequential(
        [
            layers.Input((6,), dtype="int32"),
            layers.Embedding(10, 4),
            layers.LSTM(5, return_sequences=True),
            layers.GRU(3),
            layers.Dense(1),
        ]
    )
    tokens = keras.Input((6, 4))
    attended = layers.MultiHeadAttention(2, 4)(tokens, tokens)
    mixed = keras.Model(
        tokens, layers.GlobalAveragePooling1D()(layers.LayerNormalization()(attended))
    )
    for model, x in (
        (pictures, normal(16, 8, 8, 1)),
        (words, np.arange(48).reshape(8, 6) % 10),
        (mixed, normal(8, 6, 4)),
    ):
        _filled(model)
        found.append(
            keras.ops.convert_to_numpy(model.predict(np.asarray(x), verbose=0)).ravel().tolist()
        )
    pictures.compile(optimizer="sgd", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
    pictures.fit(np.random.rand(16, 8, 8, 1), np.random.randint(0, 3, 16), verbose=0)
    words.compile(optimizer="rmsprop", loss="mse")
    words.fit(np.random.randint(0, 10, (8, 6)), np.random.rand(8, 1), verbose=0)
    return found
