"""What the chatbot's routes need beside the agent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from copilot_core.chatbot.folders import FolderSettings
from copilot_core.chatbot.images import ImageGenerator
from copilot_core.chatbot.memory import MemoryStore
from copilot_core.chatbot.storage import FILE, ChatbotFile

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from copilot_core.chatbot.images import ImageSettings


@dataclass(frozen=True, slots=True)
class ChatbotServices:
    """They share one file, which is opened when it is first used."""

    file: ChatbotFile
    memories: MemoryStore
    folders: FolderSettings
    images: ImageGenerator

    @classmethod
    def at(
        cls,
        data: Path,
        *,
        roots: Sequence[Path] = (),
        image: ImageSettings | None = None,
        server_url: str | None = None,
    ) -> Self:
        """With their file in the folder ``data``.

        ``roots`` are the folders that users may open; ``server_url`` is where an MCP server for
        them listens.
        """
        file = ChatbotFile(data / FILE)
        return cls(
            file,
            MemoryStore(file),
            FolderSettings(file, roots, server_url),
            ImageGenerator(file, image),
        )

    async def close(self) -> None:
        """Give back the file, for good."""
        await self.file.close()
