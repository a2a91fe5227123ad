"""Past one machine: work spread over a Ray cluster, with the same results as without."""
