# Generated from gns3-chat 1.0.0 (schemas 05eb826b94cad97e) by copilot_codegen 36495cc3, datamodel-code-generator 0.89.0; do not edit (body 0b7408ca9dcb65e9)
from __future__ import annotations

from typing import Annotated, Any, Literal

from copilot_contracts.reading import Integer, Number, Reader, exactly
from pydantic import MISSING, Field
from typing_extensions import TypeAliasType


class AbortAnswer(Reader):
    """The session's turn was stopped, or none ran."""

    status: Literal["ok"]
    session_id: SessionId


class AbortEvent(Reader):
    """The turn was stopped. The last event of its stream."""

    type: Literal["abort"]
    reason: Literal["user", "deleted", "disconnected", "shutdown"]
    """Who stopped it."""
    session_id: SessionId


class ChatAnswer(Reader):
    """The whole turn at once: the answer of `POST /stream` with `stream: false`."""

    session_id: SessionId
    status: Literal["done", "abort"]
    """`done`, or `abort` for a turn that was stopped."""
    reason: Literal["user", "deleted", "disconnected", "shutdown"] | MISSING = MISSING
    """Who stopped it, with `abort`."""
    messages: list[OpenAIMessage]
    """The turn's messages, the user's first."""
    usage: TokenUsage


class ChatRequest(Reader):
    """The body of `POST /stream`."""

    message: Annotated[str, Field(max_length=100000, min_length=1)]
    """The user's message."""
    session_id: SessionId | None | MISSING = MISSING
    """The session to continue; absent or null starts a new one."""
    stream: bool = True
    """Answer with an event stream (true) or with one JSON document (false)."""
    temperature: Annotated[Number | None | MISSING, Field(ge=0.0, le=2.0)] = MISSING
    """Overrides the user's setting for this turn."""
    max_tokens: Annotated[Integer | None | MISSING, Field(ge=1, le=1000000)] = MISSING
    """Overrides the user's limit of answer tokens for this turn."""
    mode: Literal["text"] = "text"
    """The interaction mode."""


class ChatSession(Reader):
    """A session: who, where, its title and what was counted."""

    id: Annotated[Integer, Field(ge=0)]
    """The row's number in the project's file."""
    thread_id: SessionId
    user_id: str
    """Whose session it is."""
    project_id: str
    """The GNS3 project."""
    title: Annotated[str, Field(max_length=255, min_length=1)]
    """Generated from the first turn, or given by the user."""
    message_count: Annotated[Integer, Field(ge=0)]
    """Stored messages: the user's, the model's and tool results."""
    llm_calls_count: Annotated[Integer, Field(ge=0)]
    """Model calls, the title's included."""
    input_tokens: Annotated[Integer, Field(ge=0)]
    """Input tokens, summed over all model calls that told them."""
    output_tokens: Annotated[Integer, Field(ge=0)]
    """Output tokens, summed over all model calls that told them."""
    total_tokens: Annotated[Integer, Field(ge=0)]
    """input_tokens + output_tokens."""
    last_message_at: Timestamp | None
    """When the newest message was stored; null before the first."""
    created_at: Timestamp
    updated_at: Timestamp
    metadata: dict[str, Any]
    """Reserved: what a server wants to keep with a session."""
    stats: SessionStats
    pinned: bool
    """Kept at the top of the list."""


class CommandOutput(Reader):
    """One command's answer."""

    command: str
    """The command."""
    output: str
    """What the console said."""
    timed_out: Annotated[Literal[True], exactly(True)] | MISSING = MISSING
    """The command did not end in time and was broken off; the output is what it had said."""
    truncated: Annotated[Literal[True], exactly(True)] | MISSING = MISSING
    """There was more output than is kept; the middle was left out."""


class ContentEvent(Reader):
    """A piece of the answer's text."""

    type: Literal["content"]
    content: Annotated[str, Field(min_length=1)]
    """The piece; append it to the message."""
    message_id: Annotated[str, Field(min_length=1)]
    """The assistant message that grows."""
    session_id: SessionId


class ConversationHistory(Reader):
    """The newest messages of a session, oldest first."""

    thread_id: SessionId
    title: str
    """The session's title."""
    messages: list[OpenAIMessage]
    created_at: Timestamp
    updated_at: Timestamp
    llm_calls: Annotated[Integer, Field(ge=0)]
    """Model calls of the session."""
    has_more: bool
    """There are older messages: ask again with `before` = the id of the first one here."""


class CreateLinkArguments(Reader):
    """Link ports of nodes."""

    links: Annotated[list[LinkToCreate], Field(max_length=50, min_length=1)]
    """The links to create."""
    project_id: str | MISSING = MISSING
    """The lab's project; the current one when absent. No other project can be reached."""


class CreateLinkReport(Reader):
    """What became of each."""

    total: Annotated[Integer, Field(ge=0)]
    """Asked for."""
    successful: Annotated[Integer, Field(ge=0)]
    """Done."""
    failed: Annotated[Integer, Field(ge=0)]
    """Not done."""
    items: list[Annotated[CreateLinkSuccess | ItemFailure, Field(discriminator="status")]]
    """In the order asked."""


class CreateLinkSuccess(Reader):
    """Done, and seen to be done."""

    id: str
    """Its id."""
    name: str
    """Its name."""
    status: Literal["success"]
    result: CreatedLink


class CreateNodeArguments(Reader):
    """Create nodes from templates."""

    nodes: Annotated[list[NodeToCreate], Field(max_length=50, min_length=1)]
    """The nodes to create."""
    project_id: str | MISSING = MISSING
    """The lab's project; the current one when absent. No other project can be reached."""


class CreateNodeReport(Reader):
    """What became of each."""

    total: Annotated[Integer, Field(ge=0)]
    """Asked for."""
    successful: Annotated[Integer, Field(ge=0)]
    """Done."""
    failed: Annotated[Integer, Field(ge=0)]
    """Not done."""
    items: list[Annotated[CreateNodeSuccess | ItemFailure, Field(discriminator="status")]]
    """In the order asked."""


class CreateNodeSuccess(Reader):
    """Done, and seen to be done."""

    id: str
    """Its id."""
    name: str
    """Its name."""
    status: Literal["success"]
    result: CreatedNode


class CreatedLink(Reader):
    """The link as the server made it."""

    link_id: str
    """Its id."""
    node_id1: str
    """A node's id."""
    port1: str
    """Its port's short name."""
    node_id2: str
    """The other node's id."""
    port2: str
    """Its port's short name."""


class CreatedNode(Reader):
    """The node as the server made it."""

    node_id: str
    """Its id."""
    node_type: str
    """Its kind."""
    status: str
    """Its status."""
    ports: list[str]
    """Short names."""


class DeviceCommands(Reader):
    """One host's commands."""

    device_name: Annotated[str, Field(min_length=1)]
    """The host's name, for example PC1."""
    commands: Annotated[
        list[Annotated[str, Field(max_length=500, pattern="^[^\\x00-\\x1f\\x7f]+$")]],
        Field(max_length=50, min_length=1),
    ]
    """In order, for example `show ip`."""


class DoneEvent(Reader):
    """The turn ended normally. The last event of its stream."""

    type: Literal["done"]
    session_id: SessionId


class ErrorEvent(Reader):
    """The turn failed. The last event of its stream."""

    type: Literal["error"]
    error: Annotated[str, Field(min_length=1)]
    """What happened, for a person. No key, token, path or traceback."""
    code: TurnErrorCode
    retryable: bool
    """The same request may succeed later."""
    retry_after: Annotated[Integer | MISSING, Field(ge=1, le=86400)] = MISSING
    """Seconds to wait before that, where the model's server said how long."""
    session_id: SessionId


class GetTemplatesArguments(Reader):
    """List the templates that nodes can be made from."""


class HeartbeatEvent(Reader):
    """Nothing happened for a while; the connection lives."""

    type: Literal["heartbeat"]
    session_id: SessionId


class HistoryQuery(Reader):
    """Which part of the history."""

    limit: Annotated[Integer, Field(ge=1, le=1000)] = 100
    """At most so many messages."""
    before: Annotated[str | MISSING, Field(max_length=200, min_length=1)] = MISSING
    """Only messages older than the one with this id."""


class ItemFailure(Reader):
    """Not done."""

    id: str
    """Its id, or what was asked for."""
    name: str | None
    """Its name; null when unknown."""
    status: Literal["failed"]
    error: Annotated[str, Field(min_length=1)]
    """Why, and what to do."""


class LinkToCreate(Reader):
    """One link."""

    node_id1: str
    """A node's id."""
    port1: str
    """A port of it: its name or short name."""
    node_id2: str
    """The other node's id."""
    port2: str
    """A port of it: its name or short name."""


class MessageMetadata(Reader):
    """What else is known of a message. Each key is there only when it says something."""

    interrupted: Annotated[Literal[True], exactly(True)] | MISSING = MISSING
    """The turn ended before the model had finished this message."""
    status: Literal["success", "error", "blocked", "aborted"] | MISSING = MISSING
    """How a tool call ended (tool messages)."""
    truncated: Annotated[Literal[True], exactly(True)] | MISSING = MISSING
    """The tool's output was longer than is kept."""
    original_size: Annotated[Integer | MISSING, Field(ge=0)] = MISSING
    """The tool's whole output, in bytes, when truncated."""
    model: str | MISSING = MISSING
    """The model that wrote the message."""
    finish_reason: str | MISSING = MISSING
    """Why the model stopped."""


class ModelUsage(Reader):
    """What one model did in a session."""

    llm_calls: Annotated[Integer, Field(ge=0)]
    """Calls."""
    input_tokens: Annotated[Integer | None, Field(ge=0)]
    """Null when no call told it."""
    output_tokens: Annotated[Integer | None, Field(ge=0)]
    """Null when no call told it."""


class NodeToCreate(Reader):
    """One node."""

    template_id: str
    """A template's id, from get_gns3_templates."""
    x: Annotated[Integer, Field(ge=-100000, le=100000)]
    y: Annotated[Integer, Field(ge=-100000, le=100000)]
    name: Annotated[str | MISSING, Field(max_length=100, min_length=1)] = MISSING
    """The wished name."""


class OpenAIFunctionCall(Reader):
    """What is called, and with what."""

    name: str
    """The tool's name."""
    arguments: str
    """The whole arguments: the text of a JSON object, or what the model wrote when it wrote none."""


class OpenAIMessage(Reader):
    """One message of a conversation, in OpenAI's form."""

    id: Annotated[str, Field(min_length=1)]
    """The message's id; the same in the stream and at every read."""
    role: Literal["user", "assistant", "system", "tool"]
    content: str
    """The text; empty for an assistant message that only calls tools. A tool's result is strict JSON or plain text."""
    created_at: Timestamp
    name: str | MISSING = MISSING
    """The tool's name (tool messages)."""
    tool_call_id: Annotated[str | MISSING, Field(min_length=1)] = MISSING
    """The call that this result answers (tool messages)."""
    tool_calls: Annotated[list[OpenAIToolCall] | MISSING, Field(min_length=1)] = MISSING
    """The tools that an assistant message calls."""
    metadata: MessageMetadata | MISSING = MISSING


class OpenAIToolCall(Reader):
    """One call of a tool in an assistant message, as OpenAI writes it."""

    id: Annotated[str, Field(min_length=1)]
    """The call's id."""
    type: Literal["function"]
    function: OpenAIFunctionCall


class Problem(Reader):
    """An HTTP error: RFC 9457 problem details."""

    type: str
    """A URI that names the kind of problem."""
    title: str
    """The kind of problem, in a few words."""
    status: Annotated[Integer, Field(ge=400, le=599)]
    """The HTTP status."""
    detail: str
    """What happened and what to do, for a person."""
    code: Literal["unauthorized", "project_not_found", "project_not_opened", "session_not_found", "session_busy", "llm_not_configured", "invalid_request", "body_too_large", "resync_required", "version_conflict", "llm_unauthorized", "llm_rate_limited", "llm_unavailable", "upstream_disconnected", "context_window_exceeded", "limit_reached", "project_closed", "contract_violation", "internal"]
    """What happened, for a program. A failed turn that was not streamed has the codes of the `error` event."""
    request_id: str
    """Names this request in the server's log."""
    message: str
    """The same as `detail`: what GNS3's own clients read."""
    session_id: SessionId | MISSING = MISSING
    """The session, when a turn that was not streamed failed, or the turn of a repeated `Idempotency-Key` can't be read any more."""
    retryable: bool | MISSING = MISSING
    """The same request may succeed later (a failed turn)."""


class RenameSessionRequest(Reader):
    """A new title."""

    title: Annotated[
        str,
        Field(
            max_length=1000,
            min_length=1,
            pattern="^[\\t-\\r\\u001c-\\u0020\\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]*[^\\t-\\r\\u001c-\\u0020\\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]([\\s\\S]{0,253}[^\\t-\\r\\u001c-\\u0020\\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000])?[\\t-\\r\\u001c-\\u0020\\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]*$",
        ),
    ]
    """1 to 255 characters after trimming."""


SessionId = TypeAliasType("SessionId", Annotated[str, Field(pattern="^[A-Za-z0-9_-]{1,64}$")])
"""A session's id: LangGraph's `thread_id`."""


SessionList = TypeAliasType("SessionList", list[ChatSession])
"""The user's sessions in the project: pinned ones first, then by `updated_at`, newest first."""


class SessionListQuery(Reader):
    """Which part of the list."""

    limit: Annotated[Integer, Field(ge=1, le=1000)] = 100
    """At most so many sessions."""
    offset: Annotated[Integer, Field(ge=0, le=1000000)] = 0
    """Leave out so many first."""
    q: Annotated[str | MISSING, Field(max_length=255)] = MISSING
    """Only sessions whose title contains this."""


class SessionStats(Reader):
    """Figures of a session beside its counters. A figure that no model told is null, never 0."""

    context_tokens: Annotated[Integer | None, Field(ge=0)]
    """Input tokens of the newest model call: how full the context is."""
    unknown_usage_calls: Annotated[Integer, Field(ge=0)]
    """Model calls whose token figures the model did not tell."""
    turns: Annotated[Integer, Field(ge=0)]
    """Turns, however they ended."""
    duration_ms: Annotated[Integer, Field(ge=0)]
    """Time of all turns together, in milliseconds."""
    models: dict[str, ModelUsage]
    """By model name."""
    tool_calls: dict[str, Annotated[Integer, Field(ge=0)]]
    """Calls by tool name."""
    last_turn: TurnStats | MISSING = MISSING


class StartNodeArguments(Reader):
    """Start nodes."""

    node_ids: Annotated[
        list[Annotated[str, Field(min_length=1)]], Field(max_length=50, min_length=1)
    ]
    """The nodes' ids."""
    project_id: str | MISSING = MISSING
    """The lab's project; the current one when absent. No other project can be reached."""


class StartNodeEffect(Reader):
    """The node's status after."""

    node_status: Literal["started"]


class StartNodeReport(Reader):
    """What became of each."""

    total: Annotated[Integer, Field(ge=0)]
    """Asked for."""
    successful: Annotated[Integer, Field(ge=0)]
    """Done."""
    failed: Annotated[Integer, Field(ge=0)]
    """Not done."""
    items: list[Annotated[StartNodeSuccess | ItemFailure, Field(discriminator="status")]]
    """In the order asked."""


class StartNodeSuccess(Reader):
    """Done, and seen to be done."""

    id: str
    """Its id."""
    name: str
    """Its name."""
    status: Literal["success"]
    result: StartNodeEffect


class StopNodeArguments(Reader):
    """Stop nodes."""

    node_ids: Annotated[
        list[Annotated[str, Field(min_length=1)]], Field(max_length=50, min_length=1)
    ]
    """The nodes' ids."""
    project_id: str | MISSING = MISSING
    """The lab's project; the current one when absent. No other project can be reached."""


class StopNodeEffect(Reader):
    """The node's status after."""

    node_status: Literal["stopped"]


class StopNodeReport(Reader):
    """What became of each."""

    total: Annotated[Integer, Field(ge=0)]
    """Asked for."""
    successful: Annotated[Integer, Field(ge=0)]
    """Done."""
    failed: Annotated[Integer, Field(ge=0)]
    """Not done."""
    items: list[Annotated[StopNodeSuccess | ItemFailure, Field(discriminator="status")]]
    """In the order asked."""


class StopNodeSuccess(Reader):
    """Done, and seen to be done."""

    id: str
    """Its id."""
    name: str
    """Its name."""
    status: Literal["success"]
    result: StopNodeEffect


class StreamedFunctionCall(Reader):
    """What is called, and the arguments so far."""

    name: str
    """The tool's name."""
    arguments: str
    """The arguments' text so far, from its beginning."""
    complete: Annotated[Literal[True], exactly(True)] | MISSING = MISSING
    """On the call's last event, when the arguments are a whole JSON object."""


class StreamedToolCall(Reader):
    """The call so far."""

    id: Annotated[str, Field(min_length=1)]
    """The call's id."""
    type: Literal["function"]
    function: StreamedFunctionCall


class Template(Reader):
    """What a node can be made from."""

    template_id: str
    """Its id."""
    name: str
    """Its name."""
    template_type: str
    """For example vpcs."""
    category: str | None
    """For example guest."""


class TemplateList(Reader):
    """The templates."""

    templates: list[Template]


Timestamp = TypeAliasType(
    "Timestamp",
    Annotated[
        str,
        Field(pattern="^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]{1,6})?Z$"),
    ],
)
"""A point in time: UTC, ISO 8601, with `Z`."""


class TokenUsage(Reader):
    """Tokens of one turn; null when the model did not tell."""

    llm_calls: Annotated[Integer, Field(ge=0)]
    """Model calls, the title's included."""
    input_tokens: Annotated[Integer | None, Field(ge=0)]
    output_tokens: Annotated[Integer | None, Field(ge=0)]
    total_tokens: Annotated[Integer | None, Field(ge=0)]


class ToolCallEvent(Reader):
    """The model calls a tool; the arguments grow from event to event."""

    type: Literal["tool_call"]
    tool_call: StreamedToolCall
    message_id: Annotated[str, Field(min_length=1)]
    """The assistant message that calls."""
    session_id: SessionId


class ToolEndEvent(Reader):
    """A tool has ended, however it ended. Invalid, unknown and blocked calls get a start and an end too."""

    type: Literal["tool_end"]
    tool_name: str
    """The tool's name."""
    tool_call_id: Annotated[str, Field(min_length=1)]
    """The call that it answers."""
    tool_output: str
    """The result: strict JSON or plain text, never longer than the server's bound."""
    status: Literal["success", "error", "blocked", "aborted"]
    truncated: Annotated[Literal[True], exactly(True)] | MISSING = MISSING
    """The output was longer: its head and tail are here."""
    original_size: Annotated[Integer | MISSING, Field(ge=0)] = MISSING
    """The whole output, in bytes, when truncated."""
    message_id: Annotated[str, Field(min_length=1)]
    """The tool message that holds the result."""
    session_id: SessionId


class ToolError(Reader):
    """The tool could do nothing."""

    error: Annotated[str, Field(min_length=1)]
    """What happened, and what to do."""


CreateLinkResult = TypeAliasType("CreateLinkResult", CreateLinkReport | ToolError)
"""The links created."""


CreateNodeResult = TypeAliasType("CreateNodeResult", CreateNodeReport | ToolError)
"""The nodes created."""


GetTemplatesResult = TypeAliasType("GetTemplatesResult", TemplateList | ToolError)
"""The server's templates."""


StartNodeResult = TypeAliasType("StartNodeResult", StartNodeReport | ToolError)
"""What became of each node; success means that it was seen started."""


StopNodeResult = TypeAliasType("StopNodeResult", StopNodeReport | ToolError)
"""What became of each node; success means that it was seen stopped."""


class ToolStartEvent(Reader):
    """A tool begins to run."""

    type: Literal["tool_start"]
    tool_name: str
    """The tool's name."""
    tool_call_id: Annotated[str, Field(min_length=1)]
    """The call that it answers."""
    message_id: Annotated[str, Field(min_length=1)]
    """The assistant message that called."""
    session_id: SessionId


Event = TypeAliasType(
    "Event",
    Annotated[
        ContentEvent | ToolCallEvent | ToolStartEvent | ToolEndEvent | ErrorEvent | DoneEvent | HeartbeatEvent | AbortEvent,
        Field(discriminator="type"),
    ],
)
"""Any event of the surface."""


class Topology(Reader):
    """The lab as it stands."""

    project_id: str
    """The project."""
    name: str
    """Its name."""
    status: str
    """opened or closed."""
    nodes: dict[str, TopologyNode]
    """By name."""
    links: list[TopologyLink]


class TopologyLink(Reader):
    """A link between two ports."""

    link_id: str
    """Its id."""
    link_type: str
    """For example ethernet."""
    node1: str
    """A node's name."""
    port1: str
    """Its port's short name."""
    node2: str
    """A node's name."""
    port2: str
    """Its port's short name."""


class TopologyNode(Reader):
    """A node of the lab."""

    node_id: str
    """Its id."""
    node_type: str
    """Its kind, for example vpcs."""
    status: str
    """stopped, started or suspended."""
    console_type: str | None
    """For example telnet."""
    console_port: Integer | None
    """The console's TCP port."""
    x: Integer
    y: Integer
    tags: list[str]
    ports: list[str]
    """Short names."""


class TopologyReaderArguments(Reader):
    """Read the lab: its nodes and links."""

    project_id: str | MISSING = MISSING
    """The lab's project; the current one when absent. No other project can be reached."""


TopologyReaderResult = TypeAliasType("TopologyReaderResult", Topology | ToolError)
"""The lab's nodes and links."""


TurnErrorCode = TypeAliasType("TurnErrorCode", Literal["llm_unauthorized", "llm_rate_limited", "llm_unavailable", "upstream_disconnected", "context_window_exceeded", "limit_reached", "project_closed", "contract_violation", "internal"])
"""Why a turn failed."""


class TurnStats(Reader):
    """The newest turn."""

    status: Literal["done", "error", "abort"]
    duration_ms: Annotated[Integer, Field(ge=0)]
    """In milliseconds."""
    temperature: Number | MISSING = MISSING
    """The request's override."""
    max_tokens: Integer | MISSING = MISSING
    """The request's override."""


class VpcsCommandsArguments(Reader):
    """Run commands on VPCS hosts."""

    device_configs: Annotated[list[DeviceCommands], Field(max_length=50, min_length=1)]
    """Which commands on which host."""
    project_id: str | MISSING = MISSING
    """The lab's project; the current one when absent. No other project can be reached."""


class VpcsCommandsReport(Reader):
    """What became of each."""

    total: Annotated[Integer, Field(ge=0)]
    """Asked for."""
    successful: Annotated[Integer, Field(ge=0)]
    """Done."""
    failed: Annotated[Integer, Field(ge=0)]
    """Not done."""
    items: list[Annotated[VpcsCommandsSuccess | ItemFailure, Field(discriminator="status")]]
    """In the order asked."""


VpcsCommandsResult = TypeAliasType("VpcsCommandsResult", VpcsCommandsReport | ToolError)
"""What each host answered."""


class VpcsCommandsSuccess(Reader):
    """Done, and seen to be done."""

    id: str
    """Its id."""
    name: str
    """Its name."""
    status: Literal["success"]
    result: VpcsOutput


class VpcsOutput(Reader):
    """The answers."""

    outputs: list[CommandOutput]
