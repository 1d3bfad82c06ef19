"""Hypothesis strategies for what a model says, in all the ways in which models say it."""

import json
from itertools import accumulate
from typing import Any

from hypothesis import strategies as st

from copilot_core.text import without_surrogates
from turn_machine.answers import Answer, Failed, Json, MeantCall
from turn_machine.tools import BEHAVIOURS, CLOSED_TOOL, START_TOOL, TEMPLATES_TOOL, UNKNOWN_TOOL

# Plain text, what takes several bytes, what takes two surrogates, lone surrogates, controls.
_CHARACTERS = st.sampled_from('ab .\nöß→中🙂👩\ud83d\ude42\udc00\x00\x1b\u2028"\\')
texts = st.text(_CHARACTERS, max_size=16)
_OFTEN = st.sampled_from([True, True, True, False])
#: What can be in a request.
words = texts.map(without_surrogates)


@st.composite
def cut_texts(draw: st.DrawFn, text: str) -> list[str]:
    """A text in pieces, some of them empty; pairs of surrogates may be cut too."""
    if draw(st.booleans()):
        text = "".join(map(_as_surrogates, text))
    places = sorted(draw(st.lists(st.integers(0, len(text)), max_size=5)))
    return [text[a:b] for a, b in zip([0, *places], [*places, len(text)], strict=True)]


def _as_surrogates(character: str) -> str:
    if character < "\U00010000":
        return character
    data = character.encode("utf-16-be")
    return chr(int.from_bytes(data[:2])) + chr(int.from_bytes(data[2:]))


@st.composite
def saying(draw: st.DrawFn) -> list[Json]:
    """Deltas of text."""
    deltas: list[Json] = []
    text = draw(st.text(_CHARACTERS, min_size=1, max_size=24)) if draw(_OFTEN) else ""
    for piece in draw(cut_texts(text)):
        form = draw(
            st.sampled_from(["plain", "plain", "plain", "list", "empty", "null", "thought"])
        )
        match form:
            case "list":
                deltas.append({"content": [{"type": "text", "text": piece}]})
                continue
            case "empty":
                deltas.append({})
            case "null":
                deltas.append({"content": None, "role": "assistant"})
            case "thought":
                deltas.append({"reasoning_content": "hm"})
        deltas.append({"content": piece})
    return deltas


# -- calls -------------------------------------------------------------------------------

#: Arguments that aren't a JSON object.
_WRONG = ["{", '{"node_ids": ["ok"', "[1]", "start it", '"ok"', '{"node_ids": [NaN]}', "null"]


@st.composite
def meant_calls(draw: st.DrawFn) -> MeantCall:
    name = draw(
        st.sampled_from(
            [START_TOOL, START_TOOL, START_TOOL, TEMPLATES_TOOL, CLOSED_TOOL, UNKNOWN_TOOL]
        )
    )
    kind = draw(st.sampled_from(["good", "good", "good", "good", "empty", "unfit", "wrong"]))
    arguments: Any = {"node_ids": [draw(st.sampled_from(BEHAVIOURS))]}
    match kind:
        case "empty":
            return MeantCall(name, draw(st.sampled_from(["", "{}"])))
        case "unfit":
            arguments = draw(
                st.sampled_from(
                    [{"node_ids": []}, {"node_ids": "ok"}, {**arguments, "project_id": "p9"}]
                )
            )
        case "wrong":
            return MeantCall(name, draw(st.sampled_from(_WRONG)), valid=False)
        case _ if draw(st.booleans()):
            arguments |= {"why": draw(texts)}
    text = json.dumps(arguments, ensure_ascii=draw(st.booleans()))
    return MeantCall(name, text, valid=_strict(text))


def _strict(text: str) -> bool:
    """Whether strict JSON has it: an escaped lone surrogate is no character."""
    try:
        json.dumps(json.loads(without_surrogates(text)), ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


#: Ways in which providers stream one call.
_STYLES = [
    "openai", "id_each", "no_id", "empty_id", "null_id", "text_null_id", "late_id", "whole",
    "resent", "placeholder", "so_far",
]  # fmt: skip


@st.composite
def streamed_call(draw: st.DrawFn, meant: MeantCall, index: int, call_id: str) -> list[Json]:
    """The pieces of one call."""
    style = draw(st.sampled_from(_STYLES))
    arguments = meant.arguments
    # Only of whole objects it can be told that they are said again, or stand in for another.
    if style in ("resent", "placeholder", "so_far") and not (meant.valid and len(arguments) > 2):
        style = "openai"
    opening: Json = {
        "index": index,
        "id": call_id,
        "type": "function",
        "function": {"name": meant.name, "arguments": ""},
    }
    if style == "whole":
        return [{**opening, "function": {"name": meant.name, "arguments": arguments}}]
    pieces = [
        {"index": index, "function": {"arguments": piece}} for piece in draw(cut_texts(arguments))
    ]
    match style:
        case "id_each":
            pieces = [
                {**opening, "function": {"name": meant.name, **piece["function"]}}
                for piece in pieces
            ]
        case "no_id":
            del opening["id"]
        case "empty_id":
            opening["id"] = ""
            pieces = [{**piece, "id": ""} for piece in pieces]
        case "null_id":
            opening["id"] = None
        case "text_null_id":
            opening["id"] = "null"
        case "late_id":
            del opening["id"]
            pieces[-1] |= {"id": call_id}
        case "resent":
            pieces.append({"index": index, "function": {"arguments": arguments}})
        case "so_far":
            so_far = accumulate(draw(cut_texts(arguments)))
            pieces = [{"index": index, "function": {"arguments": text}} for text in so_far]
        case "placeholder":
            opening["function"]["arguments"] = "{}"
    return [opening, *pieces]


@st.composite
def calling(draw: st.DrawFn) -> tuple[list[Json], list[MeantCall]]:
    """Deltas of up to three calls: one after the other, mixed, or all under one index."""
    meant = draw(st.lists(meant_calls(), min_size=1, max_size=3))
    ids = draw(st.permutations(["c1", "c2", "c3", "call-ü"]))
    form = draw(st.sampled_from(["apart", "mixed", "one_index", "one_delta"]))
    streamed: list[list[Json]] = []
    for place, (call, call_id) in enumerate(zip(meant, ids, strict=False)):
        if form == "one_index":
            # Then only the id can tell one from the other.
            pieces = [
                {"index": 0, "id": call_id, "function": {"name": call.name, "arguments": ""}},
                *(
                    {"index": 0, "function": {"arguments": piece}}
                    for piece in draw(cut_texts(call.arguments))
                ),
            ]
        else:
            pieces = draw(streamed_call(call, place, call_id))
        streamed.append(pieces)
    if form == "one_delta":
        return [{"tool_calls": [piece for pieces in streamed for piece in pieces]}], meant
    if form == "mixed":
        turns = [list(pieces) for pieces in streamed]
        mixed = [turn.pop(0) for turn in turns]
        while left := [turn for turn in turns if turn]:
            mixed.append(draw(st.sampled_from(left)).pop(0))
        streamed = [mixed]
    return [{"tool_calls": [piece]} for pieces in streamed for piece in pieces], meant


# -- answers -----------------------------------------------------------------------------

_BROKEN = st.sampled_from(["cut", "reset", "silent", "error", "garbage"])


@st.composite
def answers(draw: st.DrawFn, *, calls: bool) -> Answer:
    """An answer that says something, or calls tools."""
    deltas = draw(saying())
    meant: list[MeantCall] = []
    finish = draw(st.sampled_from(["stop", "STOP", "length", "content_filter", None, ""]))
    if calls:
        more, meant = draw(calling())
        deltas += more
        finish = draw(st.sampled_from(["tool_calls", "TOOL_CALLS", "stop", None, "length"]))
    ends = ["whole", "whole", "no_done", *(["cut_late"] if finish else [])]
    # All but the chunks that say how it finished, less some of the last.
    most = len(deltas) + 1
    places = st.integers(0, most).map(lambda less: most - less)
    broken = draw(st.sampled_from([False] * 5 + [True]))
    return Answer(
        deltas=tuple(deltas),
        calls=tuple(_as_ended(call, finish) for call in meant),
        finish=finish,
        prompt=draw(st.integers(1, 99)),
        completion=draw(st.integers(1, 99)),
        usage=draw(st.sampled_from(["last", "repeated", "growing", "shares", "split", "absent"])),
        hold=draw(places) if draw(_OFTEN) else None,
        end=draw(_BROKEN) if broken else draw(st.sampled_from(ends)),
        broken_after=draw(places) if broken else 0,
        cuts=tuple(draw(st.lists(st.integers(0, 5000), max_size=4))),
    )


def _as_ended(call: MeantCall, finish: str | None) -> MeantCall:
    """What becomes of a call without arguments: an empty object, unless it was cut off."""
    if call.arguments:
        return call
    if finish == "length":
        return MeantCall(call.name, "", valid=False)
    return MeantCall(call.name, "{}")


failures = st.builds(
    Failed, st.sampled_from(["401", "403", "404", "429", "500", "503", "too_long", "page"])
)

#: A turn's answers in order. Behind them the model says that that is all.
scripts = st.lists(
    st.sampled_from([False, True, True, True, True, None]).flatmap(
        lambda calls: failures if calls is None else answers(calls=calls)
    ),
    min_size=1,
    max_size=4,
)

titles = st.one_of(
    st.builds(
        Answer,
        deltas=st.sampled_from([({"content": "Title: "}, {"content": '"A title"'}), ()]),
        hold=st.none() | st.just(1),
        end=st.sampled_from(["whole", "whole", "whole", "cut", "silent"]),
        broken_after=st.just(1),
    ),
    failures,
)
