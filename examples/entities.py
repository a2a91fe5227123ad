"""One model for several machines: a long frame with a column that names them."""

import pandas as pd

from subadjacent import SubAdjacentDetector, multivariate

times = pd.date_range("2026-01-01", periods=1_000, freq="5min")


def machine(name: str, seed: int, *, broken: bool) -> pd.DataFrame:
    """Rows of one machine, each in units of its own."""
    plant = multivariate(n=1_000, channels=3, seed=seed)
    values = plant.test if broken else plant.train
    frame = pd.DataFrame(values, columns=["cpu", "disk", "net"])
    return frame.assign(item_id=name, timestamp=times)


names = ["db-1", "db-2", "web-1"]
train = pd.concat([machine(name, seed, broken=False) for seed, name in enumerate(names)])
test = pd.concat([machine(name, seed, broken=True) for seed, name in enumerate(names)])

detector = SubAdjacentDetector().fit(train)
scores = detector.decision_function(test)  # one a row, in the frame's own order
print(test.assign(score=scores.to_numpy()).groupby("item_id")["score"].max().round(3).to_string())
for alarm in detector.alarms(test):
    print(alarm.entity, alarm.start, f"{alarm.duration} rows", alarm.causes[0].channel)
