"""Anomaly detection in multivariate time series by sub-adjacent reconstruction."""
