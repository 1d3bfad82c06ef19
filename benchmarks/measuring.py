"""How everything here is measured: variants in turn, round after round; medians; ratios."""

from __future__ import annotations

import asyncio
import gc
import statistics
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

Variant = Callable[[], Awaitable[None]]


@dataclass(frozen=True)
class Row:
    """One line of a table: a figure, and how often the first row's it is."""

    name: str
    figure: float
    unit: str
    ratio: float


async def cpu(variants: dict[str, Variant], *, rounds: int, per: int) -> dict[str, float]:
    """The median CPU time of each variant, in microseconds per one of ``per``.

    All run once in every round, so that a machine that slows down slows all of them down.
    """
    taken: dict[str, list[float]] = {name: [] for name in variants}
    for variant in variants.values():
        await variant()
    for _ in range(rounds):
        for name, variant in variants.items():
            gc.collect()
            begin = time.process_time()
            await variant()
            taken[name].append((time.process_time() - begin) / per * 1e6)
            await asyncio.sleep(0)
    return {name: statistics.median(times) for name, times in taken.items()}


def over(figures: dict[str, float], base: str, unit: str) -> list[Row]:
    """The figures as rows, each with its ratio to the row ``base``."""
    return [Row(name, figure, unit, figure / figures[base]) for name, figure in figures.items()]


def table(title: str, rows: list[Row], note: str = "") -> str:
    """Rows as a Markdown table."""
    lines = [f"### {title}", ""]
    lines += [note, ""] if note else []
    lines += ["| | figure | ratio |", "|---|---|---|"]
    lines += [f"| {row.name} | {row.figure:,.1f} {row.unit} | {row.ratio:.2f} |" for row in rows]
    return "\n".join(lines) + "\n"
