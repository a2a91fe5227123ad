"""The base of rival networks: their settings, their method, their detector, shared layers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from itertools import pairwise
from typing import Any, ClassVar, Self

from torch import Tensor, nn
from torch.nn import functional

from subadjacent.detectors.network import NetworkDetector
from subadjacent.errors import InputError, require_number, require_whole
from subadjacent.methods.neural.defaults import MAX_POINTS_OF_PAIRS
from subadjacent.methods.neural.method import NeuralMethod
from subadjacent.networks.network import Network, NetworkConfig, WindowEvidence

TINY, PAPER = "tiny", "paper"
"""Small enough for a test; as its paper has it."""

# in squared standard deviations
MIN_SQUARED_ERROR = 1e-4


@dataclass(frozen=True, kw_only=True)
class RivalConfig:
    """The settings of a network of another paper.

    The defaults of a subclass are those of the paper, and so is ``usual_window``; ``tiny`` names
    what is smaller in tests. Whole numbers must be at least 1, tuples must hold one such number at
    least, and other numbers must not be negative; ``setting`` declares other bounds.

    Parameters
    ----------
    channels
        Columns of the data.
    window
        Points in a window.
    """

    tiny: ClassVar[Mapping[str, Any]] = {}
    usual_window: ClassVar[int] = 100

    channels: int
    window: int

    def __post_init__(self) -> None:
        require_whole("channels", self.channels, least=1)
        require_whole("window", self.window, least=2)
        for declared in fields(self):
            if declared.default is not MISSING:
                value = getattr(self, declared.name)
                _check_setting(declared.name, value, declared.default, declared.metadata)

    @classmethod
    def sized(cls, size: str, channels: int, window: int, **settings: Any) -> Self:
        """The settings of a named size, overridden by those given."""
        if size not in (TINY, PAPER):
            raise InputError(f"size must be {TINY!r} or {PAPER!r}; got {size!r}")
        chosen = (dict(cls.tiny) if size == TINY else {}) | settings
        return cls(channels=channels, window=window, **chosen)

    @classmethod
    def from_dict(cls, saved: dict[str, Any]) -> Self:
        """The inverse of ``dataclasses.asdict``; a list of JSON is a tuple here."""
        known = {setting.name for setting in fields(cls)}
        if set(saved) != known:
            raise InputError(
                f"network must have the settings {', '.join(sorted(known))}; "
                f"got {', '.join(sorted(saved))}"
            )
        settings: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in saved.items()
        }
        return cls(**settings)


def setting(default: Any, **bounds: float) -> Any:
    """A setting with bounds of its own: those of ``require_whole`` or ``require_number``."""
    return field(default=default, metadata=bounds)


def _check_setting(name: str, value: Any, default: Any, bounds: Mapping[str, Any]) -> None:
    """Refuse a value of another kind than the default, or out of bounds."""
    if isinstance(default, tuple):
        if not isinstance(value, tuple) or not value:
            raise InputError(f"{name} must be a tuple of at least one number; got {value!r}")
        for number in value:
            require_whole(name, number, least=1)
    elif isinstance(default, int):
        require_whole(name, value, **(bounds or {"least": 1}))
    else:
        require_number(name, value, **(bounds or {"least": 0}))


class Rival(Network):
    """A network of another paper, built for windows of one length.

    Unless it overrides ``losses`` and ``assess``, ``forward`` gives the expected values of windows,
    and their squared error is both the loss and the score.
    """

    configured_by: ClassVar[type[RivalConfig]]
    config: RivalConfig

    def losses(self, windows: Tensor, epoch: int) -> Sequence[Tensor]:  # noqa: ARG002 — the same
        """The mean squared error."""
        return [(self(windows) - windows).square().mean()]

    def assess(self, windows: Tensor) -> WindowEvidence:
        """The squared error."""
        expected = self(windows)
        return WindowEvidence(squared_error(expected, windows), expected, {})


class Recurrent(Rival):
    """A recurrent network, which goes through a window point by point."""

    @property
    def context(self) -> int:
        """The first half of a window, which builds up the state."""
        return self.config.window // 2


class OfLastPoint(Rival):
    """A network that assesses only the last point of a window."""

    @property
    def context(self) -> int:
        """All points but the last."""
        return self.config.window - 1


def squared_error(values: Tensor, windows: Tensor) -> Tensor:
    """The squared error of each value, at least that of a hundredth of a deviation.

    Smaller errors do not matter; on constant rows they would set the scale of all scores.
    """
    return (values - windows).square().clamp(min=MIN_SQUARED_ERROR)


def require_heads(width: int, heads: int) -> None:
    """Refuse a width that cannot be shared out evenly among the heads of an attention."""
    if width % heads:
        raise InputError(f"width must be a multiple of heads; got width={width}, heads={heads}")


def chain(widths: Sequence[int], between: type[nn.Module] = nn.ReLU) -> nn.Sequential:
    """Linear layers of these widths, with a ``between`` layer after all but the last."""
    layers: list[nn.Module] = []
    for width, following in pairwise(widths):
        layers += [nn.Linear(width, following), between()]
    return nn.Sequential(*layers[:-1])


def pair_weights(numbers: Tensor) -> Tensor:
    """The attention logits between the nodes of a graph, [attending, attended].

    Of the two numbers of each node, (…, nodes, 2), one counts where it attends and the other where
    it is attended to (Veličković et al., "Graph Attention Networks", ICLR 2018).
    """
    attending, attended = numbers.unbind(dim=-1)
    return functional.leaky_relu(attending[..., None] + attended[..., None, :], 0.2)


@dataclass(frozen=True, kw_only=True)
class RivalMethod(NeuralMethod):
    """The method of a network of another paper.

    Parameters
    ----------
    rival
        The network.
    size
        "paper", or "tiny" for tests.
    settings
        Of the network, by name; the rest goes by the size.
    """

    rival: type[Rival]
    size: str = PAPER
    settings: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__post_init__()
        # what the network refuses for any data is refused now
        self.configure(1, self.usual_window() if isinstance(self.window, str) else self.window)

    @property
    def network(self) -> type[Network]:
        """The class of the network."""
        return self.rival

    def usual_window(self) -> int:
        """The window of the network's own paper."""
        return self.rival.configured_by.usual_window

    def configure(self, channels: int, window: int) -> RivalConfig:
        """The network's settings for this number of channels and window length."""
        return self.rival.configured_by.sized(self.size, channels, window, **self.settings)

    def saved_config(self, saved: dict[str, Any], window: int) -> RivalConfig:
        """The settings of a saved network."""
        config = self.rival.configured_by.from_dict(saved)
        if config.window != window:
            raise InputError(f"window must be the network's {config.window}; got {window}")
        return config

    def longest_window(self, config: NetworkConfig) -> int:  # noqa: ARG002 — the same for all
        """The window limit for networks whose cost grows with all pairs of points."""
        return MAX_POINTS_OF_PAIRS


@dataclass(kw_only=True, eq=False, repr=False)
class RivalDetector(NetworkDetector):
    """A detector around a network of another paper.

    A subclass names the network, and adds the network's own settings to the parameters of every
    ``NetworkDetector``.
    """

    rival: ClassVar[type[Rival]]

    def _method(self) -> RivalMethod:
        settings = self._taken_by(self.rival.configured_by)
        # it depends on the data as well
        del settings["window"]
        return RivalMethod(rival=self.rival, settings=settings, **self._taken_by(RivalMethod))
