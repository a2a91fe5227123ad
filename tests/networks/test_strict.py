"""The strict network: what may reach a reconstruction, and what must not."""

from __future__ import annotations

import math
from dataclasses import asdict, replace

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from oracle import in_band
from subadjacent.core.band import Band
from subadjacent.core.dispatch import DENSE_UP_TO
from subadjacent.errors import InputError
from subadjacent.networks.strict import StrictConfig, StrictTransformer, periods, turned, turns
from subadjacent.training.config import TrainingConfig
from subadjacent.training.device import autocast
from subadjacent.training.fit import fit_network
from subadjacent.training.loop import validate
from tiny import CPU, windows


def line(near: int, far: int) -> Band:
    return Band(near, far, circular=False)


CONFIG = StrictConfig(channels=2, width=8, heads=2, layers=2, feedforward=8, band=line(2, 4))
LENGTHS = pytest.mark.parametrize("n", [DENSE_UP_TO, DENSE_UP_TO + 1])


def network(
    near: int = 2, far: int = 4, layers: int = 2, channels: int = 2, seed: int = 0
) -> StrictTransformer:
    config = replace(CONFIG, channels=channels, layers=layers, band=line(near, far))
    return StrictTransformer.seeded(config, seed)


def drawn(*shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(5), dtype=dtype)


def weights(model: nn.Module) -> Tensor:
    return torch.cat([parameter.detach().flatten() for parameter in model.parameters()])


def dense(model: StrictTransformer, choice: bool) -> StrictTransformer:
    for layer in model.layers:
        layer.attention.dense = choice
    return model


def influence(model: StrictTransformer, window: Tensor) -> Tensor:
    """Sum over channels of |∂x̂_i/∂x_j|, (N, N) [i, j]."""
    found = torch.autograd.functional.jacobian(lambda x: model(x[None]).values[0], window)
    return found.abs().sum(dim=(1, 3))


def test_five_points_worked_by_hand() -> None:
    """One layer that hands on the mean of the band: x̂ is then a known function of it."""
    config = StrictConfig(channels=1, width=2, heads=1, layers=1, feedforward=1, band=line(1, 1))
    model = StrictTransformer(config).double()
    for parameter in model.parameters():
        nn.init.zeros_(parameter)
    layer = model.layers[0]
    with torch.no_grad():
        # features (x, 0); values are the features, turned; queries and keys are nothing
        model.embed.weight.copy_(torch.tensor([[1.0], [0.0]]))
        layer.attention.offer.weight[2:] = torch.eye(2)
        layer.attention.mix.weight.copy_(torch.eye(2))
        for norm in (layer.after_attention, layer.after_feedforward, model.norm):
            norm.weight.fill_(1.0)
        model.reconstruct.weight.copy_(torch.tensor([[1.0, 0.0]]))
    # of two features normalised, the first is +1 where it is the larger, -1 where the smaller
    values, contribution = model(torch.tensor([[1.0], [2.0], [4.0], [-8.0], [1.0]])[None].double())
    # one pair of features has period 2: a neighbour is turned by half a circle, x to -x;
    # means of neighbours 2, 2.5, -3, 2.5, -8
    assert values[0, :, 0].round().tolist() == [-1.0, -1.0, 1.0, -1.0, 1.0]
    # ends give all to one neighbour, the others half to each
    assert contribution[0].tolist() == [0.5, 1.5, 1.0, 1.5, 0.5]


def test_turning_by_hand() -> None:
    # a pair of features as x and y, a period of 4 points: a quarter of a circle a point
    quarter = turns(3, torch.tensor([4]), torch.float64)
    east = torch.tensor([[1.0, 0.0]] * 3, dtype=torch.float64)
    expected = torch.tensor([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]], dtype=torch.float64)
    torch.testing.assert_close(turned(east, quarter), expected)
    torch.testing.assert_close(turned(turned(east, quarter), quarter, back=True), east)


def test_products_of_turned_features_depend_on_the_distance_alone() -> None:
    angles = turns(40, periods(4, far=9), torch.float64)
    q, k = drawn(2, 1, 8, dtype=torch.float64).expand(2, 40, 8)
    products = turned(q, angles) @ turned(k, angles).mT
    for distance in (-9, -1, 0, 5):
        diagonal = products.diagonal(distance)
        torch.testing.assert_close(diagonal, diagonal[:1].expand_as(diagonal))
    assert products[0].std() > 0.1


def test_periods_go_from_two_points_to_beyond_the_band() -> None:
    found = periods(16, far=30).tolist()
    assert found[0] == 2
    assert found[-1] == 120
    assert found == sorted(found)


@pytest.mark.parametrize("layers", [1, 2, 3, 4])
@pytest.mark.parametrize("n", [12, 13])
@pytest.mark.parametrize(("near", "far"), [(1, 1), (1, 3), (5, 6), (1, 13), (7, 30), (11, 11)])
@pytest.mark.parametrize("choice", [True, False], ids=["dense", "blocks"])
def test_nothing_outside_of_the_band_reaches_a_reconstruction(
    near: int, far: int, n: int, layers: int, choice: bool
) -> None:
    model = dense(network(near, far, layers).double(), choice)
    found = influence(model, drawn(n, 2, dtype=torch.float64))
    # the two ends of the window are far apart, and a point is not in its own band
    band = Band(near, far, circular=False)
    inside = torch.tensor([[in_band(i, j, n, band) for j in range(n)] for i in range(n)])
    assert (found[~inside] == 0.0).all()
    assert (found[inside] > 1e-9).all()


def test_nothing_outside_of_the_band_reaches_it_in_a_long_window() -> None:
    n, far = DENSE_UP_TO + 30, 5
    window = drawn(1, n, 2).requires_grad_()
    model = network(3, far)
    (found,) = torch.autograd.grad(model(window).values[0, 70].sum(), window)
    reached = found[0].abs().sum(dim=1).nonzero().flatten().tolist()
    assert reached == [65, 66, 67, 73, 74, 75]


def test_a_changed_point_leaves_its_own_reconstruction_as_it_was() -> None:
    model, before = network(), drawn(1, 20, 2)
    after = before.clone()
    after[0, 9] += 100.0
    moved = (model(after).values != model(before).values)[0].any(dim=1).nonzero().flatten()
    assert moved.tolist() == [5, 6, 7, 11, 12, 13]


def test_points_without_a_band_are_reconstructed_from_no_data() -> None:
    model = network(near=7, far=9)
    values = model(drawn(2, 10, 2)).values
    assert values[:, 3:7].flatten(0, 1).unique(dim=0).shape == (1, 2)
    assert values.isfinite().all()


def test_a_window_in_which_no_point_has_a_band_is_refused() -> None:
    with pytest.raises(InputError, match="in a window of 7 the largest distance is 6; got near=7"):
        network(near=7, far=9)(drawn(1, 7, 2))


def test_a_band_that_holds_the_point_itself_is_refused() -> None:
    with pytest.raises(InputError, match="needs near >= 1"):
        network(near=0)


def test_heads_of_an_odd_number_of_features_are_refused() -> None:
    with pytest.raises(InputError, match=r"a multiple of twice the heads .* width=6, heads=2"):
        StrictTransformer(replace(CONFIG, width=6))


def test_a_band_around_the_ring_is_refused() -> None:
    with pytest.raises(InputError, match="circular=False"):
        replace(CONFIG, band=Band(2, 4))


def test_distance_runs_along_the_line() -> None:
    found = influence(network(), drawn(9, 2))
    assert found[0].nonzero().flatten().tolist() == [2, 3, 4]


def test_the_settings_survive_being_written_down() -> None:
    model = network(near=3, far=5)
    again = StrictTransformer(StrictConfig.from_dict(asdict(model.config)))
    again.load_state_dict(model.state_dict())
    assert again.config == model.config
    assert torch.equal(again(drawn(1, 20, 2)).values, model(drawn(1, 20, 2)).values)


@pytest.mark.parametrize("n", [DENSE_UP_TO - 1, 2 * DENSE_UP_TO + 1])
def test_both_forms_of_attention_give_the_same_numbers(n: int) -> None:
    window = drawn(3, n, 2, dtype=torch.float64)
    formed, blocks = (dense(network().double(), choice) for choice in (True, False))
    torch.testing.assert_close(formed(window), blocks(window))
    torch.testing.assert_close(formed.losses(window, 1), blocks.losses(window, 1))


def test_usable_points_do_not_depend_on_where_the_window_begins() -> None:
    model, series = network(), drawn(1, 300, 2)
    whole = model(series).values
    usable = model.usable(40)
    assert usable == slice(4, 36)
    for start in (0, 1, 133, 260):
        part = model(series[:, start : start + 40]).values
        torch.testing.assert_close(part[:, usable], whole[:, start + 4 : start + 36])
    # the others do: they lack a part of their band
    assert (part[:, :4] - whole[:, 260:264]).abs().max() > 1e-3


def test_a_short_window_has_no_usable_point() -> None:
    assert [list(range(n))[network().usable(n)] for n in (1, 4, 8, 9)] == [[], [], [], [4]]


def test_the_loss_is_twice_the_squared_error() -> None:
    model, window = network(), drawn(3, 20, 2)
    expected = 2.0 * functional.mse_loss(model(window).values, window)
    (loss,) = model.losses(window, epoch=1)
    torch.testing.assert_close(loss, expected)


def test_the_evidence_is_the_squared_error_the_reconstruction_and_the_contribution() -> None:
    model, window = network(), drawn(3, 20, 2)
    values, contribution = model(window)
    found = model.judge(window)
    torch.testing.assert_close(found.error, (values - window) ** 2)
    assert torch.equal(found.expected, values)
    assert torch.equal(found.traces["contribution"], contribution)


def test_every_parameter_gets_a_finite_gradient() -> None:
    model = network()
    model.losses(drawn(3, 20, 2), 1)[0].backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.isfinite().all(), name
        assert parameter.grad.abs().sum() > 0, name


@LENGTHS
def test_attention_lies_in_the_band_and_explains_the_contribution(n: int) -> None:
    model, window = network(), drawn(3, n, 2)
    matrices = model.attention(window)
    assert matrices.shape == (2, 3, 2, n, n)  # layers, windows, heads
    outside = ~Band(2, 4, circular=False).mask(n)
    assert (matrices[..., outside] == 0).all()
    torch.testing.assert_close(matrices.sum(dim=-1), torch.ones(2, 3, 2, n))
    contribution = model(window).contribution
    torch.testing.assert_close(contribution, matrices.sum(dim=-2).mean(dim=(0, 2)))
    torch.testing.assert_close(contribution.mean(dim=1), torch.ones(3))


def test_windows_of_a_batch_do_not_mix() -> None:
    model, batch = network(), drawn(3, 20, 2)
    together = model(batch)
    for i in range(3):
        torch.testing.assert_close(model(batch[i : i + 1]).values[0], together.values[i])


@pytest.mark.parametrize("size", ["small", "paper"])
def test_the_number_of_parameters_follows_from_the_settings(size: str) -> None:
    config = StrictConfig.sized(size, 25)
    with torch.device("meta"):
        model = StrictTransformer(config)
    width, wide, channels = config.width, config.feedforward, config.channels
    # queries, keys, values and mixing; two linear maps; two norms
    layer = 4 * width * (width + 1) + (2 * width + 1) * wide + width + 4 * width
    around = channels * width + width + 2 * width + (width + 1) * channels
    count = sum(parameter.numel() for parameter in model.parameters())
    assert count == config.layers * layer + around


def test_weights_depend_on_the_seed_alone() -> None:
    before = weights(network(seed=7))
    torch.rand(3)
    assert torch.equal(weights(network(seed=7)), before)
    assert not torch.equal(weights(network(seed=8)), before)


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_training_lowers_the_error(precision: str) -> None:
    model, validation = network(layers=1), windows(60, stride=6, seed=1)
    before = validate(model, validation, 16).error
    config = TrainingConfig(epochs=6, batch_size=16, learning_rate=1e-2)
    history = fit_network(model, windows(), validation, config, autocast(CPU, precision))
    assert validate(model, validation, 16).error < 0.3 * before
    assert history[-1].traces["contribution"] == pytest.approx(1.0, abs=1e-3)


def test_a_point_that_breaks_a_sine_stands_out_after_training() -> None:
    """It cannot be copied: its error is about the size of the break."""
    model = network(layers=1)
    config = TrainingConfig(epochs=8, batch_size=16, learning_rate=1e-2)
    fit_network(model, windows(), windows(60, seed=1), config, autocast(CPU, "float32"))
    broken = windows(12, seed=2).values.clone()
    broken[6] += 3.0
    with torch.no_grad():
        error = (model(broken[None]).values[0] - broken).square().sum(dim=1)
    assert error.argmax() == 6
    assert math.sqrt(error[6]) > 2.0


def test_autocast_stays_near_single_precision() -> None:
    model, window = network(), drawn(4, 40, 2)
    exact = model(window)
    with torch.autocast("cpu", torch.bfloat16):
        rough = model(window)
    assert (rough.values - exact.values).abs().mean() < 0.03 * exact.values.abs().mean()
    torch.testing.assert_close(rough.contribution, exact.contribution, rtol=0, atol=0.05)


@LENGTHS
def test_a_step_reads_no_number_back_and_makes_none_elsewhere(n: int) -> None:
    """A step can be recorded on a GPU: on a device without numbers, either would raise."""
    with torch.device("meta"):
        model = StrictTransformer(CONFIG)
    (loss,) = model.losses(torch.empty(3, n, 2, device="meta"), epoch=1)
    loss.backward()
    assert loss.is_meta


@LENGTHS
def test_a_network_turned_to_half_precision_runs(n: int) -> None:
    values, _ = network().bfloat16()(drawn(2, n, 2).bfloat16())
    assert values.dtype == torch.bfloat16
    assert values.isfinite().all()
