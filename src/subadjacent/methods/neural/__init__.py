"""Networks as methods: the contract of ``networks`` turned into that of ``methods``."""
