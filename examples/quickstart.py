"""From arrays to explained alarms."""

from subadjacent import SubAdjacentDetector, multivariate

plant = multivariate(n=2_000, channels=6, seed=0)
detector = SubAdjacentDetector().fit(plant.train)

alarms = detector.alarms(plant.test)
print(f"{len(alarms)} alarms in {len(plant.test)} rows, {len(plant.events)} events were put in")
for alarm in alarms:
    causes = ", ".join(
        f"{cause.channel} (saw {cause.seen:.1f}, expected {cause.expected:.1f})"
        for cause in alarm.causes[:2]
    )
    print(f"rows {alarm.first}-{alarm.last}, severity {alarm.severity:.1f}: {alarm.explanation}")
    print(f"  {causes}")
