# Generated from chatbot 1.0.0 (schemas 24361d680b5ff452) by copilot_codegen 36495cc3, datamodel-code-generator 0.89.0; do not edit (body 5a1639c3f7a69e56)
from __future__ import annotations

from typing import Annotated, Any, Literal

from copilot_contracts.reading import Integer, Number, Reader, exactly
from pydantic import MISSING, Field
from typing_extensions import TypeAliasType


class CalculateArguments(Reader):
    """Calculate with numbers: + - * / // % **, brackets, and functions such as sqrt, sin, log; pi and e."""

    expression: Annotated[str, Field(max_length=1000, min_length=1)]
    """Arithmetic."""


class CalculateFailed(Reader):
    """Why there is no result."""

    expression: str
    """As asked."""
    error: Annotated[str, Field(min_length=1)]
    """What is wrong, for a person."""


class Calculated(Reader):
    """The result."""

    expression: str
    """As asked."""
    result: Number | ComplexNumber
    """A finite number."""
    type: Literal["int", "float", "complex"]
    """The result's: whole numbers beyond 2**53 are told as `float`."""


CalculateResult = TypeAliasType("CalculateResult", Calculated | CalculateFailed)
"""The result."""


class ChatAnswer(Reader):
    """The whole answer of a turn."""

    success: Annotated[Literal[True], exactly(True)]
    response: str
    """The answer."""
    model: str
    """Who gave it."""
    context: str
    """The tone, as asked."""
    deep_thinking: bool
    """The model was to think deeply."""
    thinking_process: str
    """What the model thought; may be empty."""
    tools: list[str]
    """Tools that were asked, by name."""
    timestamp: Timestamp


class ChatPostRequest(Reader):
    """The body of `POST /chat`: JSON, or a form whose lists are JSON strings."""

    message: Annotated[str, Field(max_length=100000, min_length=1)]
    """What the user says. Empty, or only spaces, is answered 400."""
    model: Annotated[str | MISSING, Field(max_length=200)] = MISSING
    """A key of `GET /api/models`. Another name is answered by the configured model, which the answer names."""
    context: Annotated[str, Field(max_length=100)] = "casual"
    """The tone: `casual`, or a word for another."""
    deep_thinking: bool = False
    """Without a `thinking_mode`: deep-think."""
    thinking_mode: ThinkingMode | MISSING = MISSING
    history: list[HistoryItem] | MISSING = MISSING
    """Earlier messages, oldest first; the newest 30 are used, and only where the server has stored none of the conversation."""
    memory_ids: Annotated[list[MemoryId] | MISSING, Field(max_length=50)] = MISSING
    """Memories that the model is to know; unknown ones are left out."""
    mcp_selected_files: Annotated[
        list[Annotated[str, Field(max_length=4096, min_length=1)]] | MISSING, Field(max_length=20)
    ] = MISSING
    """Files in the user's open folders that the model is to read."""
    language: Annotated[str | MISSING, Field(max_length=35)] = MISSING
    """The language to answer in, as a code such as `vi`."""
    custom_prompt: Annotated[str | MISSING, Field(max_length=20000)] = MISSING
    """Instructions of the user, beside our own."""
    tools: Annotated[
        list[Annotated[str, Field(max_length=100)]] | MISSING, Field(max_length=20)
    ] = MISSING
    """Names of tools to ask before the model answers: the contract's, or `google-search`, `github`, `saucenao`, `serpapi-…` as the frontend writes them."""
    agent_config: dict[str, Any] | MISSING = MISSING
    """Accepted for the client's sake; not used."""


class ChatStreamRequest(Reader):
    """The body of `POST /chat/stream`, as the JavaScript client sends it."""

    message: Annotated[str, Field(max_length=100000, min_length=1)]
    """What the user says. Empty, or only spaces, is answered 400."""
    model: Annotated[str | MISSING, Field(max_length=200)] = MISSING
    """A key of `GET /api/models`. Another name is answered by the configured model, which the answer names."""
    context: Annotated[str, Field(max_length=100)] = "casual"
    """The tone: `casual`, or a word for another."""
    deep_thinking: bool = False
    """Without a `thinking_mode`: deep-think."""
    thinking_mode: ThinkingMode | MISSING = MISSING
    history: list[HistoryItem] | MISSING = MISSING
    """Earlier messages, oldest first; the newest 30 are used, and only where the server has stored none of the conversation."""
    memory_ids: Annotated[list[MemoryId] | MISSING, Field(max_length=50)] = MISSING
    """Memories that the model is to know; unknown ones are left out."""
    mcp_selected_files: Annotated[
        list[Annotated[str, Field(max_length=4096, min_length=1)]] | MISSING, Field(max_length=20)
    ] = MISSING
    """Files in the user's open folders that the model is to read."""
    language: Annotated[str | MISSING, Field(max_length=35)] = MISSING
    """The language to answer in, as a code such as `vi`."""
    custom_prompt: Annotated[str | MISSING, Field(max_length=20000)] = MISSING
    """Instructions of the user, beside our own."""
    tools: Annotated[
        list[Annotated[str, Field(max_length=100)]] | MISSING, Field(max_length=20)
    ] = MISSING
    """Names of tools to ask before the model answers: the contract's, or `google-search`, `github`, `saucenao`, `serpapi-…` as the frontend writes them."""
    skill: Annotated[str | MISSING, Field(max_length=100)] = MISSING
    """Accepted for the client's sake; this server has no skills."""
    skill_auto_route: Literal["true", "false"] | MISSING = MISSING
    """As `skill`. A string, not a boolean."""
    conversation_id: Annotated[str | None | MISSING, Field(pattern="^[A-Za-z0-9_-]{0,64}$")] = (
        MISSING
    )
    """The conversation to go on with; absent, null or empty begins one."""
    generated_images: Annotated[list[Any] | MISSING, Field(max_length=50)] = MISSING
    """Accepted for the client's sake; not used."""
    images: Annotated[list[Annotated[str, Field(min_length=1)]] | MISSING, Field(max_length=8)] = (
        MISSING
    )
    """Pictures that the model is to see, as data URLs."""
    temperature: Annotated[Number | MISSING, Field(ge=0.0, le=2.0)] = MISSING
    """Overrides the configured one."""
    temperature_deep: Annotated[Number | MISSING, Field(ge=0.0, le=2.0)] = MISSING
    """The same, where the model is to think deeply."""
    max_tokens_deep: Annotated[Integer | MISSING, Field(ge=1, le=1000000)] = MISSING
    """The most tokens of an answer, where the model is to think deeply."""
    top_p: Annotated[Number | MISSING, Field(ge=0.0, le=1.0)] = MISSING
    """Nucleus sampling."""


class ChunkEvent(Reader):
    """A piece of the answer."""

    content: str
    """The piece; append it."""
    chunk_index: Annotated[Integer, Field(ge=0)]
    """Counts from 0 without gaps over the turn."""
    request_id: RequestId | MISSING = MISSING


class ChunkMessage(Reader):
    """The event `chunk`: its name in the stream, and its data."""

    event: Literal["chunk"]
    data: ChunkEvent


class CompleteEvent(Reader):
    """The answer is complete. The last event."""

    response: str
    """The whole answer: all chunks."""
    model: str
    """Who gave it."""
    context: str
    """The tone, as asked."""
    deep_thinking: bool
    """The model was to think deeply."""
    thinking_mode: ThinkingMode
    """As it was asked for."""
    total_chunks: Annotated[Integer, Field(ge=0)]
    """How many `chunk` events there were."""
    thinking_summary: str
    """For a person; empty without thinking."""
    thinking_steps: list[str]
    """The steps of all `thinking_end` events."""
    thinking_duration_ms: Annotated[Integer, Field(ge=0)]
    """Of all thinking together, in milliseconds."""
    timestamp: Timestamp
    elapsed_time: Annotated[Number, Field(ge=0.0)]
    """Since the request, in seconds with three decimals."""
    tokens: Annotated[Integer, Field(ge=0)]
    """Tokens of the answer, as the model told; where it didn't, an estimate from its text."""
    max_tokens: Annotated[Integer, Field(ge=0)]
    """The most that it might have had."""
    request_id: RequestId
    time_to_first_chunk: Annotated[Number | MISSING, Field(ge=0.0)] = MISSING
    """Seconds until the first `chunk`; absent when there was none."""


class CompleteMessage(Reader):
    """The event `complete`: its name in the stream, and its data."""

    event: Literal["complete"]
    data: CompleteEvent


class ComplexNumber(Reader):
    """A complex number."""

    re: Number
    """The real part."""
    im: Number
    """The imaginary part."""


class Conversation(Reader):
    """A conversation without its messages."""

    field_id: Annotated[ConversationId, Field(alias="_id")]
    user_id: str
    """Whose it is."""
    title: Annotated[str, Field(min_length=1)]
    """Its title."""
    model: str
    """The model that it was last asked with, or made for; empty while that is unknown."""
    created_at: Timestamp
    updated_at: Timestamp
    message_count: Annotated[Integer, Field(ge=0)]
    """Messages stored."""
    total_tokens: Annotated[Integer, Field(ge=0)]
    """Tokens of all model calls, as far as they were told."""
    is_archived: bool
    """Put away: still there, listed as archived."""
    metadata: dict[str, Any]
    """What else is known of it."""


ConversationId = TypeAliasType(
    "ConversationId", Annotated[str, Field(pattern="^[A-Za-z0-9_-]{1,64}$")]
)
"""A conversation's id."""


class ConversationList(Reader):
    """A user's conversations, the last changed first."""

    conversations: list[Conversation]
    """The conversations."""
    count: Annotated[Integer, Field(ge=0)]
    """How many they are."""


class ConversationMessage(Reader):
    """One message."""

    field_id: Annotated[str, Field(alias="_id", min_length=1)]
    """Its id; the same at every reading."""
    role: Literal["user", "assistant"]
    """Who said it."""
    content: str
    """What was said."""
    created_at: Timestamp
    metadata: dict[str, Any]
    """What else is known of it, such as `interrupted`."""


class DatabaseHealth(Reader):
    """Whether the databases can be used."""

    ok: bool
    """All of them can."""
    timestamp: Timestamp
    conversations: DatabaseState
    memory: DatabaseState


class DatabaseState(Reader):
    """One database, asked just now."""

    ok: bool
    """It was read and written."""
    error: Annotated[str | MISSING, Field(min_length=1)] = MISSING
    """What is wrong, where it isn't ok."""


class DirectoryListing(Reader):
    """What is in the folder."""

    directory: str
    """As asked."""
    total_items: Annotated[Integer, Field(ge=0)]
    """Folders and files, listed or not."""
    folders: list[ListedFolder]
    """By name."""
    files: list[ListedFile]
    """By name."""
    truncated: bool | MISSING = MISSING
    """Not all are listed."""


class ErrorAnswer(Reader):
    """Why there is no other answer."""

    error: Annotated[str, Field(min_length=1)]
    """What happened, for a person. No key, path or traceback."""


DatabaseHealthFailed = TypeAliasType("DatabaseHealthFailed", DatabaseHealth | ErrorAnswer)
"""Which database can't be used."""


class ErrorEvent(Reader):
    """The turn failed or was stopped. The last event."""

    error: Annotated[str, Field(min_length=1)]
    """What happened, for a person. No key, path or traceback."""
    request_id: RequestId | MISSING = MISSING


class ErrorMessage(Reader):
    """The event `error`: its name in the stream, and its data."""

    event: Literal["error"]
    data: ErrorEvent


class FileContent(Reader):
    """The file's beginning."""

    file_path: str
    """As asked."""
    total_lines: Annotated[Integer, Field(ge=0)]
    """Lines of the file, as far as it was read."""
    lines_read: Annotated[Integer, Field(ge=0)]
    """Lines of `content`."""
    truncated: bool
    """There is more than `content`."""
    content: str
    """The text; bytes that aren't UTF-8 are replaced."""


class FilesFound(Reader):
    """The files found."""

    query: str
    """As asked."""
    file_type: str
    """As asked."""
    total_found: Annotated[Integer, Field(ge=0)]
    """How many were found, listed or not."""
    results: list[FoundFile]
    """By path."""
    returned: Annotated[Integer | MISSING, Field(ge=0)] = MISSING
    """How many are listed."""
    truncated: bool | MISSING = MISSING
    """There may be more: a bound of files, depth or time was reached."""


class FoundFile(Reader):
    """A file."""

    filename: str
    """Its name."""
    path: str
    """From its root."""
    full_path: str
    """Its absolute path."""
    size: Annotated[Integer, Field(ge=0)]
    """In bytes."""


class FullConversation(Reader):
    """A conversation with its messages."""

    field_id: Annotated[ConversationId, Field(alias="_id")]
    user_id: str
    """Whose it is."""
    title: Annotated[str, Field(min_length=1)]
    """Its title."""
    model: str
    """The model that it was last asked with, or made for; empty while that is unknown."""
    created_at: Timestamp
    updated_at: Timestamp
    message_count: Annotated[Integer, Field(ge=0)]
    """Messages stored."""
    total_tokens: Annotated[Integer, Field(ge=0)]
    """Tokens of all model calls, as far as they were told."""
    is_archived: bool
    """Put away: still there, listed as archived."""
    metadata: dict[str, Any]
    """What else is known of it."""
    messages: list[ConversationMessage]
    """Oldest first."""


class GenerateImageAnswer(Reader):
    """The pictures made."""

    success: Annotated[Literal[True], exactly(True)]
    image_id: Annotated[str, Field(min_length=1)]
    """The first picture's."""
    images: Annotated[list[GeneratedImage], Field(min_length=1)]
    """At least one."""
    provider: str
    """Who made them."""
    model: str
    """With which model."""
    prompt: str
    """As asked."""
    timestamp: Timestamp
    prompt_used: str | MISSING = MISSING
    """What the endpoint was told, style included."""
    original_prompt: str | MISSING = MISSING
    """As asked."""
    latency_ms: Annotated[Integer | MISSING, Field(ge=0)] = MISSING
    """How long the endpoint took, in milliseconds."""
    style: str | MISSING = MISSING
    """As asked."""


class GenerateImageRequest(Reader):
    """The picture to make."""

    prompt: Annotated[str, Field(max_length=4000, min_length=1)]
    """What it shows. Empty is answered 400."""
    conversation_id: Annotated[str | None | MISSING, Field(pattern="^[A-Za-z0-9_-]{0,64}$")] = (
        MISSING
    )
    """Where it belongs; not used."""
    quality: Annotated[str | MISSING, Field(max_length=50)] = MISSING
    """Handed to the endpoint."""
    style: Annotated[str | MISSING, Field(max_length=50)] = MISSING
    """A name of `GET …/styles`."""
    width: Annotated[Integer, Field(ge=64, le=2048)] = 1024
    """In pixels."""
    height: Annotated[Integer, Field(ge=64, le=2048)] = 1024
    """In pixels."""
    steps: Annotated[Integer | MISSING, Field(ge=1, le=500)] = MISSING
    """Accepted; the endpoint knows none."""
    guidance: Annotated[Number | MISSING, Field(ge=0.0, le=100.0)] = MISSING
    """Accepted; the endpoint knows none."""
    seed: Annotated[Integer | MISSING, Field(ge=-9007199254740991, le=9007199254740991)] = MISSING
    """Accepted; the endpoint knows none."""
    num_images: Annotated[Integer, Field(ge=1, le=4)] = 1
    """How many."""
    provider: Annotated[str | MISSING, Field(max_length=100)] = MISSING
    """A name of `GET …/providers`; others are answered 400."""
    model: Annotated[str | MISSING, Field(max_length=200)] = MISSING
    """Its model; others are answered 400."""
    enhance: bool = False
    """Accepted; the prompt is used as it is."""


class GeneratedImage(Reader):
    """One picture."""

    url: Annotated[str, Field(min_length=1)]
    """http, https or data URL."""
    image_id: Annotated[str, Field(min_length=1)]
    """Its id."""


class GetProjectInfoArguments(Reader):
    """Tell what project this is."""


class GithubSearchArguments(Reader):
    """Search repositories on GitHub."""

    query: Annotated[str, Field(max_length=2000, min_length=1)]
    """What to look for."""


GithubSearchResult = TypeAliasType("GithubSearchResult", str)
"""Markdown for the model. Empty: nothing was found. `❌ …`: it failed; that isn't told to the model as data."""


class GoogleSearchArguments(Reader):
    """Search the web with Google."""

    query: Annotated[str, Field(max_length=2000, min_length=1)]
    """What to look for."""


GoogleSearchResult = TypeAliasType("GoogleSearchResult", str)
"""Markdown for the model. Empty: nothing was found. `❌ …`: it failed; that isn't told to the model as data."""


class GrepAnswer(Reader):
    """The lines that were found."""

    success: Annotated[Literal[True], exactly(True)]
    pattern: str
    """As asked."""
    results: list[GrepMatch]
    """By file and line."""
    count: Annotated[Integer, Field(ge=0)]
    """How many they are."""
    truncated: bool | MISSING = MISSING
    """There may be more: a bound of results, files, bytes or time was reached."""


class GrepMatch(Reader):
    """A line that was found."""

    file: Annotated[str, Field(min_length=1)]
    """The file's absolute path."""
    relative: Annotated[str, Field(min_length=1)]
    """The same, from its folder."""
    line: Annotated[Integer, Field(ge=1)]
    """Counted from 1."""
    content: str
    """The line, without its end; long ones are cut."""


class GrepQuery(Reader):
    """What to look for in the open folders."""

    pattern: Annotated[str, Field(max_length=500, min_length=1)]
    """Text, or with `regex` a regular expression (RE2's)."""
    type: Annotated[str, Field(max_length=20, pattern="^[A-Za-z0-9_+-]+$")] = "all"
    """`all`, or the end of file names, such as `py`."""
    max_results: Annotated[Integer, Field(ge=1, le=500)] = 30
    """At most so many lines."""
    case_sensitive: Literal["true", "false"] = "false"
    """A and a are two letters."""
    regex: Literal["true", "false"] = "false"
    """The pattern is a regular expression."""


class HistoryItem(Reader):
    """An earlier message."""

    role: Annotated[str, Field(max_length=50)]
    """`user` and `assistant` are used; others are left out."""
    content: str
    """Its text; the first 4,000 characters are used."""


class ImageHealth(Reader):
    """Whether pictures can be made."""

    health: dict[str, DatabaseState]
    """By provider; empty when none is configured."""


class ImageProvider(Reader):
    """An endpoint that makes pictures."""

    name: Annotated[str, Field(min_length=1)]
    """What a request says."""
    model: Annotated[str, Field(min_length=1)]
    """Its model."""


class ImageProviders(Reader):
    """Who can make pictures."""

    providers: list[ImageProvider]
    """Empty when none is configured."""


class ImageSource(Reader):
    """A place where a picture was found."""

    title: str
    """What the place is called."""
    author: str | None
    """Who made the picture; null when unknown."""
    url: str
    """http or https."""
    thumbnail: str | None
    """A small picture's address; null when there is none."""
    similarity: Annotated[Number | None, Field(ge=0.0, le=100.0)]
    """In percent; null where the engine tells none."""
    source_engine: Annotated[str, Field(min_length=1)]
    """Who found it, such as `saucenao` or `google_lens`."""


class ImageStyle(Reader):
    """A style for pictures."""

    name: Annotated[str, Field(min_length=1)]
    """What a request says."""
    description: str
    """What it looks like."""


class ImageStyles(Reader):
    """The styles for pictures."""

    styles: list[ImageStyle]
    """The styles."""


class ListDirectoryArguments(Reader):
    """List a folder."""

    directory: Annotated[str, Field(max_length=4096)] = "."
    """From a root, or absolute under one."""


class ListedFile(Reader):
    """A file."""

    name: str
    """Its name."""
    size: Annotated[Integer, Field(ge=0)]
    """In bytes."""
    modified: str
    """When it was changed: ISO 8601, UTC."""


class ListedFolder(Reader):
    """A folder."""

    name: str
    """Its name."""
    size: None
    """Always null."""
    modified: str
    """When it was changed: ISO 8601, UTC."""


class LogExcerpt(Reader):
    """The newest lines of a log file."""

    service: str
    """Whose log it is."""
    file: str
    """Its path, from its root."""
    total_lines: Annotated[Integer, Field(ge=0)]
    """Lines that fit, in the file's read part."""
    entries: list[str]
    """Oldest first."""


class LogsFound(Reader):
    """The logs found."""

    service_filter: str
    """As asked."""
    level_filter: str
    """As asked."""
    logs_found: Annotated[Integer, Field(ge=0)]
    """How many logs were found, listed or not."""
    data: list[LogExcerpt]
    """By path."""
    truncated: bool | MISSING = MISSING
    """Not all are listed, or read to the end."""


class McpDisabledAnswer(Reader):
    """Searches are closed."""

    success: Annotated[Literal[True], exactly(True)]
    status: McpStatus


class McpErrorAnswer(Reader):
    """Why there is no other answer, as the routes under `/api/mcp` say it."""

    success: Annotated[Literal[False], exactly(False)]
    error: Annotated[str, Field(min_length=1)]
    """What happened, for a person. No key, path or traceback."""


class McpFailure(Reader):
    """Why there is no result."""

    error: Annotated[str, Field(min_length=1)]
    """What happened, for a person."""


ListDirectoryResult = TypeAliasType("ListDirectoryResult", DirectoryListing | McpFailure)
"""What is in the folder."""


class McpFolderRequest(Reader):
    """A folder on the server."""

    folder_path: Annotated[str, Field(max_length=4096, min_length=1)]
    """Its path; absolute."""


class McpStatus(Reader):
    """What a user has opened to searches."""

    enabled: bool
    """Searches are allowed."""
    folders_count: Annotated[Integer, Field(ge=0)]
    """How many folders."""
    folders: list[str]
    """Absolute paths on the server."""
    server_url: str | None
    """Where an MCP server for them listens; null: nowhere."""


class McpStatusAnswer(Reader):
    """What a user has opened now."""

    success: bool
    """False: nothing was to be changed."""
    status: McpStatus


class MemoriesFound(Reader):
    """The memories with the words, the best first."""

    memories: list[Memory]
    """The memories."""
    count: Annotated[Integer | MISSING, Field(ge=0)] = MISSING
    """How many they are."""


class Memory(Reader):
    """Something to be remembered over conversations."""

    id: MemoryId
    folder_name: Annotated[str, Field(min_length=1)]
    """A readable name, made of title and id."""
    title: Annotated[str, Field(min_length=1)]
    """Its title."""
    content: Annotated[str, Field(min_length=1)]
    """What is remembered."""
    tags: list[str]
    """Words to find it by."""
    images: list[MemoryImage]
    """Its pictures."""
    created_at: Timestamp
    updated_at: Timestamp


class MemoryAnswer(Reader):
    """One memory."""

    memory: Memory


class MemoryDeleted(Reader):
    """It is forgotten."""

    success: Annotated[Literal[True], exactly(True)]
    message: Annotated[str, Field(min_length=1)]
    """What was done, for a person."""


MemoryId = TypeAliasType("MemoryId", Annotated[str, Field(pattern="^[A-Za-z0-9_-]{1,64}$")])
"""A memory's id."""


class MemoryImageBytes(Reader):
    """A picture by its bytes."""

    base64: Annotated[str, Field(max_length=2000000, min_length=1)]
    """The file's bytes in base64."""


class MemoryImageUrl(Reader):
    """A picture by its address."""

    url: Annotated[str, Field(max_length=4096, min_length=1)]
    """http, https or data URL."""


MemoryImage = TypeAliasType("MemoryImage", MemoryImageUrl | MemoryImageBytes)
"""A picture that belongs to it: its address or its bytes."""


class MemoryList(Reader):
    """A user's memories, the last changed first."""

    memories: list[Memory]
    """The memories."""


class MemoryQuery(Reader):
    """What to look for in the user's memories."""

    q: Annotated[str, Field(max_length=1000)] = ""
    """Words; empty finds all."""


class MemorySaved(Reader):
    """It is remembered."""

    success: Annotated[Literal[True], exactly(True)]
    memory: Memory
    message: Annotated[str, Field(min_length=1)]
    """What was done, for a person."""


class MemoryUpdated(Reader):
    """It is changed."""

    success: Annotated[Literal[True], exactly(True)]
    memory: Memory


class MessageAnswer(Reader):
    """It was done."""

    message: Annotated[str, Field(min_length=1)]
    """What was done, for a person."""


class MetadataEvent(Reader):
    """What is being done. The first event."""

    model: str
    """The model that is asked."""
    context: str
    """The tone, as asked."""
    deep_thinking: bool
    """The model is to think deeply."""
    thinking_mode: ThinkingMode
    """As it was asked for."""
    stream_backend: str
    """What serves the stream."""
    stream_contract_version: Literal["v2"]
    web_search: bool
    """Search tools were triggered."""
    streaming: Annotated[Literal[True], exactly(True)]
    timestamp: Timestamp
    conversation_id: ConversationId | MISSING = MISSING
    """The conversation that it belongs to."""
    request_id: RequestId | MISSING = MISSING


class MetadataMessage(Reader):
    """The event `metadata`: its name in the stream, and its data."""

    event: Literal["metadata"]
    data: MetadataEvent


class ModelEntry(Reader):
    """A model that can be asked."""

    name: Annotated[str, Field(min_length=1)]
    """For a person."""
    provider: str
    """Who serves it."""
    model_id: Annotated[str, Field(min_length=1)]
    """What its endpoint calls it."""
    context_window: Annotated[Integer | None, Field(ge=1)]
    """Tokens of question and answer together; null when unknown."""
    pricing: dict[str, Annotated[Number, Field(ge=0.0)]]
    """Prices by kind, in US dollars a million tokens; empty when unknown."""
    supports_streaming: bool
    """Its answers stream."""
    supports_deep_thinking: bool
    """The thinking modes work with it."""
    description: str
    """What it is."""
    icon: str
    """A picture or emoji; may be empty."""
    tier: str
    """A class such as free or local."""
    languages: list[str]
    """Codes of the languages it is good at; empty when unknown."""
    strengths: list[str]
    """What it is good at; empty when unknown."""


ModelCatalogue = TypeAliasType("ModelCatalogue", dict[str, ModelEntry])
"""The models that are configured, by what a request calls them."""


class NewConversationRequest(Reader):
    """The conversation to make."""

    model: Annotated[str | MISSING, Field(max_length=200)] = MISSING
    """The model that it is for."""
    title: Annotated[str, Field(max_length=255)] = "New Chat"
    """Its title."""


class NewMemoryImage(Reader):
    """A picture by its address or its bytes."""

    url: Annotated[str | MISSING, Field(max_length=4096, min_length=1)] = MISSING
    """http, https or data URL."""
    base64: Annotated[str | MISSING, Field(max_length=2000000, min_length=1)] = MISSING
    """The file's bytes in base64."""


class ProjectInfo(Reader):
    """The project."""

    project_name: str
    """Its name."""
    base_directory: str
    """Its absolute path."""
    services: list[str]
    """Folders under `services`, by name."""
    structure: ProjectStructure
    description: str
    """For a person."""


GetProjectInfoResult = TypeAliasType("GetProjectInfoResult", ProjectInfo | McpFailure)
"""The project."""


class ProjectStructure(Reader):
    """Which of the usual folders are there."""

    config: bool
    """There is a folder `config`."""
    services: bool
    """There is a folder `services`."""
    tests: bool
    """There is a folder `tests`."""
    docs: bool
    """There is a folder `docs`."""
    resources: bool
    """There is a folder `resources`."""
    local_data: bool
    """There is a folder `local_data`."""


class QuotaAnswer(Reader):
    """The image isn't made."""

    error: Annotated[str, Field(min_length=1)]
    """Why not."""
    quota_exceeded: Annotated[Literal[True], exactly(True)] | MISSING = MISSING
    """Present when the user's images of the day are used up."""


class ReadFileContentArguments(Reader):
    """Read a text file."""

    file_path: Annotated[str, Field(max_length=4096, min_length=1)]
    """From a root, or absolute under one."""
    max_lines: Annotated[Integer, Field(ge=1, le=10000)] = 500
    """At most so many lines."""


ReadFileContentResult = TypeAliasType("ReadFileContentResult", FileContent | McpFailure)
"""The file's beginning."""


RequestId = TypeAliasType("RequestId", Annotated[str, Field(pattern="^[0-9a-f]{12}$")])
"""Names the request in the server's log: the first twelve hexadecimal digits of a random UUID."""


class ReverseImageFailed(Reader):
    """Why nothing could be asked."""

    error: Annotated[str, Field(min_length=1)]
    """What happened, for a person."""


class ReverseImageFound(Reader):
    """What was found; the lists may be empty."""

    sources: list[ImageSource]
    """Places with the picture itself."""
    similar: list[ImageSource]
    """Places with similar pictures."""
    knowledge: str | None
    """What is known of what it shows; null when nothing is."""
    summary: Annotated[str, Field(min_length=1)]
    """For a person; always there."""


class ReverseImageSearchArguments(Reader):
    """Find where a picture comes from: SauceNAO, then SerpAPI's engines."""

    image_url: Annotated[str, Field(max_length=8000000, min_length=1)]
    """The picture: an http, https or data URL."""


ReverseImageSearchResult = TypeAliasType("ReverseImageSearchResult", ReverseImageFound | ReverseImageFailed)
"""Where the picture comes from."""


class SaucenaoSearchArguments(Reader):
    """Find where a drawn picture comes from, with SauceNAO."""

    image_url: Annotated[str, Field(max_length=8000000, min_length=1)]
    """The picture: an http, https or data URL."""


SaucenaoSearchResult = TypeAliasType("SaucenaoSearchResult", str)
"""Markdown for the model. Empty: nothing was found. `❌ …`: it failed; that isn't told to the model as data."""


class SaveMemoryRequest(Reader):
    """Something to remember."""

    title: Annotated[str, Field(max_length=255, min_length=1)]
    """Its title."""
    content: Annotated[str, Field(max_length=100000, min_length=1)]
    """What to remember."""
    tags: Annotated[
        list[Annotated[str, Field(max_length=100, min_length=1)]] | MISSING, Field(max_length=50)
    ] = MISSING
    """Words to find it by."""
    images: Annotated[list[NewMemoryImage] | MISSING, Field(max_length=10)] = MISSING
    """Its pictures, each with one of the two."""


class SearchFilesArguments(Reader):
    """Find files by their names."""

    query: Annotated[str, Field(max_length=200)]
    """Part of the name; any case. Empty: all."""
    file_type: Annotated[str, Field(max_length=20)] = "all"
    """`all`, or the end of file names, such as `py`."""
    max_results: Annotated[Integer, Field(ge=1, le=500)] = 50
    """At most so many are listed."""


SearchFilesResult = TypeAliasType("SearchFilesResult", FilesFound | McpFailure)
"""The files found."""


class SearchLogsArguments(Reader):
    """Read the newest lines of log files."""

    service: Annotated[str, Field(max_length=200)] = "all"
    """`all`, or part of the log's path."""
    level: Annotated[str, Field(max_length=50)] = "all"
    """`all`, or a word that the lines have, such as `error`."""
    last_n_lines: Annotated[Integer, Field(ge=1, le=1000)] = 50
    """At most so many lines a file."""


SearchLogsResult = TypeAliasType("SearchLogsResult", LogsFound | McpFailure)
"""The logs found."""


class SerpapiImageSearchArguments(Reader):
    """Search pictures with SerpAPI."""

    query: Annotated[str, Field(max_length=2000, min_length=1)]
    """What to look for."""


SerpapiImageSearchResult = TypeAliasType("SerpapiImageSearchResult", str)
"""Markdown for the model. Empty: nothing was found. `❌ …`: it failed; that isn't told to the model as data."""


class SerpapiReverseImageArguments(Reader):
    """Find a picture on the web with SerpAPI, engine after engine."""

    image_url: Annotated[str, Field(max_length=8000000, min_length=1)]
    """The picture: an http, https or data URL."""


SerpapiReverseImageResult = TypeAliasType("SerpapiReverseImageResult", str)
"""Markdown for the model. Empty: nothing was found. `❌ …`: it failed; that isn't told to the model as data."""


class SerpapiWebSearchArguments(Reader):
    """Search the web with SerpAPI."""

    query: Annotated[str, Field(max_length=2000, min_length=1)]
    """What to look for."""


SerpapiWebSearchResult = TypeAliasType("SerpapiWebSearchResult", str)
"""Markdown for the model. Empty: nothing was found. `❌ …`: it failed; that isn't told to the model as data."""


class SwitchAnswer(Reader):
    """The conversation to go on with."""

    message: Annotated[str, Field(min_length=1)]
    """What was done, for a person."""
    conversation: FullConversation


class ThinkingEndEvent(Reader):
    """The model has thought."""

    summary: str
    """For a person."""
    steps: list[str]
    """What was thought: its paragraphs, or one text a train of thought."""
    category: Annotated[str, Field(min_length=1)]
    """As in `thinking_start`."""
    duration_ms: Annotated[Integer, Field(ge=0)]
    """Since `thinking_start`, in milliseconds."""
    rounds: Annotated[Integer | MISSING, Field(ge=0)] = MISSING
    """How often the trains of thought were merged, in `multi-thinking` only."""
    trajectories: Annotated[Integer | MISSING, Field(ge=0)] = MISSING
    """How many trains of thought there were, in `multi-thinking` only."""
    request_id: RequestId | MISSING = MISSING


class ThinkingEndMessage(Reader):
    """The event `thinking_end`: its name in the stream, and its data."""

    event: Literal["thinking_end"]
    data: ThinkingEndEvent


class ThinkingEvent(Reader):
    """A piece of what the model thinks; all of them, one after the other, are its text byte for byte."""

    step: str
    """The piece."""
    step_index: Annotated[Integer, Field(ge=0)]
    """Counts from 0 without gaps over the turn."""
    category: Annotated[str, Field(min_length=1)]
    """As in `thinking_start`."""
    is_reasoning_chunk: bool
    """It is the model's own reasoning; false: the text of a train of thought that we asked for."""
    trajectory_id: Annotated[str | MISSING, Field(min_length=1)] = MISSING
    """Which train of thought, in `multi-thinking` only."""
    request_id: RequestId | MISSING = MISSING


class ThinkingMessage(Reader):
    """The event `thinking`: its name in the stream, and its data."""

    event: Literal["thinking"]
    data: ThinkingEvent


ThinkingMode = TypeAliasType("ThinkingMode", Literal["instant", "think", "deep-think", "multi-thinking", "auto"])
"""How much the model is to think before it answers. `multi-thinking`: several trains of thought side by side, then one answer. `auto`: as the message seems to need."""


class ThinkingStartEvent(Reader):
    """The model begins to think."""

    category: Annotated[str, Field(min_length=1)]
    """What the message seems to be about."""
    timestamp: Timestamp
    mode: Annotated[str | MISSING, Field(min_length=1)] = MISSING
    """`multi-thinking`, in that mode only."""
    label: Annotated[str | MISSING, Field(min_length=1)] = MISSING
    """The mode for a person, in that mode only."""
    request_id: RequestId | MISSING = MISSING


class ThinkingStartMessage(Reader):
    """The event `thinking_start`: its name in the stream, and its data."""

    event: Literal["thinking_start"]
    data: ThinkingStartEvent


Event = TypeAliasType(
    "Event",
    Annotated[
        MetadataMessage | ThinkingStartMessage | ThinkingMessage | ThinkingEndMessage | ChunkMessage | CompleteMessage | ErrorMessage,
        Field(discriminator="event"),
    ],
)
"""Any event of the surface."""


Timestamp = TypeAliasType(
    "Timestamp",
    Annotated[
        str,
        Field(pattern="^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]{1,6})?Z$"),
    ],
)
"""A point in time: UTC, ISO 8601, with `Z`."""


class UpdateMemoryRequest(Reader):
    """What changes; what is absent stays."""

    title: Annotated[str | MISSING, Field(max_length=255, min_length=1)] = MISSING
    """Its title."""
    content: Annotated[str | MISSING, Field(max_length=100000, min_length=1)] = MISSING
    """What to remember."""
    tags: Annotated[
        list[Annotated[str, Field(max_length=100, min_length=1)]] | MISSING, Field(max_length=50)
    ] = MISSING
    """Words to find it by."""
