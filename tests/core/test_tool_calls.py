"""Tool calls from streamed pieces: decisions A5-A9, A30, A35."""

import json
import time
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.messages.tool import tool_call_chunk

from copilot_core.tool_calls import (
    CallGrowth,
    FinishedCall,
    ToolCallStreamAccumulator,
    finished_call,
)


def chunk(*pieces: dict) -> AIMessageChunk:
    return AIMessageChunk(content="", tool_call_chunks=[tool_call_chunk(**p) for p in pieces])


def run(*chunks, reason="tool_calls", cut=False, taken=()):
    calls = ToolCallStreamAccumulator(taken)
    growth = [event for each in chunks for event in calls.feed(each)]
    last, finished = calls.finish(reason, cut=cut)
    return growth + last, finished


def pieces(*pieces: dict, **kind):
    """Each piece in a chunk of its own."""
    return run(*(chunk(piece) for piece in pieces), **kind)


def check_growth(growth: list[CallGrowth], finished: list[FinishedCall]) -> None:
    """What every event stream of one message keeps to."""
    by_id = {call.id: call for call in finished}
    assert len(by_id) == len(finished)
    seen: dict[str, CallGrowth] = {}
    for event in growth:
        call = by_id[event.call_id]
        assert event.name == call.name
        if (before := seen.get(event.call_id)) is not None:
            assert event.arguments.startswith(before.arguments)
            assert not before.complete
        seen[event.call_id] = event
    for call in finished:
        assert seen[call.id].arguments == call.arguments
        assert seen[call.id].complete == call.valid


def test_the_three_phases_of_the_document():
    growth, finished = pieces(
        {"index": 0, "id": "call_123", "name": "ping", "args": ""},
        {"index": 0, "args": '{"to": ['},
        {"index": 0, "args": '"R1"]}'},
    )
    assert growth == [
        CallGrowth("call_123", "ping", ""),
        CallGrowth("call_123", "ping", '{"to": ['),
        CallGrowth("call_123", "ping", '{"to": ["R1"]}'),
        CallGrowth("call_123", "ping", '{"to": ["R1"]}', complete=True),
    ]
    assert finished == [FinishedCall("call_123", "ping", '{"to": ["R1"]}', {"to": ["R1"]})]


A = '{"n":1}'
B = '{"n":2}'


@pytest.mark.parametrize(
    ("stream", "calls"),
    [
        pytest.param(
            [
                {"index": 0, "id": "a", "name": "x"},
                {"index": 0, "id": "b", "name": "y"},
            ],
            [("a", "x", "{}"), ("b", "y", "{}")],
            id="B40: one index, two ids",
        ),
        pytest.param(
            [
                {"index": 0, "id": "a", "name": "x", "args": '{"n'},
                {"index": 1, "id": "b", "name": "y", "args": '{"n'},
                {"index": 0, "args": '":1}'},
                {"index": 1, "args": '":2}'},
            ],
            [("a", "x", A), ("b", "y", B)],
            id="interleaved",
        ),
        pytest.param(
            [
                {"index": 0, "id": "a", "name": "x", "args": '{"n'},
                {"index": 1, "id": "b", "name": "x", "args": '{"n'},
                {"index": 0, "id": "a", "name": "x", "args": '":1}'},
                {"index": 1, "id": "b", "name": "x", "args": '":2}'},
            ],
            [("a", "x", A), ("b", "x", B)],
            id="id and name in every piece",
        ),
        pytest.param(
            [
                {"index": 0, "id": "null", "name": "x", "args": A},
                {"index": 0, "id": "", "name": "x", "args": B},
            ],
            [(None, "x", A), (None, "x", B)],
            id="one index, no ids, whole calls",
        ),
        pytest.param(
            [
                {"index": None, "id": None, "name": "x", "args": A},
                {"index": None, "id": None, "name": "y", "args": '{"n"'},
                {"index": None, "args": ":2}"},
            ],
            [(None, "x", A), (None, "y", B)],
            id="no index, no ids",
        ),
        pytest.param(
            [
                {"index": 0, "args": '{"n"'},
                {"index": 0, "id": "late", "args": ":1"},
                {"index": 0, "name": "x", "args": "}"},
            ],
            [("late", "x", A)],
            id="id and name late, nothing shown yet",
        ),
        pytest.param(
            [
                {"index": 0, "name": "x", "args": '{"n"'},
                {"index": 0, "id": "late", "args": ":1"},
                {"index": 3, "id": "late", "args": "}"},
            ],
            [(None, "x", A)],
            id="id late, already shown; then under another index",
        ),
        pytest.param(
            [
                {"index": 0, "id": "a", "name": "x", "args": '{"n"'},
                {"index": 0, "args": ":1}"},
                {"index": 0, "id": "a", "name": "x", "args": '{"n": 1}'},
            ],
            [("a", "x", A)],
            id="sent again whole",
        ),
        pytest.param(
            [
                {"index": 0, "id": "a", "name": "x", "args": "{}"},
                {"index": 0, "args": '{"n"'},
                {"index": 0, "args": ":1}"},
            ],
            [("a", "x", A)],
            id="placeholder",
        ),
        pytest.param(
            [{"index": 0, "id": "a", "name": "x", "args": "{}"}, {"index": 0, "args": "{}"}],
            [("a", "x", "{}")],
            id="no arguments, twice",
        ),
        pytest.param(
            [
                {"index": 0, "id": "same", "name": "x", "args": A},
                {"index": 1, "id": "same", "name": "x", "args": '{"n"'},
                {"index": 1, "id": "same", "args": ":2}"},
            ],
            [("same", "x", A), (None, "x", B)],
            id="one id for two calls",
        ),
        pytest.param(
            [
                {"index": 0, "id": "same", "name": "x", "args": A},
                {"index": 1, "id": "same", "name": "y", "args": B},
            ],
            [("same", "x", A), (None, "y", B)],
            id="one id for two tools",
        ),
        pytest.param(
            [
                {"index": 0, "id": "used", "name": "x", "args": '{"n"'},
                {"index": 0, "id": "used", "args": ":1}"},
            ],
            [(None, "x", A)],
            id="an id of an earlier message",
        ),
        pytest.param(
            [
                {"index": 0, "id": "a", "name": "x", "args": part}
                for part in ("", "{", '{"n', '{"n":', A, A)
            ],
            [("a", "x", A)],
            id="each piece from the beginning",
        ),
        pytest.param(
            [{"index": 0, "id": "a", "name": "x", "args": '{"n":'}, {"index": 0, "args": A}],
            [("a", "x", A)],
            id="from the beginning, where it could go on with itself",
        ),
        pytest.param(
            [
                {"index": 0, "id": "a", "name": "x", "args": '{"n":'},
                {"index": 0, "args": '{"n":1'},
                {"index": 0, "args": "}}"},
            ],
            [("a", "x", '{"n":{"n":1}}')],
            id="going on with itself",
        ),
        pytest.param(
            [
                {"index": 0, "id": "i" * 5000, "name": "x", "args": '{"n"'},
                {"index": 1, "id": "i" * 4096, "name": "x", "args": B},
                {"index": 0, "id": "i" * 5000, "args": ":1}"},
            ],
            [(None, "x", A), ("i" * 4096, "x", B)],
            id="an id that is too long",
        ),
        pytest.param(
            [
                {"index": 0},
                {"index": 1, "id": "a", "name": "x"},
                {"index": 2, "name": "", "id": ""},
            ],
            [("a", "x", "{}")],
            id="pieces that say nothing",
        ),
    ],
)
def test_which_call_a_piece_belongs_to(stream, calls):
    growth, finished = pieces(*stream, taken={"used"})
    check_growth(growth, finished)
    assert all(call.valid for call in finished)
    assert [(call.name, call.arguments) for call in finished] == [call[1:] for call in calls]
    for call, (call_id, _, _) in zip(finished, calls, strict=True):
        if call_id is None:
            assert call.id.startswith("call_")
            assert len(call.id) == 37
        else:
            assert call.id == call_id


@pytest.mark.parametrize("arguments", ["", "  ", "{}", '{"a": [1, 2.5, null]}', ' {"a": "ü😀"}\n'])
@pytest.mark.parametrize("reason", ["tool_calls", "TOOL_CALLS", "stop", "Stop", None, ""])
def test_valid_arguments(arguments, reason):
    growth, [call] = pieces({"index": 0, "id": "a", "name": "x", "args": arguments}, reason=reason)
    check_growth(growth, [call])
    assert call.args == json.loads(arguments.strip() or "{}")
    assert json.loads(call.arguments) == call.args


@pytest.mark.parametrize(
    "arguments",
    ['{"a"', "[]", "null", '"{}"', "1", '{"a": NaN}', '{"a": 1} {"b": 2}', "{'a': 1}", "[" * 5000],
)
def test_invalid_arguments(arguments):
    growth, [call] = pieces({"index": 0, "id": "a", "name": "x", "args": arguments})
    check_growth(growth, [call])
    assert (call.valid, call.args, call.arguments) == (False, None, arguments)
    assert "not a JSON object" in call.error


@pytest.mark.parametrize(
    "ending", [{"reason": "length"}, {"reason": "LENGTH"}, {"reason": None, "cut": True}]
)
def test_a_cut_makes_open_arguments_invalid_and_leaves_closed_ones(ending):
    growth, finished = pieces(
        {"index": 0, "id": "a", "name": "x", "args": A},
        {"index": 1, "id": "b", "name": "x", "args": '{"n":'},
        {"index": 2, "id": "c", "name": "x"},
        **ending,
    )
    check_growth(growth, finished)
    assert [call.valid for call in finished] == [True, False, False]
    assert all("cut off" in call.error for call in finished[1:])


def test_a_call_that_names_no_tool_is_shown_at_the_end_only():
    growth, [call] = pieces({"index": 0, "id": "a"}, {"index": 0, "args": "{}"})
    assert growth == [CallGrowth("a", "", "{}")]
    assert call == FinishedCall("a", "", "{}", None, "The call names no tool.")


def test_a_name_that_is_too_long_is_cut_and_names_no_tool():
    long = "x" * 100_000
    growth, [call] = pieces(
        {"index": 0, "id": "a", "name": long, "args": A}, {"index": 0, "name": long, "args": A}
    )
    check_growth(growth, [call])
    assert (call.name, call.valid) == ("x" * 64, False)
    assert "64 characters" in call.error


def test_a_message_sent_whole():
    message = AIMessage(
        content="",
        tool_calls=[
            {"id": "a", "name": "x", "args": {"n": 1}},
            {"id": "b", "name": "x", "args": {}},
        ],
        invalid_tool_calls=[{"id": "c", "name": "x", "args": "{", "error": None}],
    )
    growth, finished = run(message)
    check_growth(growth, finished)
    assert [(call.id, call.args) for call in finished] == [("a", {"n": 1}), ("b", {}), ("c", None)]


def test_a_character_cut_in_two_is_joined_and_a_lone_half_replaced():
    growth, [call] = pieces(
        {"index": 0, "id": "a", "name": "x", "args": '{"s": "\ud83d'},
        {"index": 0, "args": '\ude00 \udfff"}'},
    )
    check_growth(growth, [call])
    assert call.args == {"s": "😀 \ufffd"}
    growth, [call] = pieces({"index": 0, "id": "a", "name": "x", "args": '{"s": "\ud83d'})
    check_growth(growth, [call])
    assert call.arguments == '{"s": "\ufffd'


def test_50_kib_in_small_pieces_is_bounded_on_the_wire_and_fast():
    arguments = json.dumps({"config": ("interface e0 \n ip 10.0.0.1/24 " * 1800)[: 50 * 1024]})
    chunks = [
        chunk({"index": 0, "args": arguments[at : at + 4]}) for at in range(0, len(arguments), 4)
    ]
    start = time.process_time()
    growth, [call] = run(chunk({"index": 0, "id": "a", "name": "x"}), *chunks)
    seconds = time.process_time() - start
    check_growth(growth, [call])
    assert call.valid
    assert sum(len(json.dumps(event.arguments)) + 300 for event in growth) < 1.5e6
    assert len([event for event in growth if len(event.arguments) <= 1024]) == 257
    assert seconds < 0.25


def test_braces_in_text_and_a_name_in_every_piece_stay_linear():
    chunks = [chunk({"index": 0, "id": "a", "name": "x", "args": "{}"})] * 25_000
    start = time.process_time()
    _, [call] = run(
        chunk({"index": 0, "id": "a", "name": "x", "args": '{"s": "'}),
        *chunks,
        chunk({"index": 0, "id": "a", "args": '"}'}),
    )
    assert time.process_time() - start < 1
    assert call.args == {"s": "{}" * 25_000}


@dataclass
class Written:
    name: str
    arguments: str
    id: str | None


def cuts(text: str) -> st.SearchStrategy[list[str]]:
    """Any way to cut ``text`` in pieces."""
    places = st.lists(st.integers(0, len(text)), max_size=6).map(sorted)
    return places.map(
        lambda ends: [text[a:b] for a, b in zip([0, *ends], [*ends, len(text)], strict=True)]
    )


json_objects = st.dictionaries(
    st.text(max_size=5),
    st.recursive(
        st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=8),
        lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner),
        max_leaves=3,
    ),
    max_size=3,
).map(lambda value: json.dumps(value, ensure_ascii=False))
written = st.builds(
    Written,
    name=st.sampled_from(["x", "y", "tool_with_name"]),
    arguments=json_objects | st.sampled_from(["", "{", "[]", '{"a": 1']),
    id=st.none(),
)


@st.composite
def streams(draw):
    """Calls, and their pieces interleaved; an id with the first piece, in each, or never."""
    calls = draw(st.lists(written, min_size=1, max_size=4))
    queues = []
    for index, call in enumerate(calls):
        style = draw(st.sampled_from(["first", "every", "never", "null"]))
        call.id = f"id{index}" if style in {"first", "every"} else None
        named = draw(st.booleans())
        parts = draw(cuts(call.arguments))
        if call.arguments == "{}":
            parts = ["{}"]
        queue = []
        for at, part in enumerate(parts):
            piece: dict = {"index": index, "args": part}
            if at == 0 or style == "every":
                piece["id"] = "null" if style == "null" else call.id
            if at == 0 or named:
                piece["name"] = call.name
            queue.append(piece)
        queues.append(queue)
    order = draw(st.permutations([at for at, queue in enumerate(queues) for _ in queue]))
    return calls, [queues[at].pop(0) for at in order]


@settings(deadline=None)
@given(json_objects, st.data(), st.booleans())
def test_arguments_that_come_from_their_beginning_each_time(arguments, data, again):
    ends = data.draw(st.lists(st.integers(1, len(arguments)), unique=True, max_size=6))
    parts = [arguments[:end] for end in sorted({*ends, len(arguments)})] + [arguments] * again
    growth, [call] = pieces(*({"index": 0, "name": "x", "args": part} for part in parts))
    check_growth(growth, [call])
    assert call.args == json.loads(arguments)


@settings(deadline=None)
@given(streams(), st.integers(1, 3))
def test_any_interleaving_gives_back_the_calls(stream, per_chunk):
    calls, parts = stream
    chunks = [chunk(*parts[at : at + per_chunk]) for at in range(0, len(parts), per_chunk)]
    growth, finished = run(*chunks)
    check_growth(growth, finished)
    begun = list(dict.fromkeys(piece["index"] for piece in parts))
    assert [(call.name, call.arguments) for call in finished] == [
        (calls[at].name, calls[at].arguments or "{}") for at in begun
    ]
    for call, at in zip(finished, begun, strict=True):
        if calls[at].id:
            assert call.id == calls[at].id
        try:
            valid = isinstance(json.loads(calls[at].arguments or "{}"), dict)
        except ValueError:
            valid = False
        assert call.valid == valid


@pytest.mark.parametrize(("levels", "valid"), [(99, True), (100, False), (5000, False)])
def test_arguments_that_are_nested_too_deep_are_invalid(levels: int, valid: bool) -> None:
    call = finished_call("c", "ping", '{"a":' + "[" * levels + "]" * levels + "}")
    assert call.valid is valid


def test_arguments_sent_so_far_may_be_cut_inside_a_pair_of_surrogates():
    """The half comes again in the next piece, with what came before it."""
    text = '{"why": "\ud83d\ude42", "n": 1}'
    for at in range(1, len(text)):
        for again in range(at, len(text)):
            told = ({"index": 0, "args": text[:end]} for end in (at, again, len(text)))
            growth, finished = pieces({"index": 0, "id": "c", "name": "ping", "args": ""}, *told)
            check_growth(growth, finished)
            assert [call.args for call in finished] == [{"why": "\U0001f642", "n": 1}]
