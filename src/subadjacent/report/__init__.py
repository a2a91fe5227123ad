"""Figures and the report: an assessment as one HTML page, or as static images."""
