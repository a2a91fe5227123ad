"""Two ways to fit, score and judge: as the paper's numbers were made, and as a user would."""
