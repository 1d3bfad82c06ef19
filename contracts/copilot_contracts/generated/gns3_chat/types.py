# Generated from gns3-chat 1.0.0 (schemas 05eb826b94cad97e) by copilot_codegen 36495cc3, datamodel-code-generator 0.89.0; do not edit (body c7e1f25328b1e506)
from __future__ import annotations

from typing import Any, Literal, NotRequired, TypeAlias, TypedDict


class AbortAnswer(TypedDict):
    """The session's turn was stopped, or none ran."""

    status: Literal["ok"]
    session_id: SessionId


class AbortEvent(TypedDict):
    """The turn was stopped. The last event of its stream."""

    type: Literal["abort"]
    reason: Literal["user", "deleted", "disconnected", "shutdown"]
    """Who stopped it."""
    session_id: SessionId


class ChatAnswer(TypedDict):
    """The whole turn at once: the answer of `POST /stream` with `stream: false`."""

    session_id: SessionId
    status: Literal["done", "abort"]
    """`done`, or `abort` for a turn that was stopped."""
    reason: NotRequired[Literal["user", "deleted", "disconnected", "shutdown"]]
    """Who stopped it, with `abort`."""
    messages: list[OpenAIMessage]
    """The turn's messages, the user's first."""
    usage: TokenUsage


class ChatRequest(TypedDict):
    """The body of `POST /stream`."""

    message: str
    """The user's message."""
    session_id: NotRequired[SessionId | None]
    """The session to continue; absent or null starts a new one."""
    stream: NotRequired[bool]
    """Answer with an event stream (true) or with one JSON document (false)."""
    temperature: NotRequired[float | None]
    """Overrides the user's setting for this turn."""
    max_tokens: NotRequired[int | None]
    """Overrides the user's limit of answer tokens for this turn."""
    mode: NotRequired[Literal["text"]]
    """The interaction mode."""


class ChatSession(TypedDict):
    """A session: who, where, its title and what was counted."""

    id: int
    """The row's number in the project's file."""
    thread_id: SessionId
    user_id: str
    """Whose session it is."""
    project_id: str
    """The GNS3 project."""
    title: str
    """Generated from the first turn, or given by the user."""
    message_count: int
    """Stored messages: the user's, the model's and tool results."""
    llm_calls_count: int
    """Model calls, the title's included."""
    input_tokens: int
    """Input tokens, summed over all model calls that told them."""
    output_tokens: int
    """Output tokens, summed over all model calls that told them."""
    total_tokens: int
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


class CommandOutput(TypedDict):
    """One command's answer."""

    command: str
    """The command."""
    output: str
    """What the console said."""
    timed_out: NotRequired[Literal[True]]
    """The command did not end in time and was broken off; the output is what it had said."""
    truncated: NotRequired[Literal[True]]
    """There was more output than is kept; the middle was left out."""


class ContentEvent(TypedDict):
    """A piece of the answer's text."""

    type: Literal["content"]
    content: str
    """The piece; append it to the message."""
    message_id: str
    """The assistant message that grows."""
    session_id: SessionId


class ConversationHistory(TypedDict):
    """The newest messages of a session, oldest first."""

    thread_id: SessionId
    title: str
    """The session's title."""
    messages: list[OpenAIMessage]
    created_at: Timestamp
    updated_at: Timestamp
    llm_calls: int
    """Model calls of the session."""
    has_more: bool
    """There are older messages: ask again with `before` = the id of the first one here."""


class CreateLinkArguments(TypedDict):
    """Link ports of nodes."""

    links: list[LinkToCreate]
    """The links to create."""
    project_id: NotRequired[str]
    """The lab's project; the current one when absent. No other project can be reached."""


class CreateLinkReport(TypedDict):
    """What became of each."""

    total: int
    """Asked for."""
    successful: int
    """Done."""
    failed: int
    """Not done."""
    items: list[CreateLinkSuccess | ItemFailure]
    """In the order asked."""


class CreateLinkSuccess(TypedDict):
    """Done, and seen to be done."""

    id: str
    """Its id."""
    name: str
    """Its name."""
    status: Literal["success"]
    result: CreatedLink


class CreateNodeArguments(TypedDict):
    """Create nodes from templates."""

    nodes: list[NodeToCreate]
    """The nodes to create."""
    project_id: NotRequired[str]
    """The lab's project; the current one when absent. No other project can be reached."""


class CreateNodeReport(TypedDict):
    """What became of each."""

    total: int
    """Asked for."""
    successful: int
    """Done."""
    failed: int
    """Not done."""
    items: list[CreateNodeSuccess | ItemFailure]
    """In the order asked."""


class CreateNodeSuccess(TypedDict):
    """Done, and seen to be done."""

    id: str
    """Its id."""
    name: str
    """Its name."""
    status: Literal["success"]
    result: CreatedNode


class CreatedLink(TypedDict):
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


class CreatedNode(TypedDict):
    """The node as the server made it."""

    node_id: str
    """Its id."""
    node_type: str
    """Its kind."""
    status: str
    """Its status."""
    ports: list[str]
    """Short names."""


class DeviceCommands(TypedDict):
    """One host's commands."""

    device_name: str
    """The host's name, for example PC1."""
    commands: list[str]
    """In order, for example `show ip`."""


class DoneEvent(TypedDict):
    """The turn ended normally. The last event of its stream."""

    type: Literal["done"]
    session_id: SessionId


class ErrorEvent(TypedDict):
    """The turn failed. The last event of its stream."""

    type: Literal["error"]
    error: str
    """What happened, for a person. No key, token, path or traceback."""
    code: TurnErrorCode
    retryable: bool
    """The same request may succeed later."""
    retry_after: NotRequired[int]
    """Seconds to wait before that, where the model's server said how long."""
    session_id: SessionId


class GetTemplatesArguments(TypedDict):
    """List the templates that nodes can be made from."""


class HeartbeatEvent(TypedDict):
    """Nothing happened for a while; the connection lives."""

    type: Literal["heartbeat"]
    session_id: SessionId


class HistoryQuery(TypedDict):
    """Which part of the history."""

    limit: NotRequired[int]
    """At most so many messages."""
    before: NotRequired[str]
    """Only messages older than the one with this id."""


class ItemFailure(TypedDict):
    """Not done."""

    id: str
    """Its id, or what was asked for."""
    name: str | None
    """Its name; null when unknown."""
    status: Literal["failed"]
    error: str
    """Why, and what to do."""


class LinkToCreate(TypedDict):
    """One link."""

    node_id1: str
    """A node's id."""
    port1: str
    """A port of it: its name or short name."""
    node_id2: str
    """The other node's id."""
    port2: str
    """A port of it: its name or short name."""


class MessageMetadata(TypedDict):
    """What else is known of a message. Each key is there only when it says something."""

    interrupted: NotRequired[Literal[True]]
    """The turn ended before the model had finished this message."""
    status: NotRequired[Literal["success", "error", "blocked", "aborted"]]
    """How a tool call ended (tool messages)."""
    truncated: NotRequired[Literal[True]]
    """The tool's output was longer than is kept."""
    original_size: NotRequired[int]
    """The tool's whole output, in bytes, when truncated."""
    model: NotRequired[str]
    """The model that wrote the message."""
    finish_reason: NotRequired[str]
    """Why the model stopped."""


class ModelUsage(TypedDict):
    """What one model did in a session."""

    llm_calls: int
    """Calls."""
    input_tokens: int | None
    """Null when no call told it."""
    output_tokens: int | None
    """Null when no call told it."""


class NodeToCreate(TypedDict):
    """One node."""

    template_id: str
    """A template's id, from get_gns3_templates."""
    x: int
    y: int
    name: NotRequired[str]
    """The wished name."""


class OpenAIFunctionCall(TypedDict):
    """What is called, and with what."""

    name: str
    """The tool's name."""
    arguments: str
    """The whole arguments: the text of a JSON object, or what the model wrote when it wrote none."""


class OpenAIMessage(TypedDict):
    """One message of a conversation, in OpenAI's form."""

    id: str
    """The message's id; the same in the stream and at every read."""
    role: Literal["user", "assistant", "system", "tool"]
    content: str
    """The text; empty for an assistant message that only calls tools. A tool's result is strict JSON or plain text."""
    created_at: Timestamp
    name: NotRequired[str]
    """The tool's name (tool messages)."""
    tool_call_id: NotRequired[str]
    """The call that this result answers (tool messages)."""
    tool_calls: NotRequired[list[OpenAIToolCall]]
    """The tools that an assistant message calls."""
    metadata: NotRequired[MessageMetadata]


class OpenAIToolCall(TypedDict):
    """One call of a tool in an assistant message, as OpenAI writes it."""

    id: str
    """The call's id."""
    type: Literal["function"]
    function: OpenAIFunctionCall


class Problem(TypedDict):
    """An HTTP error: RFC 9457 problem details."""

    type: str
    """A URI that names the kind of problem."""
    title: str
    """The kind of problem, in a few words."""
    status: int
    """The HTTP status."""
    detail: str
    """What happened and what to do, for a person."""
    code: Literal["unauthorized", "project_not_found", "project_not_opened", "session_not_found", "session_busy", "llm_not_configured", "invalid_request", "body_too_large", "resync_required", "version_conflict", "llm_unauthorized", "llm_rate_limited", "llm_unavailable", "upstream_disconnected", "context_window_exceeded", "limit_reached", "project_closed", "contract_violation", "internal"]
    """What happened, for a program. A failed turn that was not streamed has the codes of the `error` event."""
    request_id: str
    """Names this request in the server's log."""
    message: str
    """The same as `detail`: what GNS3's own clients read."""
    session_id: NotRequired[SessionId]
    """The session, when a turn that was not streamed failed, or the turn of a repeated `Idempotency-Key` can't be read any more."""
    retryable: NotRequired[bool]
    """The same request may succeed later (a failed turn)."""


class RenameSessionRequest(TypedDict):
    """A new title."""

    title: str
    """1 to 255 characters after trimming."""


SessionId: TypeAlias = str
"""A session's id: LangGraph's `thread_id`."""


SessionList: TypeAlias = list[ChatSession]
"""The user's sessions in the project: pinned ones first, then by `updated_at`, newest first."""


class SessionListQuery(TypedDict):
    """Which part of the list."""

    limit: NotRequired[int]
    """At most so many sessions."""
    offset: NotRequired[int]
    """Leave out so many first."""
    q: NotRequired[str]
    """Only sessions whose title contains this."""


class SessionStats(TypedDict):
    """Figures of a session beside its counters. A figure that no model told is null, never 0."""

    context_tokens: int | None
    """Input tokens of the newest model call: how full the context is."""
    unknown_usage_calls: int
    """Model calls whose token figures the model did not tell."""
    turns: int
    """Turns, however they ended."""
    duration_ms: int
    """Time of all turns together, in milliseconds."""
    models: dict[str, ModelUsage]
    """By model name."""
    tool_calls: dict[str, int]
    """Calls by tool name."""
    last_turn: NotRequired[TurnStats]


class StartNodeArguments(TypedDict):
    """Start nodes."""

    node_ids: list[str]
    """The nodes' ids."""
    project_id: NotRequired[str]
    """The lab's project; the current one when absent. No other project can be reached."""


class StartNodeEffect(TypedDict):
    """The node's status after."""

    node_status: Literal["started"]


class StartNodeReport(TypedDict):
    """What became of each."""

    total: int
    """Asked for."""
    successful: int
    """Done."""
    failed: int
    """Not done."""
    items: list[StartNodeSuccess | ItemFailure]
    """In the order asked."""


class StartNodeSuccess(TypedDict):
    """Done, and seen to be done."""

    id: str
    """Its id."""
    name: str
    """Its name."""
    status: Literal["success"]
    result: StartNodeEffect


class StopNodeArguments(TypedDict):
    """Stop nodes."""

    node_ids: list[str]
    """The nodes' ids."""
    project_id: NotRequired[str]
    """The lab's project; the current one when absent. No other project can be reached."""


class StopNodeEffect(TypedDict):
    """The node's status after."""

    node_status: Literal["stopped"]


class StopNodeReport(TypedDict):
    """What became of each."""

    total: int
    """Asked for."""
    successful: int
    """Done."""
    failed: int
    """Not done."""
    items: list[StopNodeSuccess | ItemFailure]
    """In the order asked."""


class StopNodeSuccess(TypedDict):
    """Done, and seen to be done."""

    id: str
    """Its id."""
    name: str
    """Its name."""
    status: Literal["success"]
    result: StopNodeEffect


class StreamedFunctionCall(TypedDict):
    """What is called, and the arguments so far."""

    name: str
    """The tool's name."""
    arguments: str
    """The arguments' text so far, from its beginning."""
    complete: NotRequired[Literal[True]]
    """On the call's last event, when the arguments are a whole JSON object."""


class StreamedToolCall(TypedDict):
    """The call so far."""

    id: str
    """The call's id."""
    type: Literal["function"]
    function: StreamedFunctionCall


class Template(TypedDict):
    """What a node can be made from."""

    template_id: str
    """Its id."""
    name: str
    """Its name."""
    template_type: str
    """For example vpcs."""
    category: str | None
    """For example guest."""


class TemplateList(TypedDict):
    """The templates."""

    templates: list[Template]


Timestamp: TypeAlias = str
"""A point in time: UTC, ISO 8601, with `Z`."""


class TokenUsage(TypedDict):
    """Tokens of one turn; null when the model did not tell."""

    llm_calls: int
    """Model calls, the title's included."""
    input_tokens: int | None
    output_tokens: int | None
    total_tokens: int | None


class ToolCallEvent(TypedDict):
    """The model calls a tool; the arguments grow from event to event."""

    type: Literal["tool_call"]
    tool_call: StreamedToolCall
    message_id: str
    """The assistant message that calls."""
    session_id: SessionId


class ToolEndEvent(TypedDict):
    """A tool has ended, however it ended. Invalid, unknown and blocked calls get a start and an end too."""

    type: Literal["tool_end"]
    tool_name: str
    """The tool's name."""
    tool_call_id: str
    """The call that it answers."""
    tool_output: str
    """The result: strict JSON or plain text, never longer than the server's bound."""
    status: Literal["success", "error", "blocked", "aborted"]
    truncated: NotRequired[Literal[True]]
    """The output was longer: its head and tail are here."""
    original_size: NotRequired[int]
    """The whole output, in bytes, when truncated."""
    message_id: str
    """The tool message that holds the result."""
    session_id: SessionId


class ToolError(TypedDict):
    """The tool could do nothing."""

    error: str
    """What happened, and what to do."""


CreateLinkResult: TypeAlias = CreateLinkReport | ToolError
"""The links created."""


CreateNodeResult: TypeAlias = CreateNodeReport | ToolError
"""The nodes created."""


GetTemplatesResult: TypeAlias = TemplateList | ToolError
"""The server's templates."""


StartNodeResult: TypeAlias = StartNodeReport | ToolError
"""What became of each node; success means that it was seen started."""


StopNodeResult: TypeAlias = StopNodeReport | ToolError
"""What became of each node; success means that it was seen stopped."""


class ToolStartEvent(TypedDict):
    """A tool begins to run."""

    type: Literal["tool_start"]
    tool_name: str
    """The tool's name."""
    tool_call_id: str
    """The call that it answers."""
    message_id: str
    """The assistant message that called."""
    session_id: SessionId


Event: TypeAlias = ContentEvent | ToolCallEvent | ToolStartEvent | ToolEndEvent | ErrorEvent | DoneEvent | HeartbeatEvent | AbortEvent
"""Any event of the surface."""


class Topology(TypedDict):
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


class TopologyLink(TypedDict):
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


class TopologyNode(TypedDict):
    """A node of the lab."""

    node_id: str
    """Its id."""
    node_type: str
    """Its kind, for example vpcs."""
    status: str
    """stopped, started or suspended."""
    console_type: str | None
    """For example telnet."""
    console_port: int | None
    """The console's TCP port."""
    x: int
    y: int
    tags: list[str]
    ports: list[str]
    """Short names."""


class TopologyReaderArguments(TypedDict):
    """Read the lab: its nodes and links."""

    project_id: NotRequired[str]
    """The lab's project; the current one when absent. No other project can be reached."""


TopologyReaderResult: TypeAlias = Topology | ToolError
"""The lab's nodes and links."""


TurnErrorCode: TypeAlias = Literal["llm_unauthorized", "llm_rate_limited", "llm_unavailable", "upstream_disconnected", "context_window_exceeded", "limit_reached", "project_closed", "contract_violation", "internal"]
"""Why a turn failed."""


class TurnStats(TypedDict):
    """The newest turn."""

    status: Literal["done", "error", "abort"]
    duration_ms: int
    """In milliseconds."""
    temperature: NotRequired[float]
    """The request's override."""
    max_tokens: NotRequired[int]
    """The request's override."""


class VpcsCommandsArguments(TypedDict):
    """Run commands on VPCS hosts."""

    device_configs: list[DeviceCommands]
    """Which commands on which host."""
    project_id: NotRequired[str]
    """The lab's project; the current one when absent. No other project can be reached."""


class VpcsCommandsReport(TypedDict):
    """What became of each."""

    total: int
    """Asked for."""
    successful: int
    """Done."""
    failed: int
    """Not done."""
    items: list[VpcsCommandsSuccess | ItemFailure]
    """In the order asked."""


VpcsCommandsResult: TypeAlias = VpcsCommandsReport | ToolError
"""What each host answered."""


class VpcsCommandsSuccess(TypedDict):
    """Done, and seen to be done."""

    id: str
    """Its id."""
    name: str
    """Its name."""
    status: Literal["success"]
    result: VpcsOutput


class VpcsOutput(TypedDict):
    """The answers."""

    outputs: list[CommandOutput]
