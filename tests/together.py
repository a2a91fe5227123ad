"""Several processes that ``torchrun`` starts, and what they do together in tests.

``torchrun … tests/together.py TASK FOLDER`` runs a task in all of them.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Self

import torch
from safetensors.torch import save_file
from torch import Tensor, nn

from running import GENEROUS
from subadjacent.data.windows import Windows
from subadjacent.detectors.transformer import SubAdjacentTransformerDetector
from subadjacent.errors import InputError
from subadjacent.networks.network import Network, WindowEvidence
from subadjacent.rivals.anomaly_transformer import AnomalyTransformer, AnomalyTransformerConfig
from subadjacent.rivals.base import TINY, Rival
from subadjacent.rivals.dagmm import DAGMM
from subadjacent.rivals.gdn import GDN
from subadjacent.rivals.gta import GTA
from subadjacent.rivals.lstm import LSTM
from subadjacent.rivals.lstm_vae import LSTMVAE
from subadjacent.rivals.mad_gan import MADGAN
from subadjacent.rivals.mscred import MSCRED
from subadjacent.rivals.mtad_gat import MTADGAT
from subadjacent.rivals.npsr import NPSR
from subadjacent.rivals.omni_anomaly import OmniAnomaly
from subadjacent.rivals.thoc import THOC
from subadjacent.rivals.timesnet import TimesNet
from subadjacent.rivals.tranad import TranAD
from subadjacent.rivals.uae import UAE
from subadjacent.rivals.usad import USAD
from subadjacent.runtime import Progress, Watch, ignore
from subadjacent.training.config import TrainingConfig
from subadjacent.training.device import autocast
from subadjacent.training.fit import fit_network
from subadjacent.training.group import Group, joined
from subadjacent.training.step import Pass, plain_step
from tiny import CPU, WINDOW, network, windows

REFUSED: tuple[type[Rival], ...] = (DAGMM, LSTM, MTADGAT, TimesNet)
RIVALS: tuple[type[Rival], ...] = (
    GDN, GTA, LSTMVAE, MADGAN, MSCRED, NPSR, OmniAnomaly, THOC, TranAD, UAE, USAD,
)  # fmt: skip
SIZES = ((7, 3), (5, 8), (4, 1))
"""Windows and batch sizes: a last batch of one, fewer windows than a batch, than processes."""

OF_KEYS = ("project.bias", "in_proj_bias")
"""Endings of what holds the biases of keys. Attention cancels them out, so that their gradients
are rounding alone, of which Adam takes steps as long as any other."""

CONFIG = TrainingConfig(epochs=4, batch_size=16, learning_rate=3e-3)


class DiesOnce(SubAdjacentTransformerDetector):
    """Its process is killed in the second epoch of the first fit; a later one goes on."""

    def fit(self, X: Any, y: Any = None, *, watch: Watch = ignore) -> Self:  # noqa: ARG002
        book = Path(f"{self.checkpoint}.deaths")

        def die_or_tell(progress: Progress) -> None:
            deaths = self.deaths()
            if not deaths and progress.note.startswith("epoch 2"):
                book.write_text("died\n")
                os.kill(os.getpid(), signal.SIGKILL)
            if len(deaths) == 1:
                book.write_text(f"died\n{progress.note}\n")

        return super().fit(X, y, watch=die_or_tell)

    def deaths(self) -> list[str]:
        """That it died, and the epoch in which it went on."""
        book = Path(f"{self.checkpoint}.deaths")
        return book.read_text().splitlines() if book.exists() else []


def start(processes: int, *arguments: object, restarts: int = 0, **others: Any) -> Any:
    """Start ``torchrun`` on this host, with a Python file or module and its arguments."""
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    options = [f"--nproc-per-node={processes}", f"--max-restarts={restarts}"]
    return subprocess.Popen(
        [*launcher, *options, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        **others,
    )


def run(processes: int, *arguments: object, fails: bool = False, **others: Any) -> tuple[str, str]:
    """What they write on both streams, all of them together."""
    with start(processes, *arguments, **others) as started:
        out, said = started.communicate(timeout=GENEROUS)
    assert (started.returncode != 0) == fails, f"exit {started.returncode}\n{out}\n{said}"
    return out, said


def rival(kind: type[Rival], seed: int = 0) -> Rival:
    """A network of another paper for the windows of ``tiny``."""
    return kind.seeded(kind.configured_by.sized(TINY, 2, WINDOW), seed)


def networks() -> dict[str, Network]:
    """A new network of each kind that processes can train together, by name."""
    others: list[Network] = [
        network(),
        AnomalyTransformer.seeded(AnomalyTransformerConfig(2, 8, 2, 1, 8), 0),
        *map(rival, RIVALS),
    ]
    return {type(one).__name__: one for one in others}


def train_all(group: Group) -> dict[str, Tensor]:
    """The weights and the errors of every network, after two epochs on windows of each size."""
    found: dict[str, Tensor] = {}
    for count, batch in SIZES:
        # other sizes are shared out in the same way, whatever the network
        kinds = list(networks().items())[: len(networks()) if batch == 3 else 1]
        for name, model in kinds:
            data = windows(WINDOW + count - 1)
            config = TrainingConfig(epochs=2, batch_size=batch)
            held_out = windows(WINDOW + 1, seed=1)
            history = fit_network(model, data, held_out, config, autocast(CPU), group=group)
            case = f"{name} {count} {batch}"
            found |= {f"{case} {key}": value for key, value in model.state_dict().items()}
            curves = [list(epoch.curves().values()) for epoch in history]
            found[f"{case} curves"] = torch.tensor(curves)
    return found


class Slope(Network):
    """One linear layer, a number, that is to learn the slope 2 from a slope of 1."""

    def __init__(self) -> None:
        super().__init__(None)  # type: ignore[arg-type]  # it has no settings
        self.layer = nn.Linear(1, 1, bias=False)
        nn.init.ones_(self.layer.weight)

    def losses(self, windows: Tensor, epoch: int) -> Sequence[Tensor]:  # noqa: ARG002
        return [(self.layer(windows) - 2 * windows).square().mean()]

    def assess(self, windows: Tensor) -> WindowEvidence:
        return WindowEvidence(windows, None, {})


def by_hand(group: Group) -> dict[str, Tensor]:
    """One step of plain descent at a rate of 0.1 on the windows 1, 2 and 3, of one row each."""
    model = Slope()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    step = plain_step(model, [optimizer], autocast(CPU), group)
    rows = Windows(torch.tensor([[1.0], [2.0], [3.0]]), torch.arange(3), length=1)
    one = Pass(step, rows, 3, group)
    one.train_on(torch.arange(3))
    return {"slope": model.layer.weight.detach(), "loss": one.losses}


def equal(group: Group, folder: Path) -> None:
    """Write what each process comes to, and what the processes say of bad input."""
    found = by_hand(group)
    found = {f"by hand {name}": value for name, value in found.items()} | train_all(group)
    save_file(found, folder / f"{group.size}-{group.rank}.safetensors")
    refusals = {kind.__name__: refused(rival(kind), group, 0) for kind in REFUSED}
    refusals["seeds"] = refused(network(), group, group.rank)
    refusals["led"] = said_by_all(group)
    refusals["late"] = str(late(group))
    (folder / f"{group.size}-{group.rank}.json").write_text(json.dumps(refusals))


def refused(model: Network, group: Group, seed: int) -> str:
    """The error that a training ends with."""
    config = TrainingConfig(epochs=1, seed=seed)
    try:
        fit_network(model, windows(), windows(), config, autocast(CPU), group=group)
    except InputError as error:
        return str(error)
    return ""


def said_by_all(group: Group) -> str:
    """What all processes raise where the first one fails at what it does for all."""
    assert group.led(lambda: group.rank) == 0

    def fail() -> None:
        raise InputError.of("disk", "must be there", "got none")

    try:
        group.led(fail)
    except InputError as error:
        return f"{error.argument}: {error}"
    return ""


def late(group: Group) -> list[object]:
    """Epochs of a training in which the time limit of the last process alone is used up."""
    ticks = iter(range(10**9))
    config = TrainingConfig(epochs=9, batch_size=16, max_training_time=5.0)
    slow = group.rank == group.size - 1
    history = fit_network(
        network(), windows(), windows(), config, autocast(CPU), group=group,
        clock=lambda: float(next(ticks)) if slow else 0.0,
    )  # fmt: skip
    return [(epoch.number, epoch.complete) for epoch in history]


def killed(group: Group, folder: Path) -> None:
    """Train with a checkpoint; in the third epoch of the first try, wait to be killed."""
    attempt = os.environ["TORCHELASTIC_RESTART_COUNT"]
    (folder / f"pid-{group.rank}-{attempt}").write_text(str(os.getpid()))
    steps = []

    def watch(progress: Progress) -> None:
        steps.append(progress.done)
        # 89 windows are six steps an epoch
        if attempt == "0" and progress.done == 2 * 6 + 2:
            (folder / "ready").touch()
            time.sleep(GENEROUS)

    model = network()
    history = fit_network(
        model, windows(), windows(60, stride=6, seed=1), CONFIG, autocast(CPU), group=group,
        checkpoint=folder / "state", watch=watch,
    )  # fmt: skip
    if group.leads:
        save_file(dict(model.state_dict()), folder / "weights.safetensors")
        epochs = [asdict(epoch) | {"seconds": 0} for epoch in history]
        (folder / "history.json").write_text(json.dumps({"epochs": epochs, "first": steps[0]}))


def broken(group: Group, folder: Path) -> None:
    """Fail in the last process, in the middle of a training that the others go on with."""
    if group.rank == group.size - 1:
        raise ZeroDivisionError("on purpose")
    fit_network(network(), windows(), windows(), CONFIG, autocast(CPU), group=group)
    (folder / f"ended-{group.rank}").touch()


TASKS = {task.__name__: task for task in (equal, killed, broken)}


def threads() -> list[str]:
    """Names of this process's threads, Python's and all others; Linux alone tells them."""
    return [name.read_text().strip() for name in Path("/proc/self/task").glob("*/comm")]


if __name__ == "__main__":
    place = Path(sys.argv[2])
    with joined() as here:
        TASKS[sys.argv[1]](here, place)
    (place / f"threads-{here.size}-{here.rank}.json").write_text(json.dumps(threads()))
