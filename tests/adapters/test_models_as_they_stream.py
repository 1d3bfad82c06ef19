"""Models as they really stream, over real HTTP: what is made of it.

A scripted server says what servers have been seen to say. History is what the stream told, and the
next request is one that a strict provider takes. How models break is in test_models_that_break.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from chat_turns import Chat, Json, open_chat
from openai_server import (
    CUT,
    RESET,
    OpenAIServer,
    Turn,
    Usage,
    call,
    chunk,
    interleave,
    piece,
    raw,
    text,
    think,
)


def usage(prompt: Any, completion: Any) -> Json:
    return {"usage": {"prompt_tokens": prompt, "completion_tokens": completion}}


LOOK, NODE = "get_gns3_templates", "start_gns3_node"
ONE, TWO = '{"n": 1}', '{"n": 2}'
LONG = "a" * 100_000
MADE = re.compile("call_[0-9a-f]{32}")


@dataclass
class Case:
    """What a model streams, and what it means."""

    stream: Turn | Sequence[Json | bytes]
    text: str = ""
    #: id (None: a made one), name, arguments.
    calls: Sequence[tuple[str | None, str, str]] = ()
    #: Why calls can't be executed, if not all can.
    invalid: str = ""
    finish: str | None = None
    #: Of this answer; None: unknown.
    tokens: tuple[int, int] | None = None


WORDS = text("Hello you.", pieces=2)

UNDERSTOOD = {
    # Calls and their ids.
    "two calls under one index": Case(
        [
            piece(ONE, id="a", name=LOOK),
            piece('{"n"', id="b", name=LOOK),
            piece(": 2}"),
        ],
        calls=[("a", LOOK, ONE), ("b", LOOK, TWO)],
    ),
    "two calls under one index, without ids": Case(
        [piece(ONE, name=LOOK), piece(TWO, name=LOOK)],
        calls=[(None, LOOK, ONE), (None, LOOK, TWO)],
    ),
    "two tools under one index and one id": Case(
        [piece(ONE, id="a", name=LOOK), piece("{}", id="a", name=NODE)],
        calls=[("a", LOOK, ONE), (None, NODE, "{}")],
        invalid="don't fit",
    ),
    "interleaved": Case(
        interleave(call(LOOK, ONE, id="a"), call(LOOK, TWO, id="b")),
        calls=[("a", LOOK, ONE), ("b", LOOK, TWO)],
        finish="tool_calls",
        tokens=(11, 7),
    ),
    "no ids": Case([piece('{"n"', name=LOOK), piece(": 1}")], calls=[(None, LOOK, ONE)]),
    'ids that say "null"': Case(
        [piece('{"n"', name=LOOK, id="null"), piece(": 1}", id="null")], calls=[(None, LOOK, ONE)]
    ),
    "empty ids": Case(
        [piece('{"n"', name=LOOK, id=""), piece(": 1}", id="")], calls=[(None, LOOK, ONE)]
    ),
    "a late id": Case(
        [piece('{"n"', id=None), piece(": 1", id="late"), piece("}", name=LOOK)],
        calls=[("late", LOOK, ONE)],
    ),
    "an id that comes when the call is shown": Case(
        [piece('{"n"', name=LOOK), piece(": 1", id="late"), piece("}", id="late")],
        calls=[(None, LOOK, ONE)],
    ),
    "an id alone, without a function": Case(
        [piece(id="a", function=...), piece(ONE, name=LOOK)], calls=[("a", LOOK, ONE)]
    ),
    "id and name in each piece": Case(
        [piece(part, id="a", name=LOOK) for part in ('{"n"', ": ", "1}")],
        calls=[("a", LOOK, ONE)],
    ),
    "an id that is a number": Case([piece(ONE, id=7, name=LOOK)], calls=[("7", LOOK, ONE)]),
    "no index": Case(
        [piece(ONE, id="a", name=LOOK, index=...), piece(TWO, id="b", name=LOOK, index=...)],
        calls=[("a", LOOK, ONE), ("b", LOOK, TWO)],
    ),
    "indexes that are text": Case(
        [piece('{"n"', id="a", name=LOOK, index="0"), piece(": 1}", index="0")],
        calls=[("a", LOOK, ONE)],
    ),
    # Calls and their arguments.
    "whole arguments in one piece": Case([piece(ONE, id="a", name=LOOK)], calls=[("a", LOOK, ONE)]),
    "arguments sent again whole": Case(
        [piece("", id="a", name=LOOK), piece('{"n"'), piece(": 1}"), piece('{"n":1}')],
        calls=[("a", LOOK, ONE)],
    ),
    "arguments so far, from their beginning": Case(
        [piece(part, id="a", name=LOOK) for part in ("", "{", '{"n"', '{"n": ', ONE, ONE)],
        calls=[("a", LOOK, ONE)],
    ),
    "arguments so far, where they might go on with themselves": Case(
        [piece("", id="a", name=LOOK), piece('{"n":'), piece('{"n":1}')],
        calls=[("a", LOOK, '{"n":1}')],
    ),
    "arguments that do go on with themselves": Case(
        [piece("", id="a", name=LOOK), piece('{"n":'), piece('{"n":1}'), piece("}")],
        calls=[("a", LOOK, '{"n":{"n":1}}')],
    ),
    "a placeholder for arguments": Case(
        [piece("{}", id="a", name=LOOK), piece('{"n"'), piece(": 1}")], calls=[("a", LOOK, ONE)]
    ),
    "no arguments": Case([piece(None, id="a", name=LOOK)], calls=[("a", LOOK, "{}")]),
    "arguments that are an object": Case(
        [piece({"n": 1}, id="a", name=LOOK)], calls=[("a", LOOK, ONE)]
    ),
    "arguments that are cut": Case(
        call(LOOK, '{"n": ', id="a", finish="LENGTH"),
        calls=[("a", LOOK, '{"n": ')],
        invalid="cut off",
        finish="LENGTH",
        tokens=(11, 7),
    ),
    "arguments that are no object": Case(
        [piece("[1]", id="a", name=LOOK)], calls=[("a", LOOK, "[1]")], invalid="not a JSON object"
    ),
    "half a character in arguments": Case(
        [piece('{"n": "\ud83d', id="a", name=LOOK), piece('\ude00 \ud83d"}')],
        calls=[("a", LOOK, '{"n": "😀 \ufffd"}')],
    ),
    "no name": Case(
        [piece(ONE, id="a")], calls=[("a", "", ONE)], invalid="There is no tool of that name"
    ),
    "an id of 100 kB": Case(
        [piece('{"n"', id=LONG, name=LOOK), piece(": 1}", id=LONG)], calls=[(None, LOOK, ONE)]
    ),
    "a name of 100 kB": Case(
        [piece('{"n"', id="a", name=LOOK + LONG), piece(": 1}", name=LOOK + LONG)],
        calls=[("a", (LOOK + LONG)[:64], ONE)],
        invalid="There is no tool of that name",
    ),
    "calls that are no calls": Case(
        [chunk({"tool_calls": wrong}) for wrong in (None, {}, [], [None], "x", [[]])]
        + [chunk({"content": "Hello."})],
        "Hello.",
    ),
    # Text.
    "empty deltas and no choices": Case(
        [
            {"choices": []},
            chunk({"role": "assistant", "content": ""}),
            chunk(),
            chunk({"content": "Hel"}),
            chunk({"content": None}),
            chunk({"content": "lo."}),
            {"choices": [{"index": 0, "delta": None, "finish_reason": "stop"}]},
            {"choices": None},
            {"id": "x"},
        ],
        "Hello.",
        finish="stop",
    ),
    "contents that are lists": Case(
        [
            chunk({"content": [{"type": "text", "text": "Hel"}]}),
            chunk({"content": ["l", None, {"type": "image_url", "image_url": {"url": "data:"}}]}),
            chunk({"content": "o"}),
            chunk({"content": [{"type": "text", "text": "."}, {"type": "thinking"}]}),
        ],
        "Hello.",
    ),
    "half a character": Case(
        [chunk({"content": part}) for part in ("Hi \ud83d", "\ude00", " \udfff", "\ud83d")],
        "Hi 😀 \ufffd\ufffd",
    ),
    "a role that is not the model's": Case(
        [chunk({"role": role, "content": role}) for role in ("user", "tool", "model", "")],
        "usertoolmodel",
    ),
    "a refusal": Case([chunk({"refusal": "I "}), chunk({"refusal": "won't."})], "I won't."),
    "reasoning, and then text": Case(
        think("Hm. So.") + WORDS, "Hello you.", finish="stop", tokens=(11, 7)
    ),
    "fields that nobody knows": Case(
        [chunk({"content": "Hi", "audio": {"x": [1]}, "function_call": 7}, x_y={"z": None})], "Hi"
    ),
    "a message in place of deltas": Case(
        [
            {
                "choices": [
                    {"message": {"role": "assistant", "content": "Hi"}, "finish_reason": "stop"}
                ]
            }
        ],
        "Hi",
        finish="stop",
    ),
    "a beginning of UTF-8 that is no UTF-8": Case(
        [b'data: {"choices": [{"delta": {"content": "Hi \xff"}}]}\r\n\r\n'], "Hi \ufffd"
    ),
    "comments and other fields": Case(
        [b": hello\n\nretry: 5\nid: 7\n\ndata:\n\n", chunk({"content": "Hi"}), b":\n\n"], "Hi"
    ),
    # The reason to finish.
    "an answer that just ends": Case(raw([chunk({"content": "Hi"})], done=False), "Hi"),
    "reasons that are none": Case(
        [chunk({"content": "Hi"}, reason) for reason in (7, {"a": 1}, ["stop"], "", None)],
        "HiHiHiHiHi",
    ),
    "a reason of 100 kB": Case([chunk({"content": "Hi"}, LONG)], "Hi", finish="a" * 64),
    "a reason that is told twice": Case(
        [chunk({"content": "Hi"}, "stop"), chunk({}, "stop")], "Hi", finish="stop"
    ),
    "cut off behind the reason to finish": Case(
        [chunk({"content": "Hi"}, "stop"), CUT], "Hi", finish="stop"
    ),
    "a call, cut off behind the reason to finish": Case(
        [piece(ONE, id="a", name=LOOK), chunk({}, "tool_calls"), RESET],
        calls=[("a", LOOK, ONE)],
        finish="tool_calls",
    ),
    # Usage.
    "no usage": Case(replace(WORDS, usage=Usage(told="absent")), "Hello you.", finish="stop"),
    "usage at the end": Case(WORDS.with_usage(20, 6), "Hello you.", finish="stop", tokens=(20, 6)),
    "usage in shares": Case(
        WORDS.with_usage(20, 6, "each"), "Hello you.", finish="stop", tokens=(20, 6)
    ),
    "usage in running totals": Case(
        WORDS.with_usage(20, 6, "cumulative"), "Hello you.", finish="stop", tokens=(20, 6)
    ),
    "usage repeated": Case(
        [chunk({"content": "Hi"}, **usage(20, 6)), chunk(**usage(20, 6))], "Hi", tokens=(20, 6)
    ),
    "input at the beginning, output at the end": Case(
        [chunk({"content": "Hi"}, **usage(20, 0)), chunk(**usage(0, 6))], "Hi", tokens=(20, 6)
    ),
    "usage that is none": Case(
        [chunk({"content": "Hi"}, usage=wrong) for wrong in (None, {}, [], 7, "20")]
        + [chunk(**usage(0, 0)), chunk(**usage(-4, "x")), chunk(**usage(2**80, 2.5))],
        "HiHiHiHiHi",
    ),
    "usage as text and with fractions": Case(
        [chunk({"content": "Hi"}, **usage("20", 6.0))], "Hi", tokens=(20, 6)
    ),
    "usage beside the delta": Case(
        [{"choices": [{"delta": {"content": "Hi"}, **usage(20, 6)}]}], "Hi", tokens=(20, 6)
    ),
    "nothing but usage": Case([{"choices": [], **usage(20, 6)}], tokens=(20, 6)),
}
for _reason in ("stop", "STOP", "Length", "content_filter", "eos_token"):
    UNDERSTOOD[f"finish reason {_reason}"] = Case(
        text("Hi", finish=_reason), "Hi", finish=_reason, tokens=(11, 7)
    )
for _reason in ("stop", "TOOL_CALLS", "length"):
    UNDERSTOOD[f"a whole call and finish reason {_reason}"] = Case(
        call(LOOK, ONE, id="a", finish=_reason),
        calls=[("a", LOOK, ONE)],
        finish=_reason,
        tokens=(11, 7),
    )


@pytest.mark.parametrize("case", UNDERSTOOD.values(), ids=UNDERSTOOD)
async def test_an_answer_that_is_understood(
    tmp_path: Path, openai_server: OpenAIServer, case: Case
) -> None:
    async with open_chat(tmp_path, openai_server) as chat:
        await understood(chat, case)


async def understood(chat: Chat, case: Case) -> None:
    chat.model.script(case.stream if isinstance(case.stream, Turn) else raw(case.stream))
    if case.calls:
        chat.model.script(text("Done."))
    reader = await chat.ask()
    assert reader.told[-1]["type"] == "done"
    await chat.agrees(reader)
    _, *answers = (await chat.history())["messages"]
    if not (case.text or case.calls):
        assert answers == []
    else:
        answer = answers[0]
        assert answer["content"] == case.text
        assert answer["metadata"].get("finish_reason") == case.finish
        assert [_call(one) for one in answer.get("tool_calls", ())] == [
            ((MADE if call_id is None else call_id), name, arguments)
            for call_id, name, arguments in case.calls
        ]
        assert {one["tool_call_id"] for one in answers[1:-1]} == {
            one["id"] for one in answer.get("tool_calls", ())
        }
    results = [one for one in answers if one["role"] == "tool"]
    assert bool(case.invalid) == any("metadata" in one for one in results)
    assert case.invalid in "".join(one["content"] for one in results)
    told = [case.tokens, (11, 7), (11, 7) if case.calls else None]  # the answer, its title, more
    session = await chat.session()
    assert [session["input_tokens"], session["output_tokens"]] == [
        sum(each[of] for each in told if each) for of in (0, 1)
    ]
    assert session["stats"]["unknown_usage_calls"] == (case.tokens is None)
    await chat.goes_on()
    # Nothing of 100 kB is told, kept or sent on.
    assert len(reader.content) < 20_000
    assert len(json.dumps(chat.model.requests[-1].body)) < 20_000


def _call(one: Json) -> tuple[Any, str, str]:
    made = MADE if MADE.fullmatch(one["id"]) else one["id"]
    return made, one["function"]["name"], one["function"]["arguments"]
