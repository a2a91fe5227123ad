"""GTA: links drawn by Gumbel-softmax, influence along them, and the branches of a layer."""

from __future__ import annotations

import torch
from torch import Tensor

from rivals.small import assess, batch
from subadjacent.rivals.gta import GTA, BranchedLayer, GTAConfig, Propagation

CONFIG = GTAConfig(channels=3, window=7, width=8, heads=2, layers=1, levels=2, influence=4)


def network(config: GTAConfig = CONFIG) -> GTA:
    return GTA.seeded(config, 0).eval()


def draws(model: GTA, count: int) -> Tensor:
    model.train()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return torch.stack([model.links() for _ in range(count)])


def test_links_are_drawn_as_often_as_they_are_likely() -> None:
    model = network()
    chances = torch.tensor([[0.1, 0.5, 0.9], [0.2, 0.5, 0.8], [0.3, 0.4, 0.7]])
    model.logits.data = torch.stack([chances, 1 - chances], dim=-1).log()
    found = draws(model, 2000)
    assert set(found.unique().tolist()) == {0.0, 1.0}
    # three deviations of the mean of so many draws, at most 0.5 / √2000 each
    torch.testing.assert_close(found.mean(dim=0), chances, atol=0.034, rtol=0)


def test_the_gradient_of_a_draw_is_that_of_its_gumbel_softmax() -> None:
    """One pair by hand: the softmax of logits and Gumbel noise, over the temperature."""
    model = network(GTAConfig(channels=1, window=7, width=8, heads=2, draw=0.7)).train()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(3)
        (gradient,) = torch.autograd.grad(model.links().sum(), model.logits)
        torch.manual_seed(3)
        noise = -torch.empty(1, 1, 2).exponential_().log()
    share = ((model.logits.detach() + noise) / 0.7).softmax(dim=-1)[0, 0, 0]
    slope = float(share * (1 - share) / 0.7)
    torch.testing.assert_close(gradient, torch.tensor([[[slope, -slope]]]))


def test_rows_are_assessed_by_the_likely_links() -> None:
    model = network(GTAConfig(channels=2, window=7, width=8, heads=2))
    model.logits.data = torch.tensor([[[1.0, 0.0], [0.0, 1.0]], [[-1.0, -2.0], [0.0, 0.0]]])
    assert model.links().tolist() == [[1.0, 0.0], [1.0, 0.0]]


def test_influence_is_that_of_the_definition() -> None:
    generator = torch.Generator().manual_seed(1)
    model = Propagation(points=2, influence=4)
    channels = torch.randn(1, 3, 2, generator=generator)
    links = torch.tensor([[0.0, 1.0, 1.0], [0.0, 0.0, 0.0], [1.0, 0.0, 1.0]])
    found = model(channels, links)
    for i in range(3):
        flow = torch.zeros(4)
        for j in range(3):
            one, other = channels[0, i], channels[0, j]
            pair = torch.cat([one, other - one, other + one])
            flow += links[i, j] * torch.relu(model.meet(pair)) / 3
        torch.testing.assert_close(found[0, i], channels[0, i] + model.back(flow))


def branch(model: BranchedLayer, number: int) -> None:
    """Let one branch through, unchanged, and nothing after it."""
    width = model.join.out_features
    with torch.no_grad():
        model.join.weight.zero_()
        model.join.bias.zero_()
        model.join.weight[:, number * width : (number + 1) * width] = torch.eye(width)
        for one in model.feedforward.parameters():
            one.zero_()


@torch.no_grad()
def test_each_branch_takes_what_it_is_there_for() -> None:
    points = torch.randn(1, 5, 4, generator=torch.Generator().manual_seed(1))
    torch.manual_seed(0)
    model = BranchedLayer(points=5, width=4, heads=2)
    query, key, value = model.project(model.before(points)).chunk(3, dim=-1)

    branch(model, 0)
    found = (model(points) - points)[0]
    for head in (slice(0, 2), slice(2, 4)):
        weights = (query[0, :, head] @ key[0, :, head].T / 2**0.5).softmax(dim=-1)
        torch.testing.assert_close(found[:, head], weights @ value[0, :, head])

    branch(model, 1)
    model.places.copy_(torch.randn(2, 5, 5))
    found = (model(points) - points)[0]
    for number, head in enumerate((slice(0, 2), slice(2, 4))):
        weights = model.places[number].softmax(dim=-1)
        torch.testing.assert_close(found[:, head], weights @ value[0, :, head])

    branch(model, 2)
    assert model.near.bias is not None
    found = (model(points) - points)[0, 2]
    around = (model.near.weight[:, 0] * value[0, 1:4].T).sum(dim=-1) + model.near.bias
    torch.testing.assert_close(found, around)


def test_every_level_looks_twice_as_far_back() -> None:
    model = network(GTAConfig(channels=1, window=12, width=8, heads=2, levels=3))
    # nothing flows: what is left are the convolutions
    model.logits.data[..., 1] = 1.0
    seen: list[Tensor] = []
    model.embed.register_forward_pre_hook(lambda _, given: seen.append(given[0]))
    points = batch(model.config, 2)[:1, :-1].requires_grad_()
    model(points)
    for number, reach in enumerate((2, 6, 14)):
        (gradient,) = torch.autograd.grad(seen[0][0, 9, number], points, retain_graph=True)
        assert gradient[0, :, 0].nonzero().min() == max(9 - reach, 0)
        assert gradient[0, :, 0].nonzero().max() == 9


def test_the_last_point_is_forecast_and_the_first_ones_expected_to_stay() -> None:
    model, rows = network(), batch(CONFIG, 2)
    assessed = assess(model, rows)
    assert model.context == 6
    torch.testing.assert_close(assessed.expected[:, -1], model(rows[:, :-1]))
    torch.testing.assert_close(assessed.expected[:, 1:-1], rows[:, :-2])
    torch.testing.assert_close(assessed.expected[:, 0], rows[:, 0])
    torch.testing.assert_close(assessed.error, (rows - assessed.expected).square())
    loss = (model(rows[:, :-1]) - rows[:, -1]).square().mean()
    torch.testing.assert_close(model.losses(rows, 1)[0], loss)
