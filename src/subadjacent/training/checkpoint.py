"""Training's state in one file, so that a killed run goes on where it stopped."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from subadjacent.data.windows import Windows
from subadjacent.errors import ModelFileError
from subadjacent.training.loop import Epoch
from subadjacent.training.stopping import EarlyStopping

SCHEMA = 1


@dataclass(slots=True)
class TrainingState:
    """All that an interrupted training needs to go on as if nothing had happened."""

    stopping: EarlyStopping
    best: dict[str, Tensor] = field(default_factory=dict)
    history: list[Epoch] = field(default_factory=list)

    @property
    def elapsed(self) -> float:
        """Seconds of training so far."""
        return sum(epoch.seconds for epoch in self.history)

    @property
    def finished(self) -> bool:
        """Whether training has stopped by itself."""
        ended_early = bool(self.history) and not self.history[-1].complete
        return ended_early or self.stopping.should_stop


def save_checkpoint(
    path: Path,
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    state: TrainingState,
    fingerprint: str,
) -> None:
    """Write everything to ``path``; whoever looks sees the old file or the new one, whole."""
    from safetensors.torch import save_file

    tensors = {f"model.{name}": value for name, value in model.state_dict().items()}
    tensors |= {f"best.{name}": value for name, value in state.best.items()}
    for number, moments in optimizer.state_dict()["state"].items():
        tensors |= {f"adam.{number}.{name}": value for name, value in moments.items()}
    facts = {
        "schema": SCHEMA,
        "fingerprint": fingerprint,
        "stopping": asdict(state.stopping),
        "history": [asdict(epoch) for epoch in state.history],
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        whole = {name: value.detach().cpu().contiguous() for name, value in tensors.items()}
        save_file(whole, unfinished, metadata={"facts": json.dumps(facts)})
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def load_checkpoint(
    path: Path, model: nn.Module, optimizer: torch.optim.Optimizer, fingerprint: str
) -> TrainingState:
    """Bring model and optimizer to where ``path`` left them.

    Raises
    ------
    ModelFileError
        When the file is damaged, or was made with other settings or other data.
    """
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="pt") as file:
            facts = json.loads((file.metadata() or {})["facts"])
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, KeyError, ValueError, OSError) as error:
        raise ModelFileError(f"{path} is not a readable checkpoint ({error})") from error
    if facts["schema"] != SCHEMA:
        raise ModelFileError(f"{path} has checkpoint schema {facts['schema']}; expected {SCHEMA}")
    if facts["fingerprint"] != fingerprint:
        raise ModelFileError(
            f"{path} was made with other settings or other data; "
            f"delete it, or name another file as checkpoint"
        )
    model.load_state_dict(_under("model.", tensors))
    moments: dict[int, dict[str, Tensor]] = {}
    for name, value in _under("adam.", tensors).items():
        number, _, moment = name.partition(".")
        moments.setdefault(int(number), {})[moment] = value
    optimizer.load_state_dict(
        {"state": moments, "param_groups": optimizer.state_dict()["param_groups"]}
    )
    return TrainingState(
        stopping=EarlyStopping(**facts["stopping"]),
        best=_under("best.", tensors),
        history=[Epoch(**epoch) for epoch in facts["history"]],
    )


def fingerprint(windows: Windows, validation: Windows, settings: dict[str, Any]) -> str:
    """A short text that changes with any setting, any window or any value of the data."""
    facts = settings | {"window": windows.length, "shape": tuple(windows.values.shape)}
    digest = hashlib.blake2b(json.dumps(facts, sort_keys=True).encode())
    for part in (windows.values, windows.starts, validation.starts):
        digest.update(part.cpu().contiguous().numpy().data)
    return digest.hexdigest()[:32]


def _under(prefix: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {
        name.removeprefix(prefix): value
        for name, value in tensors.items()
        if name.startswith(prefix)
    }
