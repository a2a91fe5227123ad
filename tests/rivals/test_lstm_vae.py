"""LSTM-VAE: causal densities, noise in training alone, deviations that follow each channel."""

from __future__ import annotations

import torch

from rivals.small import assess, batch
from subadjacent.rivals.gaussian import divergence, surprise
from subadjacent.rivals.lstm_vae import LSTMVAE, LSTMVAEConfig
from tiny import WINDOW

CONFIG = LSTMVAEConfig(channels=2, window=WINDOW, width=8, latent=3)


def network(**settings: float) -> LSTMVAE:
    config = LSTMVAEConfig(**{"channels": 2, "window": WINDOW, "width": 8, "latent": 3} | settings)
    return LSTMVAE.seeded(config, 0).eval()


@torch.no_grad()
def test_the_score_is_the_mean_surprise_at_what_is_decoded_from_means() -> None:
    model, rows = network(), batch(CONFIG)
    hidden, _ = model.encoder(rows)
    code, _ = model.code(hidden)
    mean, deviation = model.value(model.decoder(code)[0])
    assessed = assess(model, rows)
    torch.testing.assert_close(assessed.score, surprise(rows, mean, deviation).mean(dim=-1))
    torch.testing.assert_close(assessed.expected, mean)
    torch.testing.assert_close(assessed.error, (rows - mean).square())


@torch.no_grad()
def test_a_point_is_assessed_by_itself_and_those_before_it() -> None:
    model, rows = network(), batch(CONFIG)
    later = rows.clone()
    later[:, 7:] += 3
    before, after = assess(model, rows).score, assess(model, later).score
    assert (before[:, :7] == after[:, :7]).all()
    assert (before[:, 7:] != after[:, 7:]).all()


def test_half_a_window_builds_the_state() -> None:
    assert network().context == WINDOW // 2
    assert network(window=5).context == 2


@torch.no_grad()
def test_the_loss_is_surprise_and_divergence_summed_over_a_point() -> None:
    """With noise, what is encoded is noisy and what must be decoded is not."""
    model, rows = network(noise=0.5), batch(CONFIG)
    with torch.random.fork_rng():
        torch.default_generator.manual_seed(3)
        noisy = rows + 0.5 * torch.randn_like(rows)
        found = model(noisy, drawn=True)
    values = surprise(rows, found.mean, found.deviation).sum(dim=-1)
    prior = divergence(found.code_mean, found.code_deviation).sum(dim=-1)
    with torch.random.fork_rng():
        torch.default_generator.manual_seed(3)
        (loss,) = model.losses(rows, epoch=1)
    torch.testing.assert_close(loss, (values + prior).mean())
