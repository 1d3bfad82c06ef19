"""Files under the roots, and nothing outside them, whatever the paths and the files are."""

import os
import shutil
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from copilot_contracts import Registry
from copilot_core.tools.workspace.files import (
    get_project_info,
    list_directory,
    read_file_content,
    search_files,
)
from copilot_core.tools.workspace.folders import Bounds, Folders
from copilot_core.tools.workspace.logs import search_logs

SURFACE = Registry.bundled().surface("chatbot")


def kept(tool: str, told: dict[str, Any]) -> dict[str, Any]:
    """What a tool told, which keeps its contract."""
    violation = SURFACE.contract("mcp_return", tool).violation(told)
    assert violation is None, violation
    return told


def names(told: list[dict[str, Any]]) -> list[str]:
    return [item.get("path") or item["name"] for item in told]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "root"
    (root / "notes" / "old").mkdir(parents=True)
    (root / "notes" / "lab.md").write_text("PC1\nPC2\nPC3\n")
    (root / "notes" / "old" / "Lab.txt").write_text("old")
    (tmp_path / "secret.txt").write_text("secret")
    return root


# -- reading ------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["notes/lab.md", "./notes//old/../lab.md", "ABSOLUTE"])
def test_a_file_is_read(root: Path, path: str) -> None:
    path = path.replace("ABSOLUTE", str(root / "notes" / "lab.md"))
    told = kept("read_file_content", read_file_content(Folders([root]), path, max_lines=2))
    assert told == {
        "file_path": path,
        "total_lines": 3,
        "lines_read": 2,
        "truncated": True,
        "content": "PC1\nPC2\n",
    }


@pytest.mark.parametrize(
    ("data", "lines", "content"),
    [
        (b"", 0, ""),
        (b"\n", 1, "\n"),
        (b"a", 1, "a"),
        (b"a\r\nb\x0cc\xe2\x80\xa8d", 2, "a\r\nb\x0cc\u2028d"),
        (b"caf\xe9 \xf0\x9f\x99", 1, "caf\ufffd \ufffd"),
        (b"x" * 300_000, 1, "x" * 256 * 1024),
        (b"x" + "€".encode() * 100_000, 1, "x" + "€" * 87381),
        ((b"x" * 99_999 + b"\n") * 4, 4, ("x" * 99_999 + "\n") * 2),
    ],
    ids=["empty", "line end", "no line end", "other line ends", "not UTF-8", "long", "cut", "four"],
)
def test_text_is_told_as_it_is(root: Path, data: bytes, lines: int, content: str) -> None:
    (root / "file").write_bytes(data)
    told = kept("read_file_content", read_file_content(Folders([root]), "file"))
    assert (told["total_lines"], told["content"]) == (lines, content)
    assert told["truncated"] is (len(content.encode()) < len(data) and "\ufffd" not in content)
    assert told["lines_read"] == content.count("\n") + (content[-1:] not in ("", "\n"))


def test_of_a_huge_file_the_beginning_is_read(root: Path) -> None:
    with (root / "huge").open("wb") as file:
        file.writelines([b"line\n" * 200_000] * 9)
    os.truncate(root / "huge", 100 * 2**30)
    began = time.monotonic()
    told = kept("read_file_content", read_file_content(Folders([root]), "huge", 10_000))
    assert time.monotonic() - began < 2
    assert (told["lines_read"], told["truncated"]) == (10_000, True)
    assert told["total_lines"] == 8 * 1024 * 1024 // 5 + 1


HOSTILE = [
    "../secret.txt",
    "../../../../../../../../etc/passwd",
    "/etc/passwd",
    "/dev/zero",
    "/proc/self/environ",
    "notes/../../secret.txt",
    "SECRET",
    "ROOT/../secret.txt",
    "ROOT-twin/file",
    "link out",
    "folder out/secret.txt",
    "zero",
    "ring",
    "self",
    "pipe",
    "socket",
    "notes",
    "",
    ".",
    "notes/lab.md/..",
    "nothing",
    "dangling",
    "a\0b",
    "\ud800",
    "\udc80",
    "x" * 4096,
    "../" * 1300,
    "a/" * 2048,
    "~/.ssh/id_rsa",
    "file:///etc/passwd",
    "notes/lab.md\n",
]


@pytest.fixture
def hostile(root: Path, tmp_path: Path) -> Iterator[Path]:
    (tmp_path / "root-twin").mkdir()
    (tmp_path / "root-twin" / "file").write_text("secret")
    (root / "link out").symlink_to(tmp_path / "secret.txt")
    (root / "folder out").symlink_to("..")
    (root / "zero").symlink_to("/dev/zero")
    (root / "ring").symlink_to("ring 2")
    (root / "ring 2").symlink_to("ring")
    (root / "self").symlink_to(".")
    (root / "dangling").symlink_to("nothing")
    os.mkfifo(root / "pipe")
    with closing(socket.socket(socket.AF_UNIX)) as listening:
        here = os.open(root, os.O_RDONLY)
        listening.bind(f"/proc/self/fd/{here}/socket")
        os.close(here)
        yield root


@pytest.mark.parametrize("path", HOSTILE, ids=lambda path: ascii(path)[:40])
def test_nothing_outside_is_told(hostile: Path, path: str) -> None:
    path = path.replace("ROOT", str(hostile)).replace("SECRET", f"{hostile.parent}/secret.txt")
    began = time.monotonic()
    folders = Folders([hostile])
    told = kept("read_file_content", read_file_content(folders, path))
    # The same whether it is there or not.
    assert told == {"error": f"File không tồn tại: {path}"}
    listed = kept("list_directory", list_directory(folders, path))
    inside = os.path.realpath(hostile / path) if "\0" not in path and path.isprintable() else ""
    if not inside.startswith(f"{hostile}/") and inside != str(hostile):
        assert listed == {"error": f"There is no such folder: {path}"}
    assert time.monotonic() - began < 1


def test_links_inside_are_followed_and_others_not_told(hostile: Path) -> None:
    (hostile / "to lab").symlink_to("notes/lab.md")
    (hostile / "to notes").symlink_to(hostile / "notes")
    folders = Folders([hostile])
    assert read_file_content(folders, "to notes/lab.md")["content"] == "PC1\nPC2\nPC3\n"
    told = kept("list_directory", list_directory(folders))
    assert names(told["folders"]) == ["notes", "self", "to notes"]
    assert names(told["files"]) == ["to lab"]
    assert [item["size"] for item in told["files"]] == [12]
    assert told["total_items"] == 4
    found = kept("search_files", search_files(folders, ""))
    assert names(found["results"]) == ["notes/lab.md", "notes/old/Lab.txt"]


def test_a_root_is_a_link_itself(root: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(root)
    folders = Folders([tmp_path / "link"])
    for path in ("notes/lab.md", f"{root}/notes/lab.md", f"{tmp_path}/link/notes/lab.md"):
        assert read_file_content(folders, path)["lines_read"] == 3


def test_what_is_exchanged_for_a_link_while_it_is_read_leads_nowhere(
    root: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    shutil.copytree(root / "notes", outside)
    (outside / "lab.md").write_text("secret")
    ended = threading.Event()

    def exchange() -> None:
        while not ended.is_set():
            (root / "notes").rename(root / "kept")
            (root / "notes").symlink_to(outside)
            (root / "notes").unlink()
            (root / "kept").rename(root / "notes")

    thread = threading.Thread(target=exchange)
    thread.start()
    try:
        told = [read_file_content(Folders([root]), "notes/lab.md") for _ in range(3000)]
        found = [search_files(Folders([root]), "lab") for _ in range(300)]
    finally:
        ended.set()
        thread.join()
    assert {item["content"] for item in told if "content" in item} == {"PC1\nPC2\nPC3\n"}
    assert {file["size"] for item in found for file in item["results"]} <= {12, 3}


def test_names_of_any_kind(root: Path) -> None:
    folder = os.fsencode(root)
    for name in (b"new\nline.md", b"\xff.md", "Ngữ cảnh.md".encode(), b"-rf.md", b"'\";$(x).md"):
        (Path(os.fsdecode(folder)) / os.fsdecode(name)).write_text("x")
    folders = Folders([root])
    found = kept("search_files", search_files(folders, "", "md"))
    assert found["total_found"] == 6
    for file in found["results"]:
        assert read_file_content(folders, file["path"])["lines_read"] > 0
    assert kept("list_directory", list_directory(folders))["total_items"] == 6
    assert names(search_files(folders, "NGỮ")["results"]) == ["Ngữ cảnh.md"]


# -- finding and listing ------------------------------------------------------------------


def test_found_are_counted_also_beyond_what_is_listed(root: Path) -> None:
    told = kept("search_files", search_files(Folders([root]), "LAB", max_results=1))
    assert (told["total_found"], told["returned"], told["truncated"]) == (2, 1, False)
    assert told["results"] == [
        {
            "filename": "lab.md",
            "path": "notes/lab.md",
            "full_path": f"{root}/notes/lab.md",
            "size": 12,
        }
    ]
    assert names(search_files(Folders([root]), "", "TXT")["results"]) == ["notes/old/Lab.txt"]
    assert names(search_files(Folders([root]), "", ".txt")["results"]) == ["notes/old/Lab.txt"]


def test_roots_in_each_other_are_searched_once(root: Path) -> None:
    folders = Folders([root / "notes", root, root / "notes"])
    assert names(search_files(folders, "")["results"]) == ["notes/lab.md", "notes/old/Lab.txt"]
    assert read_file_content(folders, "lab.md")["lines_read"] == 3


def test_what_other_programs_keep_isnt_searched(root: Path) -> None:
    for name in (".git", "node_modules", "__pycache__"):
        (root / name).mkdir()
        (root / name / "lab").touch()
    assert search_files(Folders([root]), "lab")["total_found"] == 2
    assert names(list_directory(Folders([root]))["folders"]) == [
        ".git",
        "__pycache__",
        "node_modules",
        "notes",
    ]


def test_a_deep_tree_ends(root: Path) -> None:
    levels = [os.open(root, os.O_RDONLY)]
    try:
        for _ in range(900):  # longer, all together, than a path may be
            os.mkdir("deeper", dir_fd=levels[-1])
            levels.append(os.open("deeper", os.O_RDONLY, dir_fd=levels[-1]))
        told = kept("search_files", search_files(Folders([root]), "lab"))
        assert (told["total_found"], told["truncated"]) == (2, True)
    finally:
        # No other program's way to remove a tree has to cope with it.
        os.close(levels.pop())
        while levels:
            os.rmdir("deeper", dir_fd=levels[-1])
            os.close(levels.pop())


def test_a_wide_folder_ends(root: Path) -> None:
    for number in range(3000):
        (root / "notes" / f"{number:04}").touch()
    told = kept("list_directory", list_directory(Folders([root]), "notes"))
    assert (told["total_items"], len(told["files"]), told["truncated"]) == (3002, 1000, True)
    bounds = Bounds(entries=1000)
    assert len(list(Folders([root]).walk(bounds))) < 1000
    assert bounds.reached


def test_time_ends_a_walk(root: Path) -> None:
    bounds = Bounds(seconds=0)
    time.sleep(0.001)
    assert list(Folders([root]).walk(bounds)) == []
    assert bounds.reached


@pytest.mark.parametrize("seconds", [-1e11, 2e11, 253402300800])
def test_a_file_of_another_age(root: Path, seconds: float) -> None:
    os.utime(root / "notes" / "lab.md", (0, seconds))
    kept("list_directory", list_directory(Folders([root]), "notes"))


# -- the project and its logs -------------------------------------------------------------


def test_project(root: Path) -> None:
    (root / "services" / "chatbot").mkdir(parents=True)
    (root / "services" / "note.txt").touch()
    (root / "tests").touch()
    (root / "docs").symlink_to("notes")
    (root / "config").symlink_to("/etc")
    assert kept("get_project_info", get_project_info(Folders([root]))) == {
        "project_name": "root",
        "base_directory": str(root),
        "services": ["chatbot"],
        "structure": {
            "config": False,
            "services": True,
            "tests": False,
            "docs": True,
            "resources": False,
            "local_data": False,
        },
        "description": "A project with 1 service.",
    }


@pytest.fixture
def logs(root: Path) -> Path:
    (root / "services" / "chat" / "logs").mkdir(parents=True)
    (root / "services" / "chat" / "logs" / "app.log").write_text("ERROR a\r\nfine\r\nerror b")
    (root / "mcp.log.1").write_text("fine\n\nno error\n")
    (root / "mcp.logs").write_text("error")
    (root / "binary.log").write_bytes(b"error\0")
    return root


def test_the_newest_lines_of_each_log(logs: Path) -> None:
    told = kept("search_logs", search_logs(Folders([logs]), level="Error", last_n_lines=1))
    assert told == {
        "service_filter": "all",
        "level_filter": "Error",
        "logs_found": 2,
        "data": [
            {"service": "mcp", "file": "mcp.log.1", "total_lines": 1, "entries": ["no error"]},
            {
                "service": "chat",
                "file": "services/chat/logs/app.log",
                "total_lines": 2,
                "entries": ["error b"],
            },
        ],
        "truncated": False,
    }
    of_chat = kept("search_logs", search_logs(Folders([logs]), service="CHAT"))
    assert [log["entries"] for log in of_chat["data"]] == [["ERROR a", "fine", "error b"]]


def test_logs_without_end(logs: Path) -> None:
    with (logs / "huge.log").open("wb") as file:
        file.writelines([b"x" * 99 + b"\n"] * 50_000)
        file.write(b"y" * 5000 + b"\nlast\n")
    for number in range(150):
        (logs / f"many{number}.log").write_text("line\n" * 2000)
    began = time.monotonic()
    told = kept("search_logs", search_logs(Folders([logs]), last_n_lines=1000))
    assert time.monotonic() - began < 6
    assert told["truncated"] is True
    assert (told["logs_found"], len(told["data"])) == (154, 100)
    huge = next(log for log in told["data"] if log["service"] == "huge")
    assert huge["entries"][-2:] == ["y" * 2000, "last"]
    assert huge["total_lines"] < 11_000
    assert sum(len(line) for log in told["data"] for line in log["entries"]) <= 256 * 1024


def test_without_a_folder() -> None:
    folders = Folders([])
    for tool, told in {
        "search_files": search_files(folders, ""),
        "list_directory": list_directory(folders),
        "get_project_info": get_project_info(folders),
        "search_logs": search_logs(folders),
    }.items():
        assert kept(tool, told) == {"error": "No folder is open."}
    kept("read_file_content", read_file_content(folders, "/etc/passwd"))


def test_a_root_that_has_gone(tmp_path: Path) -> None:
    folders = Folders([tmp_path / "gone"])
    assert kept("search_files", search_files(folders, ""))["truncated"] is True
    assert "error" in kept("list_directory", list_directory(folders))
    kept("get_project_info", get_project_info(folders))
    kept("search_logs", search_logs(folders))


PARTS = st.sampled_from(
    ["..", ".", "", "/", "notes", "lab.md", "old", "folder out", "link out", "self", "secret.txt"]
)


@given(st.lists(PARTS, max_size=8).map("/".join) | st.text(max_size=30))
def test_no_path_leads_outside(tree: Path, path: str) -> None:
    folders = Folders([tree])
    told = kept("read_file_content", read_file_content(folders, path))
    assert told.get("content", "PC1") == "PC1"
    listed = kept("list_directory", list_directory(folders, path))
    assert "secret.txt" not in names(listed.get("files", []))


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A root with ways out of it."""
    outside = tmp_path_factory.mktemp("outside")
    (outside / "root" / "notes" / "old").mkdir(parents=True)
    (outside / "root" / "notes" / "lab.md").write_text("PC1")
    (outside / "secret.txt").write_text("secret")
    (outside / "root" / "folder out").symlink_to("..")
    (outside / "root" / "notes" / "link out").symlink_to("../../secret.txt")
    (outside / "root" / "self").symlink_to(".")
    return outside / "root"
