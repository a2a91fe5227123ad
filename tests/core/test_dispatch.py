"""Which form of attention runs where."""

from __future__ import annotations

import pytest
import torch

from subadjacent.core.band import Band
from subadjacent.core.dispatch import (
    DENSE_UP_TO,
    MASK_UP_TO,
    Form,
    attention_in_kernel,
    chunk_reach,
    kernel_fits,
    linear_form,
    projected_form,
    sums_by_mask,
)
from subadjacent.core.kernels.switch import use_kernels

BAND = Band(2, 5)


def test_short_windows_form_the_matrix_unless_overruled() -> None:
    assert linear_form(DENSE_UP_TO, None) is Form.MATRIX
    assert linear_form(DENSE_UP_TO + 1, None) is Form.SUMS
    assert linear_form(DENSE_UP_TO, False) is Form.SUMS
    assert linear_form(DENSE_UP_TO + 1, True) is Form.MATRIX
    # the packed form uses the mask in windows that are not long
    assert sums_by_mask(MASK_UP_TO)
    assert not sums_by_mask(MASK_UP_TO + 1)


def test_on_a_cpu_the_papers_mapping_is_packed_and_nothing_on_other_devices() -> None:
    x = torch.zeros(1, 40, 32)
    for softmax, dense, form in (
        (True, None, Form.PACKED),
        (False, None, Form.MATRIX),
        (True, True, Form.MATRIX),
        (True, False, Form.SUMS),
    ):
        assert projected_form(x, 2, BAND, softmax=softmax, dense=dense) is form
    assert projected_form(x.to("meta"), 2, BAND, softmax=True) is Form.MATRIX


def test_torch_compile_sees_plain_operations() -> None:
    x = torch.zeros(1, 40, 32)
    forms = []

    def decide(y: torch.Tensor) -> torch.Tensor:
        forms.append(projected_form(y, 2, BAND, softmax=True))
        return y

    torch.compile(decide, backend="eager")(x)
    assert forms[0] is Form.MATRIX


def test_a_kernel_needs_bfloat16_and_a_size_that_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("triton", reason="the extra 'kernels' is not installed")
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    x = torch.zeros(1, 40, 32)
    bfloat16 = torch.autocast("cpu", dtype=torch.bfloat16)
    with use_kernels(True):
        assert not attention_in_kernel(x, 2, BAND)
        with bfloat16:
            assert attention_in_kernel(x, 2, BAND)
            assert projected_form(x, 2, BAND, softmax=True) is Form.KERNEL
            assert projected_form(x, 2, BAND, softmax=False) is Form.MATRIX
            # heads of 4 features fill no tile, and 40 points are too few for chunks
            assert not attention_in_kernel(x, 8, BAND)
    with use_kernels(False), bfloat16:
        assert not attention_in_kernel(x, 2, BAND)


def test_the_band_of_a_chunk_reaches_into_few_tiles() -> None:
    # 64 + 2·30 rows are two tiles of 64; one side has two tiles as well: both at once
    assert chunk_reach(Band(0, 30)) == chunk_reach(Band(20, 30)) == (1, 2)
    # far out, each side by itself
    assert chunk_reach(Band(200, 230)) == (2, 2)


def test_the_kernels_have_limits() -> None:
    assert kernel_fits(128, 32, Band(20, 30))
    # 129 points are a long window, which any number of features up to 64 fits
    assert kernel_fits(129, 33, Band(20, 30))
    assert not kernel_fits(128, 33, Band(20, 30))
    assert not kernel_fits(129, 65, Band(20, 30))
    # a band that meets itself on the ring, and one that reaches into too many tiles
    assert not kernel_fits(180, 32, Band(80, 90))
    assert not kernel_fits(100_000, 32, Band(0, 1000))
