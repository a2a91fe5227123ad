"""How a run is made: fit, score and evaluate, as the paper did or as a user would."""
