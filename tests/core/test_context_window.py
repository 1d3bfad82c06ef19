"""The context window: what is left out of a request, what never is, and what is refused (A4)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.messages.tool import tool_call

from agent_bench import Bench, is_title, said
from copilot_core.context_window import estimated_tokens, newest
from copilot_core.prompt import ANSWER_NOW
from copilot_core.tools.base import ToolContext
from openai_server import Failure, call, error, raw, text
from openai_server.server import Request

# -- the estimate ------------------------------------------------------------------------

#: A text, and the tokens that Qwen2.5's own tokenizer makes of it.
MEASURED = {
    "prose": ("The router forwards packets between the two subnets. " * 10, 101),
    "addresses": ("3: eth3  192.168.3.9/24 00:50:79:66:68:03 via 10.0.0.3\n" * 10, 490),
    "JSON": ('{"node_id": "7a0c1b2d-3e4f", "x": -120, "status": "started"}' * 10, 330),
    "Russian": ("Маршрутизатор пересылает пакеты между двумя подсетями. " * 10, 241),
}


@pytest.mark.parametrize("kind", MEASURED)
def test_the_estimate_is_near_the_true_number(kind: str) -> None:
    written, true = MEASURED[kind]
    assert 0.8 * true < estimated_tokens([HumanMessage(written)]) < 1.6 * true


def test_everything_that_is_sent_counts() -> None:
    asks = AIMessage("", tool_calls=[tool_call(id="a", name="f", args={"to": "x" * 400})])
    assert estimated_tokens([asks]) > 100
    assert estimated_tokens([], [{"type": "function", "description": "x" * 400}]) > 100
    assert estimated_tokens([HumanMessage("")] * 100) > 100


# -- what is left out --------------------------------------------------------------------


def asks(*ids: str) -> AIMessage:
    return AIMessage("", tool_calls=[tool_call(id=i, name="ping", args={}) for i in ids])


def group(*ids: str) -> list[BaseMessage]:
    return [asks(*ids), *(ToolMessage("x" * 400, tool_call_id=i) for i in ids)]


def turn(n: int, *groups: str) -> list[BaseMessage]:
    steps = [message for ids in groups for message in group(*ids)]
    return [HumanMessage(f"{n}" + "x" * 400), *steps, AIMessage(f"so {n}")]


def outline(messages: list[BaseMessage]) -> str:
    def word(message: BaseMessage) -> str:
        if isinstance(message, ToolMessage):
            return message.tool_call_id.lower()
        if isinstance(message, AIMessage):
            return "".join(c["id"] or "" for c in message.tool_calls).upper() or "."
        return str(message.content)[0]

    return "".join(map(word, messages))


HISTORY = [*turn(1, "a", "b"), *turn(2), HumanMessage("3"), *group("c", "d"), *group("e")]
#: `1AaBb.`, `2.` and `3CDcdEe` are about 380, 120 and 405 tokens.
NEWEST = {
    10_000: "1AaBb.2.3CDcdEe",
    700: "2.3CDcdEe",
    500: "3CDcdEe",
    300: "3Ee",
    10: "3Ee",
    0: "3Ee",
    -500: "3Ee",
}


@pytest.mark.parametrize("tokens", NEWEST)
def test_whole_turns_go_first_then_whole_groups_of_the_newest(tokens: int) -> None:
    assert outline(newest(HISTORY, tokens)) == NEWEST[tokens]


def test_a_history_without_a_question() -> None:
    assert newest([], 10) == []
    assert outline(newest([*group("a"), *group("b")], 10)) == "Bb"
    assert outline(newest([SystemMessage("sss"), HumanMessage("1")], 6)) == "1"


turns = st.lists(
    st.builds(lambda groups: turn(1, *groups), st.lists(st.sampled_from(["a", "bc"]), max_size=3)),
    max_size=4,
)


@settings(deadline=None)
@given(turns, st.lists(st.sampled_from(["a", "bc"]), max_size=4), st.integers(-10, 3000))
def test_what_is_left_is_as_much_as_fits(
    before: list[list[BaseMessage]], groups: list[str], tokens: int
) -> None:
    asked: BaseMessage = HumanMessage("now" * 50)
    steps = [group(*ids) for ids in groups]
    #: All that may be left, the longest first.
    allowed: list[list[BaseMessage]] = [
        [m for part in (*before[place:], [asked], *steps) for m in part]
        for place in range(len(before) + 1)
    ]
    allowed += [
        [asked, *(m for step in steps[place:] for m in step)] for place in range(1, len(steps))
    ]
    fitting = [left for left in allowed if estimated_tokens(left) <= tokens]
    assert newest(allowed[0], tokens) == (fitting or allowed[-1:])[0]


# -- in turns ----------------------------------------------------------------------------

#: About 1000 tokens; the instructions and the tools are about 1600.
LONG = "word " * 800
WINDOW = 5000


def told(request: Request) -> list[str]:
    """What was sent behind the instructions: a word a message."""
    assert request.messages[0]["role"] == "system"
    return [
        m["role"] if m["role"] != "user" else m["content"].split()[0] for m in request.messages[1:]
    ]


async def talk(bench: Bench, *words: str, **llm: Any) -> None:
    """A turn a word, with a long question."""
    for word in words:
        bench.server.script(text("Yes."))
        await bench.ask(f"{word} {LONG}", "s1", **llm)


def say(bench: Bench, letters: int) -> None:
    """What the tool answers from now on: a letter is a quarter of a token."""

    async def templates(arguments: dict[str, Any], context: ToolContext) -> Any:
        kind = {"name": "n", "category": "guest", "template_type": "vpcs"}
        return {"templates": [{"template_id": "x" * letters, **kind}]}

    bench.runs["get_gns3_templates"] = templates


def exchange(*words: str) -> list[str]:
    return [part for word in words for part in (word, "assistant")]


async def test_old_turns_are_left_out_whole_and_stay_stored(bench: Bench) -> None:
    await talk(bench, "one", "two", "three", "four", "five", context_window=WINDOW, max_tokens=100)
    answers = [r for r in bench.server.requests if not is_title(r)]
    assert told(answers[2]) == [*exchange("one", "two"), "three"]
    assert told(answers[3]) == [*exchange("two", "three"), "four"]
    assert told(answers[4]) == [*exchange("three", "four"), "five"]
    stored = [m["content"].split()[0] for m in await bench.history("s1")]
    assert stored[::2] == ["one", "two", "three", "four", "five"]


@pytest.mark.parametrize("max_tokens", [1000, None])
async def test_room_is_kept_for_the_answer(bench: Bench, max_tokens: int | None) -> None:
    """As much as it may be long, else a quarter of the window."""
    await talk(bench, "one", "two", "three")
    await talk(bench, "four", context_window=WINDOW, max_tokens=max_tokens)
    assert told(bench.server.requests[-1]) == [*exchange("three"), "four"]


async def test_without_a_known_window_everything_is_sent(bench: Bench) -> None:
    await talk(bench, "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
    assert told(bench.server.requests[-1])[0] == "one"


async def test_a_window_that_langchain_knows(bench: Bench) -> None:
    await talk(bench, "one", "two", "three", "four", "five", "six", "seven", model="gpt-4")
    assert told(bench.server.requests[-1])[0] == "four"


async def test_what_cannot_fit_is_refused_before_any_request(bench: Bench) -> None:
    events = await bench.ask("word " * 19_000, "s1", context_window=8192)
    [end] = events
    assert (end["type"], end["code"], end["retryable"]) == (
        "error",
        "context_window_exceeded",
        False,
    )
    assert "8192" in end["error"]
    assert "shorter message" in end["error"]
    assert len(bench.server.requests) == 0
    assert [m["role"] for m in await bench.history("s1")] == ["user"]
    session = await bench.session("s1")
    assert (session["message_count"], session["llm_calls_count"]) == (1, 0)
    assert session["stats"]["last_turn"]["status"] == "error"

    bench.server.script(text("Yes."))
    assert said(await bench.ask("shorter", "s1", context_window=8192)) == "Yes."
    assert told(bench.server.requests[0]) == ["shorter"]


async def test_an_answers_room_that_leaves_none_is_said(bench: Bench) -> None:
    [end] = await bench.ask("hi", "s1", context_window=4096, max_tokens=4096)
    assert end["code"] == "context_window_exceeded"
    assert "of 4096 tokens, 4096 are kept for the answer" in end["error"]


async def test_a_small_window_through_many_tool_steps(bench: Bench) -> None:
    say(bench, 2400)
    steps = [call("get_gns3_templates", {"n": n}, id=f"call_{n}") for n in range(5)]
    bench.server.script(text("Hello."), *steps, text("So it is."))
    small = {"context_window": 3200, "max_tokens": 100, "tool_steps": 5}
    await bench.ask("hello " * 400, "s1", **small)
    events = await bench.ask("look", "s1", **small)
    assert said(events) == "So it is."
    sent = [
        [
            m.get("tool_call_id") or (m["content"] or m["tool_calls"][0]["id"]).partition(" ")[0]
            for m in request.messages[1:]
        ]
        for request in bench.server.requests[2:]
    ]
    pair = [[f"call_{n}"] * 2 for n in range(5)]
    assert sent == [
        ["hello", "Hello.", "look"],
        ["hello", "Hello.", "look", *pair[0]],
        ["look", *pair[0], *pair[1]],
        ["look", *pair[1], *pair[2]],
        ["look", *pair[2], *pair[3]],
        # The last is asked without tools, which leaves more room (A27).
        ["look", *pair[1], *pair[2], *pair[3], *pair[4], "Answer"],
    ]
    assert bench.server.requests[-1].messages[-1]["content"] == ANSWER_NOW
    assert not bench.server.requests[-1].tools
    assert len(await bench.history("s1")) == 2 + 1 + 10 + 1


async def test_an_answer_of_a_tool_that_cannot_fit(bench: Bench) -> None:
    say(bench, 15_000)
    small = {"context_window": 3000, "max_tokens": 100}
    bench.server.script(call("get_gns3_templates", {}), text("Yes."))
    events = await bench.ask("look", "s1", **small)
    assert (events[-1]["type"], events[-1]["code"]) == ("error", "context_window_exceeded")
    assert len(bench.server.requests) == 1
    assert [m["role"] for m in await bench.history("s1")] == ["user", "assistant", "tool"]
    await bench.ask("again", "s1", **small)
    assert told(bench.server.requests[1]) == ["again"]


# -- the provider says it ----------------------------------------------------------------

TOO_LONG = error(
    400, "This model's maximum context length is 8 tokens", code="context_length_exceeded"
)


def at_most(characters: int) -> Any:
    """Whether a request is longer than the provider takes."""
    return lambda request: len(json.dumps(request.messages)) > characters


async def test_a_provider_that_refuses_is_asked_with_less(bench: Bench) -> None:
    await talk(bench, "one", "two", "three", "four")
    before = await bench.session("s1")
    bench.server.when(at_most(10_000), TOO_LONG)
    bench.server.script(
        call("get_gns3_templates", {}, id="call_a").with_usage(30, 3), text("So.").with_usage(40, 4)
    )
    events = await bench.ask(f"five {LONG}", "s1")
    assert events[-1]["type"] == "done"
    assert said(events) == "So."
    sent = [told(request) for request in bench.server.requests[5:]]
    assert sent == [
        [*exchange("one", "two", "three", "four"), "five"],
        [*exchange("four"), "five"],
        # The next step isn't refused again.
        [*exchange("four"), "five", "assistant", "tool"],
    ]
    session = await bench.session("s1")
    # One that was refused is a call that told no usage.
    assert session["llm_calls_count"] - before["llm_calls_count"] == 3
    assert session["input_tokens"] - before["input_tokens"] == 70
    assert session["stats"]["unknown_usage_calls"] == 1
    assert len(await bench.history("s1")) == 8 + 4


async def test_a_provider_that_goes_on_refusing(bench: Bench) -> None:
    await talk(bench, *map(str, range(8)))
    asked = len(bench.server.requests)
    bench.server.always(TOO_LONG)
    events = await bench.ask("nine", "s1")
    assert (events[-1]["type"], events[-1]["code"]) == ("error", "context_window_exceeded")
    assert "Start a new session" in events[-1]["error"]
    sent = [told(request) for request in bench.server.requests[asked:]]
    assert [len(messages) for messages in sent] == [17, 7, 3, 1]
    assert sent[-1] == ["nine"]
    assert (await bench.history("s1"))[-1]["content"] == "nine"
    bench.server.script(text("Yes."))
    assert said(await bench.ask("ten", "s1")) == "Yes."


@pytest.mark.parametrize("refusal", [TOO_LONG, error(500, "no"), error(429, "no")])
async def test_what_cannot_be_shorter_or_failed_otherwise_is_asked_once(
    bench: Bench, refusal: Failure
) -> None:
    if refusal is not TOO_LONG:
        await talk(bench, "one", "two")
    asked = len(bench.server.requests)
    bench.server.script(refusal)
    assert (await bench.ask("hi", "s1"))[-1]["type"] == "error"
    assert len(bench.server.requests) == asked + 1


async def test_an_answer_that_has_begun_is_not_asked_for_again(bench: Bench) -> None:
    await talk(bench, "one", "two")
    asked = len(bench.server.requests)
    begun = {"choices": [{"index": 0, "delta": {"role": "assistant", "content": "Well"}}]}
    wrong = {"error": {"message": "the context window is exceeded", "code": 400}}
    bench.server.script(raw([begun, wrong]))
    events = await bench.ask("hi", "s1")
    assert [e["type"] for e in events] == ["content", "error"]
    assert len(bench.server.requests) == asked + 1
    assert (await bench.history("s1"))[-1]["metadata"]["interrupted"] is True
