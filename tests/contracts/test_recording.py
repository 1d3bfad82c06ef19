"""Recorded streams: three forms, any cuts, and every finding with its place."""

import json
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from copilot_contracts import Gate, Registry, StreamContract, Surface, verify_stream
from story_surface import story

Write = Callable[..., Path]
CHAT = Registry.bundled().surface("gns3-chat")


def example(name: str, index: int = 0, **changes: Any) -> dict[str, Any]:
    return {**CHAT.contract("event", name).schema["examples"][index], **changes}


TURN = [
    example("content"),
    example("tool_call", 3),
    example("tool_start"),
    example("tool_end"),
    example("done"),
]
SSE = b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in TURN)
LINES = b"".join(json.dumps(event).encode() + b"\n" for event in TURN)
ARRAY = json.dumps(TURN, indent=2).encode()


def found(content: bytes, surface: Surface = CHAT) -> list[tuple[int, int, str]]:
    return [(f.position, f.line, f.rule) for f in verify_stream(surface, content)]


@pytest.mark.parametrize("recording", [SSE, LINES, ARRAY, json.dumps(TURN).encode()])
@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"])
def test_a_good_recording_has_no_findings(recording: bytes, bom: bytes) -> None:
    assert verify_stream(CHAT, bom + recording) == []


def test_what_the_stream_contract_wrote_is_good(write: Write) -> None:
    contract = StreamContract(CHAT, Gate())
    stream = contract.open()
    sent = b": hello\n\n" + contract.encode_anytime(example("heartbeat"))
    for number, event in enumerate(TURN):
        sent += stream.encode(event, id=f"run:{number}")
    assert verify_stream(CHAT, sent) == []


@pytest.mark.parametrize("line_end", [b"\n", b"\r\n", b"\r"])
def test_line_ends(line_end: bytes) -> None:
    broken = SSE.replace(b'"tool_start"', b'"tool_strat"')
    for recording in (broken, b": note\n" + broken):
        lines = 1 if recording is broken else 2
        assert found(recording.replace(b"\n", line_end)) == [
            (3, lines + 4, "UNKNOWN_EVENT"),
            (4, lines + 6, "PAIR"),
            (5, lines + 8, "PAIR"),
        ]


def chunks(content: bytes, cuts: list[int]) -> Iterator[bytes]:
    begin = 0
    for cut in sorted(cuts):
        yield content[begin:cut]
        begin = cut
    yield content[begin:]


BROKEN = SSE.replace(b"tool_start", b"tool_strat").replace(b"\n", b"\r\n") + b"data: {}"


@pytest.mark.parametrize("recording", [BROKEN, b"\xef\xbb\xbf" + LINES * 2, ARRAY + b"x"])
@given(cuts=st.lists(st.integers(0, len(BROKEN)), max_size=12))
def test_cuts_change_nothing(recording: bytes, cuts: list[int]) -> None:
    assert verify_stream(CHAT, chunks(recording, cuts)) == verify_stream(CHAT, recording)


def test_a_line_end_cut_in_two_is_one() -> None:
    cut = SSE.replace(b"\n", b"\r\n").replace(b"tool_start", b"tool_strat")
    assert verify_stream(CHAT, (bytes([byte]) for byte in cut)) == verify_stream(CHAT, cut)
    assert found(cut)[0] == (3, 5, "UNKNOWN_EVENT")


LINE = json.dumps(example("done")).encode()

FAULTS: list[tuple[str, bytes, list[tuple[int, int, str]]]] = [
    ("empty", b"", [(1, 1, "LAST")]),
    ("blank", b" \n\n", [(1, 2, "LAST")]),
    ("comments only", b": a\n\n: b\n\n", [(1, 4, "LAST")]),
    ("no last event", SSE[: SSE.index(b"data: {", 10)], [(2, 2, "LAST")]),
    ("something after the last event", SSE + SSE[: SSE.index(b"\n\n") + 2], [(6, 11, "LAST")]),
    (
        "another session's event",
        SSE.replace(b'"done", "session_id": "', b'"done", "session_id": "S'),
        [(5, 9, "SAME")],
    ),
    ("a block cut off", SSE[:-1], [(5, 9, "UNFINISHED"), (5, 9, "LAST")]),
    ("a line cut off", SSE[:-9], [(5, 9, "UNFINISHED"), (5, 9, "LAST")]),
    ("no JSON", b"data: [DONE]\n\n", [(1, 1, "JSON"), (2, 2, "LAST")]),
    ("an empty event", b"data:\n\n" + SSE, [(1, 1, "JSON")]),
    ("NaN", SSE.replace(b'"status"', b'"x": NaN, "status"'), [(4, 7, "JSON"), (5, 9, "PAIR")]),
    (
        "a key twice",
        b'data: {"type": "done", "type": "done"}\n\n',
        [(1, 1, "JSON"), (2, 2, "LAST")],
    ),
    ("deep", b"data: " + b"[" * 100_000 + b"\n\n" + SSE, [(1, 1, "JSON")]),
    (
        "a large integer",
        SSE.replace(b'"status"', b'"original_size": 123456789012345678901, "status"'),
        [(4, 7, "JSON_INTEGER")],
    ),
    ("not UTF-8", SSE.replace(b"Hello", b"H\xffllo"), [(1, 1, "UTF8")]),
    ("a lone surrogate", SSE.replace(b"Hello", b"H\\ud800"), [(1, 1, "UTF8")]),
    ("a name in the wrong place", b"event: content\n" + SSE, [(1, 1, "FRAMING")]),
    ("shape", SSE.replace(b'"status": "success"', b'"status": "won"'), [(4, 7, "enum")]),
    ("no object", b"data: 1\n\n" + SSE, [(1, 1, "type")]),
    (
        "an event over several lines",
        b"\n\ndata: {\ndata: " + LINE[1:-1] + b',\ndata: "x": 1}\n\n',
        [(1, 3, "additionalProperties")],
    ),
    ("two byte order marks", b"\xef\xbb\xbf" * 2 + b"data: " + LINE + b"\n\n", [(1, 2, "LAST")]),
    ("JSON lines", LINES + b"\n" + LINE, [(6, 7, "LAST")]),
    ("a JSON line that is none", LINES[:-3] + b"\n", [(5, 5, "JSON"), (6, 5, "LAST")]),
    ("a JSON line not in UTF-8", LINES.replace(b"Hello", b"H\xffllo"), [(1, 1, "UTF8")]),
    ("an array", b"[\n" + LINE + b",\n" + LINE + b"]", [(2, 3, "LAST")]),
    ("an empty array", b"[ ]", [(1, 1, "LAST")]),
    ("an array of other things", b"[1,\n" + LINE + b"]", [(1, 1, "type")]),
    ("an array cut off", b"[\n" + LINE, [(2, 2, "JSON")]),
    ("an array cut off after a comma", b"[" + LINE + b",", [(2, 1, "JSON")]),
    ("an array with something after it", b"[" + LINE + b"]\n{}", [(2, 1, "JSON")]),
    ("an array not in UTF-8", b'["\xff"]', [(1, 1, "UTF8"), (1, 1, "LAST")]),
]


@pytest.mark.parametrize(
    ("recording", "findings"), [f[1:] for f in FAULTS], ids=[f[0] for f in FAULTS]
)
def test_findings_say_where(recording: bytes, findings: list[tuple[int, int, str]]) -> None:
    assert found(recording) == findings


def test_findings_never_hold_the_value() -> None:
    secret = "hunter2-hunter2-hunter2-hunter2"
    recordings = [
        SSE.replace(b"success", secret.encode()),
        SSE.replace(b"tool_start", secret.encode()),
        SSE.replace(b'"status"', f'"{secret}"'.encode()),
        f"event: {secret}\n".encode() + SSE,
        f"data: {secret}\n\n".encode(),
        f'data: {{"{secret}": 1, "{secret}": 2}}\n\n'.encode(),
    ]
    for recording in recordings:
        findings = verify_stream(CHAT, recording)
        assert findings
        assert secret not in repr(findings)


STORY = (
    b'event: metadata\ndata: {"request_id": "r"}\n\n'
    b"event: thinking_start\ndata: {}\n\n"
    b'event: thinking\ndata: {"text": "a", "step_index": 0}\n\n'
    b'event: thinking_end\ndata: {"summary": "a"}\n\n'
    b'event: complete\ndata: {"response": "x", "request_id": "r"}\n\n'
)


def test_a_users_own_surface_with_named_events(write: Write) -> None:
    own = Registry.from_folder(write(story())).surface("story")
    assert found(STORY, own) == []
    assert found(STORY.replace(b'_index": 0', b'_index": 1'), own) == [(3, 7, "COUNT")]
    assert found(STORY.replace(b"event: thinking\n", b"event: chunk\n"), own) == [
        (3, 7, "required"),
        (3, 7, "PAIR"),
    ]
    assert found(STORY.replace(b"event: metadata\n", b""), own) == [
        (1, 1, "UNKNOWN_EVENT"),
    ]
    lines = (
        b'{"event": "metadata", "data": {"request_id": "r"}}\n{"event": "suggestions", "data": {}}'
    )
    assert found(lines, own) == [(2, 2, "PLACEHOLDER"), (3, 2, "LAST")]


@pytest.mark.parametrize("content", [b"{}\n", b"data: {}\n\n", b"[" + b"1,\n" * 5000])
def test_more_findings_than_anybody_reads_end_the_check(content: bytes) -> None:
    findings = verify_stream(CHAT, content if content[:1] == b"[" else content * 5000)
    assert len(findings) == 1001
    assert findings[-1].rule == "STOPPED"


def test_blank_lines_before_the_first_event_are_counted_and_not_kept() -> None:
    def recording(begin: bytes) -> Iterator[bytes]:
        for _ in range(2000):
            yield b" \n" * 1000
        yield begin

    for begin in (SSE, LINES, ARRAY):
        assert verify_stream(CHAT, recording(begin)) == []
        broken = begin.replace(b"success", b"won")
        (finding,) = verify_stream(CHAT, recording(broken))
        assert finding.line - found(broken)[0][1] == 2_000_000
    tracemalloc.start()
    verify_stream(CHAT, recording(b""))
    assert tracemalloc.get_traced_memory()[1] < 1 << 20
    tracemalloc.stop()


@pytest.mark.parametrize("begin", [b"{", b"[", b"[\n", b"x", b" "])
def test_a_line_without_an_end_is_not_read_to_it(begin: bytes) -> None:
    asked = 0

    def endless() -> Iterator[bytes]:
        nonlocal asked
        yield begin
        while True:
            asked += 1
            yield b" " * (1 << 20)

    assert "SIZE" in {f.rule for f in verify_stream(CHAT, endless())}
    assert asked < 40


def test_an_event_larger_than_the_reader_holds_ends_the_check() -> None:
    findings = found(b"data: " + b"x" * (17 * 1024 * 1024) + b"\n\n" + SSE)
    assert findings == [(1, 1, "SIZE"), (1, 1, "LAST")]
