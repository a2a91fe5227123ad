"""Train a network to its best weights: the loop with stopping, time limit and checkpoint."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import torch

from subadjacent.data.windows import Windows
from subadjacent.errors import InputError, SubAdjacentError
from subadjacent.networks.network import Network
from subadjacent.runtime import Watch, ignore
from subadjacent.training.checkpoint import (
    TrainingState,
    fingerprint,
    has_checkpoint,
    load_checkpoint,
    require_writable,
    save_checkpoint,
)
from subadjacent.training.config import TrainingConfig
from subadjacent.training.group import Group, current
from subadjacent.training.history import Epoch
from subadjacent.training.loop import is_over, train
from subadjacent.training.recorded import WORTH_COMPILING
from subadjacent.training.step import Optimizers, make_optimizers
from subadjacent.training.stopping import EarlyStopping

log = logging.getLogger(__name__)


def fit_network(
    model: Network,
    windows: Windows,
    validation: Windows,
    config: TrainingConfig,
    autocast: torch.autocast,
    *,
    checkpoint: Path | None = None,
    compiled: bool | None = None,
    group: Group | None = None,
    watch: Watch = ignore,
    clock: Callable[[], float] = time.monotonic,
) -> list[Epoch]:
    """Train ``model`` in place, leave it with its best weights, and return the epochs.

    With ``checkpoint``, the state is written there after every epoch, and a run that finds
    such a file continues from it; the result is that of an unbroken run. If it cannot be written,
    as on a full disk, one warning says so and training goes on. Without epochs, the
    network keeps the weights it came with. ``compiled`` says whether to fuse the layers'
    kernels, on a GPU; None does so where training is long enough to pay for it.

    ``group`` are the processes that train together, those that this one has joined when None. All
    of them end with the same weights; the first alone writes, logs and is watched.
    """
    group = group or current()
    optimizers = make_optimizers(model, config.learning_rate)
    if compiled is None:
        compiled = config.epochs * len(windows) >= WORTH_COMPILING * config.batch_size
    made_for = ""
    if checkpoint is not None or group.size > 1:
        # a time limit only stops sooner or later: it may change between two runs. Its name is
        # that of 0.2, whose checkpoints are continued
        settings = asdict(config) | {"model": asdict(model.config), "budget": None}
        del settings["max_training_time"]
        settings["precision"] = _precision(autocast, windows.values.device.type)
        made_for = fingerprint(windows, validation, settings)
        _check_group(model, made_for, group)
    keeper = _StateKeeper(checkpoint, made_for, group)
    state = keeper.restore(model, optimizers, config)

    limit = config.max_training_time
    left = math.inf if limit is None else limit - state.elapsed
    deadline = clock() + left
    remaining = train(
        model,
        windows,
        validation,
        config,
        optimizers,
        autocast,
        first=len(state.history) + 1,
        deadline=deadline,
        compiled=compiled,
        group=group,
        watch=watch if group.leads else ignore,
        clock=clock,
    )
    while not state.finished and (not state.history or not is_over(deadline, clock, group)):
        epoch = next(remaining, None)
        if epoch is None:
            break
        if group.leads:
            _log(epoch)
        state.history.append(epoch)
        if state.stopping.update(epoch.validation_error):
            state.best = {name: value.clone() for name, value in model.state_dict().items()}
        # an epoch cut short by the time limit cannot be resumed; the next run repeats it whole
        if epoch.complete:
            keeper.save(model, optimizers, state)
    if state.history and not state.best:
        raise SubAdjacentError(
            f"training diverged: no epoch gave a finite validation error with "
            f"learning_rate={config.learning_rate}; try a smaller one"
        )
    if state.best:
        model.load_state_dict(state.best)
    model.eval()
    return state.history


class _StateKeeper:
    """Keeps a training's state in its checkpoint, if it has one; the first process alone writes."""

    def __init__(self, checkpoint: Path | None, made_for: str, group: Group) -> None:
        self._checkpoint, self._made_for, self._group = checkpoint, made_for, group
        self._warned = False

    def restore(
        self, model: Network, optimizers: Optimizers, config: TrainingConfig
    ) -> TrainingState:
        """The state to continue from: that of the checkpoint, or a new one."""
        state = TrainingState(EarlyStopping(config.patience))
        checkpoint, group = self._checkpoint, self._group
        if checkpoint is None:
            return state
        if group.led(lambda: has_checkpoint(checkpoint)):
            state = load_checkpoint(checkpoint, model, optimizers, self._made_for, group)
            if group.leads:
                log.info("going on from %s, after epoch %d", checkpoint, len(state.history))
        if not state.finished and len(state.history) < config.epochs:
            group.led(lambda: require_writable(checkpoint))
        return state

    def save(self, model: Network, optimizers: Optimizers, state: TrainingState) -> None:
        """Write the state; where that fails, training goes on, and the first failure is logged."""
        if self._checkpoint is None or not self._group.leads:
            return
        try:
            save_checkpoint(self._checkpoint, model, optimizers, state, self._made_for)
        except OSError as error:
            # a full disk may have room again after the next epoch, and the result needs none
            if not self._warned:
                log.warning(
                    "the checkpoint %s cannot be written (%s): training goes on, and would "
                    "go on from an earlier epoch if it were interrupted",
                    self._checkpoint,
                    error.strerror or error,
                )
            self._warned = True


def _check_group(model: Network, made_for: str, group: Group) -> None:
    """Refuse a network that several processes cannot train to the weights that one would."""
    if group.size == 1:
        return
    if not model.shareable:
        raise InputError(
            f"network must be one that {group.size} processes can train to the weights that one "
            f"would give; got {type(model).__name__}, of which the windows of a batch cannot be "
            f"shared out: train it in one process"
        )
    if len(set(group.gather(made_for))) > 1:
        raise InputError(
            "every process must be given the same rows, settings and seed; got others in some "
            "of them (random_state=None draws a seed in each)"
        )


def _precision(autocast: torch.autocast, device: str) -> str:
    with autocast:
        enabled = torch.is_autocast_enabled(device)
        return str(torch.get_autocast_dtype(device) if enabled else torch.float32)


def _log(epoch: Epoch) -> None:
    traces = "".join(f", {name} {value:.3f}" for name, value in epoch.traces.items())
    log.info(
        "epoch %d: train loss %.5f, validation error %.5f%s, %.1f s",
        epoch.number,
        epoch.train_loss,
        epoch.validation_error,
        traces,
        epoch.seconds,
    )
