"""What a view saw that raised an alarm, in words: the same in every output."""

from __future__ import annotations

# of each view that can raise an alarm; a phrase, to be read after "alarm:"
EXPLANATIONS = {
    "level": "values far from their usual level",
    "rhythm": "a broken rhythm",
    "local rhythm": "a broken rhythm around the local level",
    "slow rhythm": "a broken slow rhythm",
    "state": "a combination of values never seen in training",
    "shape": "a shape never seen in training",
    "other channels": "channels that no longer go together",
    "all channels": "many channels a little off at once",
    "network": "windows that the network cannot rebuild",
}
