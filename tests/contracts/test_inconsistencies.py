"""What is known to be uneven stays where it is named, and is an error wherever else it comes."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from copilot_contracts import Registry
from copilot_contracts.lint import lint

Write = Callable[..., Path]
Json = dict[str, Any]
DIALECT = "https://json-schema.org/draft/2020-12/schema"


def shape(title: str, **schema: Any) -> Json:
    return {"$schema": DIALECT, "title": title, "description": f"A {title}.", **schema}


def obj(title: str, required: list[str], *optional: str) -> Json:
    return shape(
        title,
        type="object",
        required=required,
        additionalProperties=False,
        properties={
            key: {"description": "A flag.", "type": "boolean"} for key in (*required, *optional)
        },
        examples=[dict.fromkeys(required, True)],
        **{"x-outcomes": ["success"]},
    )


def text(title: str) -> Json:
    return shape(title, type="string", examples=["a"], **{"x-outcomes": ["success"]})


FILES: Json = {
    "even.json": obj("Even", ["success", "value"]),
    "bare.json": obj("Bare", ["value"]),
    "maybe.json": obj("Maybe", ["value"], "success"),
    "either.json": shape(
        "Either",
        anyOf=[
            {**obj("One", ["success", "one"]), "$schema": None},
            {**obj("Other", ["success", "other"]), "$schema": None},
        ],
        examples=[{"success": True, "one": True}],
        **{"x-outcomes": ["success"]},
    ),
    "words.json": text("Words"),
    "words_or_none.json": shape(
        "WordsOrNone", type=["string", "null"], examples=["a"], **{"x-outcomes": ["success"]}
    ),
    "asked.json": shape(
        "Asked",
        type="object",
        properties={"q": {"description": "What.", "type": "string"}},
        examples=[{}],
    ),
}
for branch in FILES["either.json"]["anyOf"]:
    for key in ("$schema", "examples", "x-outcomes"):
        del branch[key]


def answer(schema: str | None, **more: Any) -> Json:
    return {"description": "It.", **({"schema": schema} if schema else {}), **more}


def tool(returns: str) -> Json:
    return {"status": "active", "arguments": "asked.json", "returns": returns}


def catalogue(**parts: Any) -> Json:
    return {
        "name": "s",
        "version": "1.0.0",
        "title": "S",
        "description": "Uneven.",
        **parts,
    }


def findings(write: Write, document: Json, of: str, where: list[str], **expects: Any) -> list[Any]:
    """Rule and contract of what the linter finds; files that nothing names aside."""
    known = {
        "name": "uneven",
        "description": "Some are so, some so.",
        "correct": "New ones are even.",
        "where": where,
        "expects": {"of": of, **expects},
    }
    files = {f"s/{name}": schema for name, schema in FILES.items()}
    folder = write({"s/surface.json": {**document, "inconsistencies": [known]}, **files})
    return [
        (finding.rule.removeprefix("INCONSISTENCY_"), finding.message.split()[0])
        for finding in lint(folder)
        if finding.rule != "FILE_UNUSED"
    ]


def routes(**responses: Json) -> Json:
    return {
        name: {"method": "GET", "path": f"/{name}", "status": "active", "responses": said}
        for name, said in responses.items()
    }


ROUTES = catalogue(
    routes=routes(
        even={"200": answer("even.json")},
        bare={"200": answer("bare.json"), "404": answer("bare.json")},
        maybe={"201": answer("maybe.json")},
        either={"200": answer("either.json")},
        nothing={"204": answer(None), "200": answer(None, stream=True)},
        text={"200": answer("words.json", media_type="text/plain")},
        own={"200": answer("bare.json", media_type="application/x+json")},
    ),
    answers={"202": answer("bare.json"), "500": answer("bare.json")},
)
UNEVEN = ["response:bare:200", "response:maybe:201", "response:own:200"]
SHARED = [f"response:{name}:202" for name in ROUTES["routes"]]


def test_json_answers_of_success_have_the_key(write: Write) -> None:
    found = findings(write, ROUTES, "response", [], required=["success"])
    assert sorted(found) == sorted(("PROPAGATED", name) for name in [*UNEVEN, *SHARED])
    assert findings(write, ROUTES, "response", [*UNEVEN, *SHARED], required=["success"]) == []


def test_where_it_is_not_any_more(write: Write) -> None:
    where = [*UNEVEN, *SHARED, "response:even:200", "response:gone:200", "response:bare:404"]
    found = findings(write, ROUTES, "response", where, required=["success"])
    assert sorted(found) == sorted(("STALE", name) for name in where[-3:])


TOOLS = catalogue(
    tools={"a": tool("words.json"), "b": tool("even.json"), "c": tool("words_or_none.json")},
    mcp={"d": tool("even.json"), "e": tool("bare.json")},
)


def test_tools_return_one_type(write: Write) -> None:
    found = findings(write, TOOLS, "tool", ["tool:b"], type="string")
    assert ("PROPAGATED", "tool:c") in found
    assert not {("PROPAGATED", "tool:a"), ("PROPAGATED", "tool:b")} & set(found)
    assert not any(name.startswith("mcp:") for _, name in found)


def test_mcp_tools_are_a_kind_of_their_own(write: Write) -> None:
    found = findings(write, TOOLS, "mcp", [], required=["success"], type="object")
    assert [pair for pair in found if pair[0] == "PROPAGATED"] == [("PROPAGATED", "mcp:e")]


def event(schema: str | None, status: str = "active") -> Json:
    return {"status": status, **({"schema": schema} if schema else {})}


EVENTS = catalogue(
    sse={"framing": "named"},
    order={"last": ["end"]},
    events={
        "end": event("even.json"),
        "heard": event("bare.json"),
        "unheard": event("bare.json"),
        "silent": event("bare.json"),
        "later": event(None, "placeholder"),
        "never": event(None, "placeholder"),
    },
    consumers={
        "page": {
            "description": "A page.",
            "tolerance": "tolerant",
            "reads": {
                "event:end": {"handler": "onEnd", "required": []},
                "event:heard": {"handler": "onHeard", "required": []},
                "event:silent": {"required": []},
                "event:later": {"handler": "onLater", "required": []},
            },
        }
    },
)


def test_events_have_a_handler(write: Write) -> None:
    found = findings(write, EVENTS, "event", ["event:silent"], handled=True)
    assert sorted(found) == [("PROPAGATED", "event:never"), ("PROPAGATED", "event:unheard")]


def test_events_are_no_placeholders(write: Write) -> None:
    found = findings(write, EVENTS, "event", ["event:later"], active=True)
    assert found == [("PROPAGATED", "event:never")]


def test_without_an_expectation_nothing_is_checked(write: Write) -> None:
    known = {"name": "words", "description": "x", "correct": "y", "where": ["tool:nope"]}
    files = {f"s/{name}": schema for name, schema in FILES.items()}
    folder = write({"s/surface.json": {**EVENTS, "inconsistencies": [known]}, **files})
    assert {finding.rule for finding in lint(folder)} == {"FILE_UNUSED"}
    loaded = Registry.from_folder(folder).surface("s").catalogue.inconsistencies
    assert [(one.name, one.where, one.expects) for one in loaded] == [
        ("words", ("tool:nope",), None)
    ]


def test_the_message_says_what_is_right_and_where_the_contract_is(write: Write) -> None:
    known = {
        "name": "mixed",
        "description": "Some say `success`.",
        "correct": "New ones say it.",
        "where": [],
        "expects": {"of": "response", "required": ["success"]},
    }
    document = catalogue(routes=routes(bare={"200": answer("bare.json")}), inconsistencies=[known])
    folder = write({"s/surface.json": document, "s/bare.json": FILES["bare.json"]})
    (finding,) = lint(folder)
    assert finding.level == "error"
    assert finding.message == (
        "response:bare:200 doesn't always have 'success': mixed, which isn't to be done again. "
        "New ones say it."
    )
    content = (folder / "s/surface.json").read_text()
    assert content[finding.column - 1 :].startswith('"schema": "bare.json"')


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"expects": {"of": "response"}}, "INVALID_CATALOGUE"),
        ({"expects": {"of": "model", "type": "string"}}, "INVALID_CATALOGUE"),
        ({"where": ["response:bare"]}, "INVALID_CATALOGUE"),
        ({"correct": ""}, "INVALID_CATALOGUE"),
    ],
)
def test_an_entry_that_says_nothing(write: Write, change: Json, rule: str) -> None:
    known = {"name": "mixed", "description": "x", "correct": "y", "where": [], **change}
    folder = write({"s/surface.json": catalogue(inconsistencies=[known])})
    assert {finding.rule for finding in lint(folder)} == {rule}
