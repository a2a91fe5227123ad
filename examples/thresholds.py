"""Four ways to say when a score is an alarm, none of which needs a label."""

import pandas as pd

from subadjacent import AlarmBudget, ExtremeValue, Quantile, SubAdjacentDetector, multivariate

plant = multivariate(n=1_500, channels=4, seed=2)
minutes = pd.date_range("2026-01-01", periods=3_000, freq="1min")
train = pd.DataFrame(plant.train, index=minutes[:1_500]).add_prefix("sensor ")
test = pd.DataFrame(plant.test, index=minutes[1_500:]).add_prefix("sensor ")

for contamination in (
    0.01,  # about one row in a hundred
    Quantile(0.999),
    ExtremeValue(risk=1e-4),  # what "auto" does
    "1/day",  # the clock tells that a day has 1,440 rows
    AlarmBudget(alarms=5, per="1day", interval="1min"),
):
    detector = SubAdjacentDetector(contamination=contamination).fit(train)
    print(
        f"{contamination!s:60} threshold {detector.threshold_:.4f}, "
        f"{len(detector.alarms(test))} alarms"
    )
