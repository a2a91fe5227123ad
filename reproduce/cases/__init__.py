"""Generated kinds of anomaly that only a view of states, or only a view of shapes, can see."""

from reproduce.cases.kinds import DEVELOPMENT, KEPT_BACK, case

__all__ = ["DEVELOPMENT", "KEPT_BACK", "case"]
