"""The contract of networks: what training and scoring need of them.

Shapes: B windows, N points in a window, C channels, H heads.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from functools import partial
from typing import Any, ClassVar, NamedTuple, Protocol, Self, runtime_checkable

import torch
from torch import Tensor, nn

from subadjacent.errors import InputError

# a forked process has none of torch's threads, which torch would wait for: it works alone
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=partial(torch.set_num_threads, 1))


class WindowEvidence(NamedTuple):
    """A network's evidence on a batch of windows.

    ``error`` is how badly each value fits, per channel: the squared error of a reconstruction or
    a forecast, the negative log-density of a density model, the distance from the centre of a
    one-class model. A network that has no error per channel repeats one number over the channels.
    ``expected`` is what the network takes to be normal, in the units of the windows, or None.
    ``traces`` are further numbers at each point, by name, for the score and the report.
    ``score`` is how abnormal each point is; None stands for the mean of its errors.
    """

    error: Tensor  # (B, N, C)
    expected: Tensor | None  # (B, N, C)
    traces: Mapping[str, Tensor]  # (B, N) each
    score: Tensor | None = None  # (B, N)


class NetworkConfig(Protocol):
    """The settings of a network: a frozen dataclass of its own, which JSON can hold."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def channels(self) -> int:
        """Columns of the data."""


class Network(nn.Module, ABC):
    """A network that learns from windows of normal data, and judges windows of any data.

    ``recordable`` says that a training step runs the same operations whatever the batch: a GPU
    then records a step once and replays it. ``steady`` says that the losses are the same in
    every epoch; where they are not, a step is recorded anew in each. ``layered`` says that it is
    a chain of ``layers``, each called with the points alone; a GPU then runs them compiled.

    ``shareable`` says that the losses are means over the windows of a batch, none of which
    depends on what other windows are in it, and that all random numbers of a window come from
    ``draws``: several processes can then share a batch out, and learn what one would.
    """

    recordable: ClassVar[bool] = False
    steady: ClassVar[bool] = True
    layered: ClassVar[bool] = False
    shareable: ClassVar[bool] = False

    def __init__(self, config: NetworkConfig) -> None:
        super().__init__()
        self.config = config

    @classmethod
    def seeded(cls, config: Any, seed: int) -> Self:
        """Build with weights that depend on ``seed`` alone; the global generators are untouched."""
        with torch.random.fork_rng(devices=[]):
            # not torch.manual_seed, which reseeds every GPU as well
            torch.default_generator.manual_seed(seed)
            return cls(config)

    @property
    def context(self) -> int:
        """First points of a window that a forecast starts from; 0 for all other networks.

        The evidence on them counts at the beginning of a segment alone, where no other
        window covers them.
        """
        return 0

    @abstractmethod
    def losses(self, windows: Tensor, epoch: int) -> Sequence[Tensor]:
        """The losses to minimise on windows (B, N, C): one number for each optimiser.

        Epochs count from 1. Random numbers may be drawn from torch's global generators, which
        training seeds anew for every epoch.
        """

    def parameter_groups(self) -> Sequence[Sequence[nn.Parameter]]:
        """The parameters of each optimiser; one optimiser with all of them, unless overridden.

        Loss number i changes the parameters of group i and no others. A parameter may be in
        several groups. All gradients of a step are computed before any parameter changes.
        """
        return [list(self.parameters())]

    def conclude(self, training: Iterable[Tensor], held_out: Iterable[Tensor]) -> None:
        """Learn, after the last epoch, what is not learned by gradients; by default nothing.

        Both are batches of windows (B, N, C) in their order, and can be gone through several
        times. What is learned here is kept in buffers, which are saved with the weights.
        """

    @abstractmethod
    def assess(self, windows: Tensor) -> WindowEvidence:
        """Judge windows (B, N, C); the same windows get the same evidence every time."""


@runtime_checkable
class Attentive(Protocol):
    """A network whose attention can be looked at, as in the paper's Figure 3."""

    def attention(self, windows: Tensor) -> Tensor:
        """The attention matrices of every layer, (layers, B, H, N, N) [query, key]."""


def restore_weights(
    kind: type[Network], config: NetworkConfig, weights: Mapping[str, Tensor]
) -> Network:
    """A network of class ``kind`` with saved weights; refuses settings that do not fit them.

    They are compared before anything is allocated: bad settings could ask for any size, while the
    weights are already in memory.
    """
    # each layer has weights of its own, and each unit of a width; a width is asked for by numbers
    # that are computed and not saved as well
    most = {"layers": len(weights)}
    count = sum(tensor.numel() for tensor in weights.values())
    for name in [setting.name for setting in fields(config)]:
        value, limit = getattr(config, name), most.get(name, count)
        # a window may be longer than there are weights, and is bounded by who restores it
        if isinstance(value, int) and value > limit and name != "window":
            raise InputError(
                f"{name} must be that of {count:,} weights in {len(weights)} arrays; got {value:,}"
            )
    with torch.device("meta"):
        needed = {name: tuple(tensor.shape) for name, tensor in kind(config).state_dict().items()}
    # a number was saved as an array of one
    saved = {
        name: () if needed.get(name) == () and tensor.shape == (1,) else tuple(tensor.shape)
        for name, tensor in weights.items()
    }
    if needed != saved:
        name = min(key for key in needed.keys() | saved.keys() if needed.get(key) != saved.get(key))
        raise InputError(
            f"weights must be those of the network's settings; {name} must have shape "
            f"{needed.get(name, 'none')}, got {saved.get(name, 'none')}"
        )
    network = kind.seeded(config, 0)
    network.load_state_dict(weights)
    return network
