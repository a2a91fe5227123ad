"""Model folders of earlier versions: parameters that have another name or class today."""

from __future__ import annotations

from typing import Any

# parameters of the default before 0.3 that only its network used
OF_NETWORK = ("budget", "device", "random_state")


def upgraded(kind: Any, parameters: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """The class and parameters of today for what an earlier version saved."""
    parameters = dict(parameters)
    if kind == "SubAdjacentDetector" and "network" in parameters:
        size = parameters.pop("network")
        if size is None:
            for name in OF_NETWORK:
                parameters.pop(name, None)
        else:
            kind = "SubAdjacentHybridDetector"
            parameters["size"] = size
            parameters.pop("lookahead", None)
    if "budget" in parameters:
        parameters["max_training_time"] = parameters.pop("budget")
    return kind, parameters
