"""From arrays to explained alarms."""

from subadjacent import SubAdjacentDetector, multivariate

plant = multivariate(n=2_000, channels=6, seed=0)
detector = SubAdjacentDetector().fit(plant.train)

alarms = detector.alarms(plant.test)
print(f"{len(alarms)} alarms in {len(plant.test)} rows, {len(plant.events)} events were put in")
for alarm in alarms:
    print(f"rows {alarm.first}-{alarm.last}, severity {alarm.severity:.1f}: {alarm.sentence}")
