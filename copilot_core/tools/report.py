"""The one result of tools that act on several things: what became of each."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from copilot_core.ports import LabError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from copilot_core.ports import JsonObject

_Item = TypeVar("_Item")


@dataclass(frozen=True, slots=True)
class Done:
    """An item whose effect was observed."""

    id: str
    name: str
    result: JsonObject


async def report(
    items: Sequence[_Item],
    act: Callable[[_Item], Awaitable[Done]],
    label: Callable[[_Item], tuple[str, str | None]],
    *,
    at_once: int,
) -> JsonObject:
    """Act on each item, ``at_once`` of them at the same time, and tell of all in order.

    A ``LabError`` fails its own item only; ``label`` gives the (id, name) of a failed one.
    """
    free = asyncio.Semaphore(at_once)

    async def one(item: _Item) -> JsonObject:
        async with free:
            try:
                done = await act(item)
            except LabError as error:
                item_id, name = label(item)
                return {"id": item_id, "name": name, "status": "failed", "error": error.message}
            return {"id": done.id, "name": done.name, "status": "success", "result": done.result}

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(one(item)) for item in items]
    told = [task.result() for task in tasks]
    successful = sum(item["status"] == "success" for item in told)
    return {
        "total": len(told),
        "successful": successful,
        "failed": len(told) - successful,
        "items": told,
    }
