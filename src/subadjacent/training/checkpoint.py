"""Training's state in one file, so that an interrupted run continues where it stopped."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from subadjacent.data.windows import Windows
from subadjacent.durable import try_writing, whole_file
from subadjacent.errors import InputError, ModelFileError
from subadjacent.training.group import ALONE, Group
from subadjacent.training.history import Epoch
from subadjacent.training.step import Optimizers
from subadjacent.training.stopping import EarlyStopping

SCHEMA = 2


@dataclass(slots=True)
class TrainingState:
    """All that an interrupted training needs to continue with the same result."""

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
    optimizers: Optimizers,
    state: TrainingState,
    fingerprint: str,
) -> None:
    """Write everything to ``path``; a reader sees the old file or the new one, complete.

    Raises
    ------
    OSError
        When it cannot be written, as on a full disk; the old file is still there.
    """
    from safetensors import SafetensorError
    from safetensors.torch import save_file

    tensors = {f"model.{name}": value for name, value in model.state_dict().items()}
    tensors |= {f"best.{name}": value for name, value in state.best.items()}
    for which, optimizer in enumerate(optimizers):
        for number, moments in optimizer.state_dict()["state"].items():
            tensors |= {f"adam.{which}.{number}.{name}": tensor for name, tensor in moments.items()}
    facts = {
        "schema": SCHEMA,
        "fingerprint": fingerprint,
        "stopping": asdict(state.stopping),
        "history": [asdict(epoch) for epoch in state.history],
    }
    text = json.dumps(facts)
    whole = {name: value.detach().cpu().contiguous() for name, value in tensors.items()}
    with whole_file(path) as unfinished:
        try:
            save_file(whole, unfinished, metadata={"facts": text, "sha256": digest(text, whole)})
        except SafetensorError as error:
            # the system's message, in the form of this library's errors
            raise OSError(str(error).rpartition("rror: ")[2]) from error


def load_checkpoint(
    path: Path,
    model: nn.Module,
    optimizers: Optimizers,
    fingerprint: str,
    group: Group = ALONE,
) -> TrainingState:
    """Restore model and optimisers to the state saved in ``path``.

    The first process of a group reads the file for all: the others may be on other machines.

    Raises
    ------
    ModelFileError
        When the file is damaged, or was made with other settings or other data.
    """
    facts, tensors = group.led(lambda: _read(path, fingerprint))
    try:
        model.load_state_dict(_under("model.", tensors))
        for which, optimizer in enumerate(optimizers):
            moments: dict[int, dict[str, Tensor]] = {}
            for name, value in _under(f"adam.{which}.", tensors).items():
                number, _, moment = name.partition(".")
                moments.setdefault(int(number), {})[moment] = value
            groups = optimizer.state_dict()["param_groups"]
            optimizer.load_state_dict({"state": moments, "param_groups": groups})
        return TrainingState(
            EarlyStopping(**facts["stopping"]),
            _under("best.", tensors),
            [Epoch(**epoch) for epoch in facts["history"]],
        )
    except (KeyError, TypeError, ValueError, RuntimeError) as error:
        # hash and fingerprint fit: written by another version, or forged
        raise ModelFileError(f"{path} is damaged: {error}") from error


def _read(path: Path, fingerprint: str) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """The facts and the tensors of a file; refuses one that is damaged or of another training."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            text, noted = metadata["facts"], metadata["sha256"]
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        facts = json.loads(text)
        schema = facts["schema"]
    except (SafetensorError, KeyError, TypeError, ValueError, RecursionError, OSError) as error:
        raise ModelFileError(f"{path} is not a readable checkpoint ({error})") from error
    if type(schema) is not int or schema != SCHEMA:
        raise ModelFileError(f"{path} has checkpoint schema {schema!r}; expected {SCHEMA}")
    if noted != digest(text, tensors):
        raise ModelFileError(f"{path} is damaged: its content does not match its hash")
    if "fingerprint" not in facts:
        raise ModelFileError(f"{path} is damaged: 'fingerprint' is missing")
    if facts["fingerprint"] != fingerprint:
        raise ModelFileError(
            f"{path} was made with other settings or other data; "
            f"delete it, or name another file as checkpoint"
        )
    return facts, tensors


def has_checkpoint(path: Path) -> bool:
    """Whether there is a file to continue from; refuses a path that can never be one."""
    try:
        if path.exists() and not path.is_file():
            raise _not_writable(path, "it is a folder or a device")
        return path.is_file()
    except OSError as error:
        raise _not_writable(path, error) from error


def require_writable(path: Path) -> None:
    """Refuse, before anything is trained, a path that no checkpoint can be written to."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try_writing(path)
    except OSError as error:
        raise _not_writable(path, error) from error


def digest(facts: str, tensors: dict[str, Tensor]) -> str:
    """A hash of everything that a checkpoint holds."""
    checksum = hashlib.sha256(facts.encode())
    for name in sorted(tensors):
        value = tensors[name]
        checksum.update(f"{name} {value.dtype} {tuple(value.shape)}".encode())
        # as bytes: numpy has no bfloat16
        checksum.update(value.reshape(-1).view(torch.uint8).numpy().data)
    return checksum.hexdigest()


def fingerprint(windows: Windows, validation: Windows, settings: dict[str, Any]) -> str:
    """A short text that changes with any setting, any window or any value of the data."""
    facts = settings | {"window": windows.length, "shape": tuple(windows.values.shape)}
    digest = hashlib.blake2b(json.dumps(facts, sort_keys=True).encode())
    for tensor in (windows.values, windows.starts, validation.starts):
        digest.update(tensor.cpu().contiguous().numpy().data)
    return digest.hexdigest()[:32]


def _not_writable(path: Path, reason: object) -> InputError:
    return InputError(f"checkpoint must be a file that can be written; got {path} ({reason})")


def _under(prefix: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {
        name.removeprefix(prefix): value
        for name, value in tensors.items()
        if name.startswith(prefix)
    }
