"""Work on several machines: spread over a Ray cluster, with the same results as without."""
