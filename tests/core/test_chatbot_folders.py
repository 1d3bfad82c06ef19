"""Each user's folders, in a real file and on a real disk."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from chatbot_services import HOSTILE, Json, kept, refused, services
from copilot_core.chatbot.folders import MOST, FolderSettings
from copilot_core.chatbot.services import ChatbotServices
from copilot_core.tools.workspace.files import read_file_content
from copilot_core.tools.workspace.grep import grep


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in ("notes", "other/deep"):
        (tmp_path / "srv" / name).mkdir(parents=True)
    (tmp_path / "srv/notes/lab.md").write_text("one\nTODO: PC1\n")
    (tmp_path / "srv/other/deep/b.py").write_text("# todo: b\n")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/secret").write_text("TODO: secret")
    return (tmp_path / "srv").resolve()


@pytest.fixture
async def chatbot(tmp_path: Path, root: Path) -> AsyncIterator[ChatbotServices]:
    async with services(tmp_path / "data", roots=[root]) as opened:
        yield opened


async def lines(
    folders: FolderSettings, pattern: str, user: str = "ann", **more: object
) -> list[str]:
    answer = kept("grep:200", await folders.grep(user, pattern, **more))  # type: ignore[arg-type]
    assert answer["count"] == len(answer["results"])
    return [f"{m['file']}:{m['line']}" for m in answer["results"]]


async def status(folders: FolderSettings, user: str = "ann") -> Json:
    told = kept("McpStatus", await folders.status(user), "model")
    assert told["folders_count"] == len(told["folders"])
    return told


async def test_what_is_opened_is_searched(tmp_path: Path, root: Path) -> None:
    notes, other = str(root / "notes"), str(root / "other")
    async with services(
        tmp_path / "data", roots=[root], server_url="http://127.0.0.1:1/mcp"
    ) as one:
        folders = one.folders
        assert await status(folders) == {
            "enabled": False,
            "folders_count": 0,
            "folders": [],
            "server_url": "http://127.0.0.1:1/mcp",
        }
        for _ in range(2):
            answer = kept("enable_mcp:200", await folders.enable("ann"))
            assert (answer["success"], answer["status"]["enabled"]) == (True, True)
        for path, done in ((notes, True), (f"{notes}/../notes/", False), (other, True)):
            answer = kept("add_folder:200", await folders.add("ann", path))
            assert answer["success"] is done
        assert answer["status"] == await status(folders)
    async with services(tmp_path / "data", roots=[root]) as again:  # as another process would
        folders = again.folders
        assert (await status(folders))["folders"] == [notes, other]
        assert await lines(folders, "todo") == [f"{notes}/lab.md:2", f"{other}/deep/b.py:1"]
        assert await lines(folders, "todo", case_sensitive=True) == [f"{other}/deep/b.py:1"]
        assert await lines(folders, "todo", file_type="md") == [f"{notes}/lab.md:2"]
        assert await lines(folders, "todo", max_results=1) == [f"{notes}/lab.md:2"]
        assert await lines(folders, "t.do", regex=True) == await lines(folders, "todo")
        assert await lines(folders, "t.do") == []
        [match] = (await folders.grep("ann", "TODO: PC1"))["results"]
        assert match == {
            "file": f"{notes}/lab.md", "relative": "lab.md", "line": 2, "content": "TODO: PC1"
        }  # fmt: skip
        for done in (True, False):
            answer = kept("remove_folder:200", await folders.remove("ann", notes))
            assert (answer["success"], answer["status"]["folders"]) == (done, [other])
        assert await lines(folders, "todo") == [f"{other}/deep/b.py:1"]
        answer = kept("disable_mcp:200", await folders.disable("ann"))
        assert answer["status"]["folders"] == [other]
        async with refused("invalid_request"):
            await folders.grep("ann", "todo")


async def test_one_users_folders_are_not_anothers(chatbot: ChatbotServices, root: Path) -> None:
    folders = chatbot.folders
    await folders.enable("ann")
    await folders.add("ann", str(root / "notes"))
    for stranger in ("bob", "ANN", "", "ann\0", "\ud800"):
        assert (await status(folders, stranger))["folders"] == []
        async with refused("invalid_request"):
            await folders.grep(stranger, "todo")
        await folders.enable(stranger)
        async with refused("invalid_request"):
            await folders.opened(stranger)
        assert not (await folders.remove(stranger, str(root / "notes")))["success"]
        await folders.disable(stranger)
    assert await lines(folders, "todo") == [f"{root}/notes/lab.md:2"]


async def test_what_is_not_under_a_root(chatbot: ChatbotServices, root: Path) -> None:
    folders = chatbot.folders
    (root / "way-out").symlink_to(root.parent / "outside")
    (root / "a-file").write_text("x")
    os.mkfifo(root / "a-pipe")
    for path in (
        *HOSTILE,
        str(root.parent),
        str(root.parent / "outside"),
        f"{root}/../outside",
        f"{root}/way-out",
        f"{root}/notes/../../outside",
        f"{root}/a-file",
        f"{root}/a-pipe",
        f"{root}/nowhere",
        f"{root}x",
        f"{root}/notes\0",
        f"{root}/\ud800",
        "notes",
        "./notes",
        "/",
        "/proc/self/root",
        f"/proc/self/cwd/{root}",
        "~",
        f"file://{root}",
        "/" + "a/" * 2000,
    ):
        async with refused("invalid_request"):
            await folders.add("ann", path)
        assert not kept("remove_folder:200", await folders.remove("ann", path))["success"]
    assert (await status(folders))["folders"] == []


async def test_the_root_itself_and_through_a_link(chatbot: ChatbotServices, root: Path) -> None:
    (root.parent / "link").symlink_to(root)
    await chatbot.folders.add("ann", f"{root.parent}/link/notes")
    await chatbot.folders.add("ann", str(root))
    assert (await status(chatbot.folders))["folders"] == [str(root / "notes"), str(root)]
    await chatbot.folders.enable("ann")
    assert await lines(chatbot.folders, "TODO: PC1") == [f"{root}/notes/lab.md:2"]
    assert (await chatbot.folders.remove("ann", f"{root.parent}/link"))["success"]


@pytest.mark.parametrize("how", ["gone", "link", "above", "file"])
async def test_a_folder_that_changed(chatbot: ChatbotServices, root: Path, how: str) -> None:
    """It isn't searched, nor what is in its place elsewhere; it can still be removed."""
    deep = root / "other/deep"
    await chatbot.folders.enable("ann")
    await chatbot.folders.add("ann", str(deep))
    before = await chatbot.folders.opened("ann")
    match how:
        case "gone":
            shutil.rmtree(deep)
        case "link":
            shutil.rmtree(deep)
            deep.symlink_to(root.parent / "outside")
        case "above":
            shutil.rmtree(root / "other")
            (root.parent / "outside/deep").mkdir()
            (root.parent / "outside/deep/x").write_text("TODO: secret")
            (root / "other").symlink_to(root.parent / "outside")
        case "file":
            shutil.rmtree(deep)
            deep.write_text("TODO")
    async with refused("invalid_request"):
        await chatbot.folders.grep("ann", "todo")
    assert (await grep(before, "TODO")).results == []
    for name in ("x", "secret", f"{deep}/x", f"{deep}/secret"):
        assert [*read_file_content(before, name)] == ["error"]
    assert (await chatbot.folders.remove("ann", str(deep)))["status"]["folders"] == []


async def test_what_the_server_no_longer_opens(tmp_path: Path, root: Path) -> None:
    async with services(tmp_path / "data", roots=[root]) as chatbot:
        await chatbot.folders.enable("ann")
        await chatbot.folders.add("ann", str(root / "notes"))
        await chatbot.folders.add("ann", str(root / "other"))
    async with services(tmp_path / "data", roots=[root / "other"]) as chatbot:
        assert await lines(chatbot.folders, "todo") == [f"{root}/other/deep/b.py:1"]


async def test_files_of_the_folders_are_read(chatbot: ChatbotServices, root: Path) -> None:
    await chatbot.folders.enable("ann")
    await chatbot.folders.add("ann", str(root / "notes"))
    opened = await chatbot.folders.opened("ann")
    assert read_file_content(opened, f"{root}/notes/lab.md")["content"] == "one\nTODO: PC1\n"
    for path in (f"{root}/other/deep/b.py", f"{root}/../outside/secret"):
        assert [*read_file_content(opened, path)] == ["error"]


async def test_patterns(chatbot: ChatbotServices, root: Path) -> None:
    folders = chatbot.folders
    await folders.enable("ann")
    await folders.add("ann", str(root))
    (root / "notes" / os.fsdecode(b"caf\xe9")).write_text("needle")
    [match] = (kept("grep:200", await folders.grep("ann", "needle")))["results"]
    assert match["relative"] == "notes/caf\ufffd"
    for pattern in ("(", "a{1001}", "(?P<x", "\\", r"(a)\1"):
        async with refused("invalid_request"):
            await folders.grep("ann", pattern, regex=True)
        await lines(folders, pattern)
    async with refused("invalid_request"):
        await folders.grep("ann", "")
    for pattern in HOSTILE[1:]:
        await lines(folders, pattern[:500])


async def test_no_roots(tmp_path: Path) -> None:
    async with services(tmp_path) as chatbot:
        for asked in (
            chatbot.folders.status("ann"),
            chatbot.folders.enable("ann"),
            chatbot.folders.disable("ann"),
            chatbot.folders.add("ann", "/"),
            chatbot.folders.remove("ann", "/"),
            chatbot.folders.grep("ann", "x"),
            chatbot.folders.opened("ann"),
        ):
            async with refused("folders_unavailable"):
                await asked


async def test_many_at_once(chatbot: ChatbotServices, root: Path) -> None:
    """All are kept, for two users side by side, up to the bound."""
    for number in range(MOST + 5):
        (root / f"f{number}").mkdir()
    outcomes = await asyncio.gather(
        *(
            chatbot.folders.add(user, str(root / f"f{number}"))
            for number in range(MOST + 5)
            for user in ("ann", "bob")
        ),
        return_exceptions=True,
    )
    assert sum(isinstance(outcome, dict) for outcome in outcomes) == 2 * MOST
    for user in ("ann", "bob"):
        assert (await status(chatbot.folders, user))["folders_count"] == MOST
    async with refused("invalid_request"):
        await chatbot.folders.add("ann", str(root / "notes"))
