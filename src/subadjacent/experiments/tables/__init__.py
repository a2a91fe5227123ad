"""Every table of the paper, one module each: a list of runs and a layout."""
