"""The paper, reproduced: every table and figure, under its own protocol and under a clean one."""
