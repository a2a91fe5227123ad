"""The networks: one file each, all with the contract of ``network``."""
