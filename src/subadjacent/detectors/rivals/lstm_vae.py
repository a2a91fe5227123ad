"""LSTM-VAE as a detector."""

from __future__ import annotations

from dataclasses import dataclass

from subadjacent.detectors.rivals.rival import RivalDetector
from subadjacent.networks.lstm_vae import LSTMVAE


@dataclass(kw_only=True, eq=False, repr=False)
class LSTMVAEDetector(RivalDetector):
    """Finds rows that a variational autoencoder over time gives a low density.

    Park et al. (RA-L 2018); see ``networks/lstm_vae.py`` for what is faithful.

    Parameters
    ----------
    noise : float
        Deviation of the noise that is added to rows in training, in deviations of a channel.
    others
        As of every ``NetworkDetector``. The first half of a window is where it gets its state.
    """

    rival = LSTMVAE

    noise: float = 0.1
