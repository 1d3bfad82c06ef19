"""The folders that each user has opened to searches, among those that the server opens."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import orjson

from copilot_core.chatbot.storage import owner
from copilot_core.database import rows
from copilot_core.errors import ChatError
from copilot_core.text import without_surrogates
from copilot_core.tools.workspace.folders import Folders
from copilot_core.tools.workspace.grep import BadPattern, grep

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from copilot_core.chatbot.storage import ChatbotFile
    from copilot_core.database import Connection
    from copilot_core.ports import JsonObject

#: Folders of one user.
MOST = 50


@dataclass(frozen=True, slots=True)
class _Opened:
    """What a user has set."""

    enabled: bool = False
    #: Absolute and resolved, in the order in which they were added.
    folders: tuple[str, ...] = ()


class FolderSettings:
    """Each user's folders. Answers are bodies as the surface has them.

    ``roots`` are the folders that the server opens; what isn't in one of them can't be added,
    and what no longer is in one isn't searched. ``server_url`` is where an MCP server listens.

    Every method raises StorageError, and ChatError ``folders_unavailable`` without roots.
    """

    def __init__(
        self, file: ChatbotFile, roots: Sequence[Path], server_url: str | None = None
    ) -> None:
        self._file = file
        self._allowed = Folders(roots)
        self._server_url = server_url

    async def status(self, user_id: str) -> JsonObject:
        """``McpStatus``."""
        self._refuse_without_roots()
        async with self._file.reading() as connection:
            return self._status(await _read(connection, user_id))

    async def enable(self, user_id: str) -> JsonObject:
        """Allow searches: ``McpStatusAnswer``."""
        return await self._change(user_id, lambda opened: _Opened(True, opened.folders)) | _DONE

    async def disable(self, user_id: str) -> JsonObject:
        """Allow none; the folders stay: ``McpDisabledAnswer``."""
        return await self._change(user_id, lambda opened: _Opened(False, opened.folders)) | _DONE

    async def add(self, user_id: str, folder_path: str) -> JsonObject:
        """Add a folder by its absolute path: ``McpStatusAnswer``, without success if it is there.

        Raises ChatError ``invalid_request``: it isn't a folder that the server opens, or the
        user has too many.
        """
        self._refuse_without_roots()
        folder = await asyncio.to_thread(self._folder, folder_path)
        if folder is None:
            raise ChatError(
                "invalid_request", "There is no such folder among those that this server opens."
            )

        def added(opened: _Opened) -> _Opened:
            if folder in opened.folders:
                return opened
            if len(opened.folders) >= MOST:
                raise ChatError(
                    "invalid_request", f"You have {MOST} folders. Remove one before you add more."
                )
            return _Opened(opened.enabled, (*opened.folders, folder))

        return await self._change(user_id, added)

    async def remove(self, user_id: str, folder_path: str) -> JsonObject:
        """Take a folder away: ``McpStatusAnswer``, without success if it isn't there."""
        self._refuse_without_roots()
        names = {folder_path.rstrip("/"), await asyncio.to_thread(self._folder, folder_path)}
        return await self._change(
            user_id,
            lambda opened: _Opened(
                opened.enabled, tuple(name for name in opened.folders if name not in names)
            ),
        )

    async def grep(
        self,
        user_id: str,
        pattern: str,
        *,
        file_type: str = "all",
        max_results: int = 30,
        case_sensitive: bool = False,
        regex: bool = False,
    ) -> JsonObject:
        """Lines in the user's folders: ``GrepAnswer``.

        Raises ChatError ``invalid_request``: searches aren't allowed, there are no folders, or
        the pattern isn't one.
        """
        folders = await self.opened(user_id)
        if not pattern:
            raise ChatError("invalid_request", "The pattern is empty.")
        try:
            found = await grep(
                folders,
                pattern,
                file_type=file_type,
                max_results=max_results,
                case_sensitive=case_sensitive,
                regex=regex,
            )
        except BadPattern as error:
            raise ChatError("invalid_request", str(error)) from None
        results = [
            # A file's name need not be UTF-8.
            match | {key: without_surrogates(match[key]) for key in ("file", "relative")}
            for match in found.results
        ]
        return {
            "success": True,
            "pattern": without_surrogates(pattern),
            "results": results,
            "count": len(results),
            "truncated": found.truncated,
        }

    async def opened(self, user_id: str) -> Folders:
        """The user's folders, to be read. Raises ChatError ``invalid_request`` if none is open."""
        self._refuse_without_roots()
        async with self._file.reading() as connection:
            opened = await _read(connection, user_id)
        if not opened.enabled:
            raise ChatError("invalid_request", "Searches in your folders aren't enabled.")
        folders = await asyncio.to_thread(self._still_there, opened.folders)
        if not folders.roots:
            raise ChatError("invalid_request", "You have opened no folder yet. Add one first.")
        return folders

    async def _change(self, user_id: str, change: Callable[[_Opened], _Opened]) -> JsonObject:
        """``McpStatusAnswer``: its success says whether anything is changed."""
        self._refuse_without_roots()
        async with self._file.transaction() as connection:
            before = await _read(connection, user_id)
            after = change(before)
            if after != before:
                await connection.execute(
                    "INSERT OR REPLACE INTO folder_settings (owner, enabled, folders)"
                    " VALUES (?, ?, ?)",
                    (owner(user_id), after.enabled, orjson.dumps(after.folders).decode()),
                )
        return {"success": after != before, "status": self._status(after)}

    def _status(self, opened: _Opened) -> JsonObject:
        return {
            "enabled": opened.enabled,
            "folders_count": len(opened.folders),
            "folders": list(opened.folders),
            "server_url": self._server_url,
        }

    def _folder(self, path: str) -> str | None:
        """A folder that the server opens, resolved; None if the path leads to none."""
        if not path.startswith("/"):
            return None
        try:
            folder = self._allowed.place(path).path
            folder.encode()  # else no answer can name it
            return folder if Path(folder).is_dir() else None
        except (OSError, UnicodeEncodeError):
            return None

    def _still_there(self, folders: Sequence[str]) -> Folders:
        """Since it was added, a folder may have gone, or have become a link to somewhere else."""
        there = [folder for folder in folders if self._folder(folder) == folder]
        return Folders(there, within=self._allowed)

    def _refuse_without_roots(self) -> None:
        if not self._allowed.roots:
            raise ChatError("folders_unavailable", "This server opens no folders.")


_DONE = {"success": True}


async def _read(connection: Connection, user_id: str) -> _Opened:
    found = await rows(
        connection,
        "SELECT enabled, folders FROM folder_settings WHERE owner = ?",
        (owner(user_id),),
    )
    for enabled, folders in found:
        return _Opened(bool(enabled), tuple(orjson.loads(folders)))
    return _Opened()
