"""Find, read and list files, and tell what project this is."""

from __future__ import annotations

import codecs
import os
import stat
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from copilot_core.timestamps import as_utc
from copilot_core.tools.workspace.folders import Bounds, NotThere

if TYPE_CHECKING:
    from copilot_core.ports import JsonObject
    from copilot_core.tools.workspace.folders import Folders, Place

#: Bytes of a file that are looked at, and of those the ones that are given out.
_READ, _GIVEN = 8 * 1024 * 1024, 256 * 1024
_LISTED = 1000
_USUAL = ("config", "services", "tests", "docs", "resources", "local_data")
#: Where no root is open.
NO_FOLDER: JsonObject = {"error": "No folder is open."}


def search_files(
    folders: Folders, query: str, file_type: str = "all", max_results: int = 50
) -> JsonObject:
    """Files whose name has `query` in it, in any case. Never raises."""
    if not folders.roots:
        return dict(NO_FOLDER)
    bounds, wanted, total = Bounds(), query.casefold(), 0
    results: list[JsonObject] = []
    for file in folders.walk(bounds):
        if wanted not in file.name.casefold() or not has_type(file.name, file_type):
            continue
        total += 1
        if len(results) < max_results:
            results.append(
                {
                    "filename": file.name,
                    "path": file.relative,
                    "full_path": file.path,
                    "size": file.size,
                }
            )
    return {
        "query": query,
        "file_type": file_type,
        "total_found": total,
        "results": results,
        "returned": len(results),
        "truncated": bounds.reached,
    }


def has_type(name: str, file_type: str) -> bool:
    """Whether a file's name ends as `file_type` says: `all`, `py`, `.py`."""
    return file_type in ("all", "") or name.lower().endswith("." + file_type.lower().lstrip("."))


def read_file_content(folders: Folders, file_path: str, max_lines: int = 500) -> JsonObject:
    """The first lines of a text file. Never raises."""
    try:
        with folders.place(file_path).opened() as file:
            if not stat.S_ISREG(os.fstat(file).st_mode):
                raise NotThere
            data = read(file, _READ + 1)
    except FileNotFoundError:
        return {"error": f"File không tồn tại: {file_path}"}
    except OSError:
        return {"error": "Lỗi đọc file: the file can't be read."}
    if is_binary(data):
        return {"error": "Lỗi đọc file: the file isn't text."}
    given = _first_lines(data[:_READ], max_lines)
    return {
        "file_path": file_path,
        "total_lines": _lines(data[:_READ]),
        "lines_read": _lines(given),
        "truncated": len(given) < len(data),
        # Where a line was cut, not in the middle of a character.
        "content": codecs.getincrementaldecoder("utf-8")("replace").decode(
            given, final=given.endswith(b"\n") or len(given) == len(data)
        ),
    }


def read(file: int, size: int) -> bytes:
    """The next bytes of a file, at most `size`. Raises OSError."""
    pieces: list[bytes] = []
    while size > 0 and (piece := os.read(file, size)):
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)


def is_binary(data: bytes) -> bool:
    """Whether it isn't text: as git sees it, text has no NUL at its beginning."""
    return b"\0" in data[:8192]


def _lines(data: bytes) -> int:
    return data.count(b"\n") + (not data.endswith((b"\n",)) and data != b"")


def _first_lines(data: bytes, lines: int) -> bytes:
    """At most so many, and whole ones, where a line isn't longer than what is given out."""
    end = 0
    while lines and end < len(data):
        lines -= 1
        next_end = data.find(b"\n", end) + 1 or len(data)
        if next_end > _GIVEN:
            break
        end = next_end
    return data[: end or _GIVEN]


def list_directory(folders: Folders, directory: str = ".") -> JsonObject:
    """The folders and files in a folder. Never raises.

    A link is told as what it leads to; one that leads out of the roots isn't told.
    """
    if not folders.roots:
        return dict(NO_FOLDER)
    found: dict[bool, list[JsonObject]] = {True: [], False: []}
    bounds = Bounds()
    try:
        place = folders.place(directory)
        with place.opened() as folder, os.scandir(folder) as entries:
            for entry in entries:
                if bounds.spent:
                    break
                bounds.entries -= 1
                if told := _told(folders, place, entry):
                    found[told["size"] is None].append(told)
    except OSError:
        return {"error": f"There is no such folder: {directory}"}
    for listed in found.values():
        listed.sort(key=lambda told: told["name"])
    total = sum(map(len, found.values()))
    return {
        "directory": directory,
        "total_items": total,
        "folders": found[True][:_LISTED],
        "files": found[False][:_LISTED],
        "truncated": bounds.reached or max(map(len, found.values())) > _LISTED,
    }


def _told(folders: Folders, place: Place, entry: os.DirEntry[str]) -> JsonObject | None:
    try:
        what = entry.stat(follow_symlinks=False)
        if stat.S_ISLNK(what.st_mode):
            leads_to = folders.place(os.path.join(place.path, entry.name))  # noqa: PTH118
            with leads_to.opened() as opened:
                what = os.fstat(opened)
    except OSError:
        return None
    if not (stat.S_ISDIR(what.st_mode) or stat.S_ISREG(what.st_mode)):
        return None
    return {
        "name": entry.name,
        "size": what.st_size if stat.S_ISREG(what.st_mode) else None,
        "modified": as_utc(what.st_mtime) or "",
    }


def get_project_info(folders: Folders) -> JsonObject:
    """What the first root is. Never raises."""
    if not folders.roots:
        return dict(NO_FOLDER)
    base = folders.roots[0]
    usual = {name: _is_folder(folders, f"{base}/{name}") for name in _USUAL}
    services: list[str] = []
    if usual["services"]:
        listed = list_directory(folders, f"{base}/services").get("folders", [])
        services = [folder["name"] for folder in listed]
    count = len(services) or "no"
    return {
        "project_name": PurePosixPath(base).name or base,
        "base_directory": base,
        "services": services,
        "structure": usual,
        "description": f"A project with {count} service{'' if count == 1 else 's'}.",
    }


def _is_folder(folders: Folders, path: str) -> bool:
    try:
        with folders.place(path).opened() as opened:
            return stat.S_ISDIR(os.fstat(opened).st_mode)
    except OSError:
        return False
