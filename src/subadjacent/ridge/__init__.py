"""The linear method, whole: ridge regressions of a point on its sub-adjacent neighbours."""
