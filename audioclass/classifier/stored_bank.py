"""The machines of a model file: a bank of support rows with what each kernel makes of them, checked as it is read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from audioclass.classifier.bank import HIGHEST_CODE, Bank, KernelPart, Levels
from audioclass.classifier.classifier import Machines
from audioclass.classifier.saving import LEVEL_MEMBERS, LINK_MEMBERS
from audioclass.classifier.stored_values import checked_list, component_of, members_under
from audioclass.errors import ModelError
from audioclass.problems import LINKS, FeatureMachine, Link, Members
from audioclass.run import Registry

MOST_ROWS = 2**17  # of the bank: a batch of windows makes a Gram matrix with all of them
MOST_COPIED = 2**27  # bytes of rows that several kernels share, or that machines over features turn to doubles


def machines_of(manifest: Mapping[str, Any], arrays: Mapping[str, np.ndarray], registry: Registry) -> Machines:
    """The bank of support rows, or the machines over features of a model without one."""
    if "bank/rows" not in arrays:
        n_bytes = sum(array.nbytes for name, array in arrays.items() if name.startswith("machines/"))
        if n_bytes > MOST_COPIED:
            raise ModelError(f"its machines take {n_bytes // 2**20} MB, at most {MOST_COPIED // 2**20} are read")
        numbers = sorted({int(name.split("/")[1]) for name in arrays if name.startswith("machines/")})
        return tuple(FeatureMachine(members_under(arrays, f"machines/{number}/")) for number in numbers)
    parts = []
    for number, (kernel, link) in enumerate(zip(manifest["kernels"], links_of(manifest), strict=True)):
        of_part = members_under(arrays, f"bank/{number}/")
        members = None if link is None else Members(link, **{name: of_part.pop(name) for name in LINK_MEMBERS})
        parts.append(KernelPart(component_of(registry, "kernel", kernel), **of_part, members=members))
    levels = _levels(arrays)
    rows = arrays["bank/rows"] if levels is None else levels.rows
    bank = Bank(rows, tuple(parts), sum(len(part.places) for part in parts), levels)
    _check_bank(bank)
    return bank


def _levels(arrays: Mapping[str, np.ndarray]) -> Levels | None:
    """What the rows of the bank are codes of; None where they are the rows themselves."""
    if "bank/lowest" not in arrays:
        return None
    levels = Levels(arrays["bank/rows"], *(arrays[f"bank/{name}"] for name in LEVEL_MEMBERS))
    is_right = levels.codes.dtype == np.uint8 and {levels.lowest.dtype, levels.step.dtype} == {np.dtype(np.float32)}
    shapes = {levels.lowest.shape, levels.step.shape, levels.codes.shape[1:]}
    if not is_right or levels.codes.ndim != 2 or len(shapes) > 1:
        raise ModelError(f"bank/rows of shape {levels.codes.shape} are no codes of {levels.lowest.shape} levels")
    farthest = np.abs(levels.lowest.astype(np.float64)) + HIGHEST_CODE * np.abs(levels.step.astype(np.float64))
    if (farthest > np.finfo(np.float32).max).any():
        raise ModelError("bank/step is too large for rows of finite values")
    return levels


def links_of(manifest: Mapping[str, Any]) -> list[Link | None]:
    """How the members of the machines of each kernel are combined; None where these have none, as in most models."""
    n_parts = len(checked_list(manifest["kernels"], "kernels"))
    links = checked_list(manifest.get("links", [None] * n_parts), "links")
    if len(links) != n_parts:
        raise ModelError(f"{len(links)} links for {n_parts} kernels")
    for link in links:
        if link is not None and link not in LINKS:
            raise ModelError(f"link {str(link)[:40]!r} of members must be {', '.join(LINKS)}")
    return links


def _check_bank(bank: Bank) -> None:
    """Every index within its array, every machine once; the members of a machine side by side."""
    if bank.X.ndim != 2 or len(bank.X) > MOST_ROWS:
        raise ModelError(f"bank/rows has shape {bank.X.shape}, must have 2 axes and at most {MOST_ROWS} rows")
    for part in bank.parts:
        shape = (len(part.rows), len(part.machines))
        is_right = part.coefficients.shape == shape and part.intercepts.shape == shape[1:]
        if not is_right or part.rows.ndim != 1 or part.rows.dtype.kind != "i" or part.machines.dtype.kind != "i":
            raise ModelError(f"a part of the bank has coefficients of {part.coefficients.shape}, must have {shape}")
        if len(part.rows) and not 0 <= part.rows.min() <= part.rows.max() < len(bank.X):
            raise ModelError(f"a part of the bank names row {part.rows.max()} of {len(bank.X)}")
        if part.members is not None and part.members.slopes.shape != shape[1:]:
            raise ModelError(f"a part of the bank has {len(part.members.slopes)} slopes for {shape[1]} members")
    copied = sum(len(part.rows) for part in bank.parts if len(part.rows) < len(bank.X)) * bank.X[:1].nbytes
    if copied > MOST_COPIED:
        raise ModelError(f"the rows of its parts take {copied // 2**20} MB, at most {MOST_COPIED // 2**20} are read")
    machines = np.concatenate([part.places for part in bank.parts])
    if sorted(machines.tolist()) != list(range(bank.n_machines)):
        raise ModelError("the parts of the bank do not hold every machine once")
