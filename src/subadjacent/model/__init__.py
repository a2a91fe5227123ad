"""Linear regressions of each point from its band."""
