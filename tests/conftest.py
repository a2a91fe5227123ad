"""What many tests share: a small plant and a detector fitted on it once."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import hypothesis
import pytest

from subadjacent import SubAdjacentDetector, multivariate
from subadjacent.data.plant import Plant

if TYPE_CHECKING:
    from playwright.sync_api import Browser

# two workers run at a time on two cores: more threads, here or in the processes that tests
# start, only get in each other's way
os.environ["OMP_NUM_THREADS"] = "1"
# most of the library works without torch, and a part of its tests is run where there is none
if find_spec("torch"):
    import torch

    torch.set_num_threads(1)
    if not torch.cuda.is_available():
        # without a GPU the kernels' logic is tested in Triton's interpreter; read on first import
        os.environ["TRITON_INTERPRET"] = "1"

# how long an example takes says more of the machine than of the code
hypothesis.settings.register_profile("unhurried", deadline=None)
hypothesis.settings.load_profile("unhurried")


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One for all tests of a process: Playwright cannot be started twice in one."""
    from playwright.sync_api import sync_playwright

    names = ("chromium", "chromium-browser", "google-chrome")
    path = next(filter(None, map(shutil.which, names)))
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture(scope="session")
def module(browser: Browser) -> Callable[[str], Callable[..., Any]]:
    """Gives JavaScript modules of the pages by name, to call functions in them."""
    from report.browsing import modules

    return modules(browser)


@pytest.fixture(scope="session")
def plant() -> Plant:
    return multivariate(n=1_000, channels=4, seed=3)


@pytest.fixture(scope="session")
def detector(plant: Plant) -> SubAdjacentDetector:
    """Fitted; tests must not change it."""
    return SubAdjacentDetector().fit(plant.train)
