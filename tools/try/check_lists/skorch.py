"""skorch: classifiers and regressors of scikit-learn's kind."""

from __future__ import annotations

import pickle
import tempfile
from typing import Any

import numpy as np
import torch
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from skorch import NeuralNetClassifier, NeuralNetRegressor
from skorch.callbacks import Checkpoint, EarlyStopping, EpochScoring, LRScheduler

X = np.random.default_rng(0).standard_normal((64, 4)).astype(np.float32)
Y = (X.sum(1) > 0).astype(np.int64)


class Net(torch.nn.Module):
    def __init__(self, width: int = 8, out: int = 2) -> None:
        super().__init__()
        self.parts = torch.nn.Sequential(
            torch.nn.Linear(4, width), torch.nn.ReLU(), torch.nn.Linear(width, out)
        )

    def forward(self, x: Any) -> Any:
        return self.parts(x)


OPTIONS = {
    "criterion": torch.nn.CrossEntropyLoss,
    "optimizer": torch.optim.Adam,
    "lr": 0.05,
    "max_epochs": 8,
    "verbose": 0,
}


def classifies() -> None:
    net = NeuralNetClassifier(Net, **OPTIONS, iterator_train__shuffle=True)
    chain = make_pipeline(StandardScaler(), net).fit(X, Y)
    assert chain.score(X, Y) > 0.85 and chain.predict_proba(X).shape == (64, 2)
    again = pickle.loads(pickle.dumps(net))
    assert (again.predict(X) == net.predict(X)).all()
    with tempfile.TemporaryDirectory() as folder:
        net.save_params(
            f"{folder}/net.pt", f_optimizer=f"{folder}/opt.pt", f_history=f"{folder}/h.json"
        )
        other = NeuralNetClassifier(Net, **OPTIONS).initialize()
        other.load_params(
            f"{folder}/net.pt", f_optimizer=f"{folder}/opt.pt", f_history=f"{folder}/h.json"
        )
        assert (other.predict(X) == net.predict(X)).all()


def searches() -> None:
    net = NeuralNetClassifier(Net, **OPTIONS, train_split=None)
    grid = GridSearchCV(net, {"lr": [0.01, 0.1], "module__width": [4, 8]}, cv=2, refit=True).fit(
        X, Y
    )
    assert grid.best_score_ > 0.6 and cross_val_score(net, X, Y, cv=2).shape == (2,)


def regresses_with_callbacks() -> None:
    target = X.sum(1, keepdims=True)
    with tempfile.TemporaryDirectory() as folder:
        callbacks = [
            EarlyStopping(patience=5),
            Checkpoint(dirname=folder, monitor="valid_loss_best"),
            LRScheduler(torch.optim.lr_scheduler.StepLR, step_size=4),
            EpochScoring("r2", lower_is_better=False),
        ]
        options = {**OPTIONS, "criterion": torch.nn.MSELoss, "max_epochs": 25}
        net = NeuralNetRegressor(Net, module__out=1, callbacks=callbacks, **options).fit(X, target)
        assert net.history[-1, "train_loss"] < net.history[0, "train_loss"]
