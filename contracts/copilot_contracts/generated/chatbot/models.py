# Generated from chatbot 1.0.0 (schemas 7a5b584e8da7abed) by copilot_codegen 36495cc3, datamodel-code-generator 0.89.0; do not edit (body 874dad7d8d4be52e)
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
    """Always true."""
    response: str
    """The whole answer."""
    model: str
    """The model that answered, by its key in `GET /api/models`."""
    context: str
    """The tone, as the request asked for it; `casual` where it asked for none."""
    deep_thinking: bool
    """The limits for deep thinking were used."""
    thinking_process: str
    """What the model thought, byte for byte; empty when it told nothing."""
    tools: list[str]
    """The search tools that were asked, by name, in order."""
    timestamp: Timestamp
    """When the turn ended."""


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
    conversation_id: Annotated[str | None | MISSING, Field(pattern="^[A-Za-z0-9_-]{0,64}$")] = (
        MISSING
    )
    """The conversation to go on with; absent, null or empty begins one."""
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
    """A piece of the answer. The pieces, in order, are the answer byte for byte. Never inside a block of thinking."""

    content: str
    """The piece: append it to the answer so far."""
    chunk_index: Annotated[Integer, Field(ge=0)]
    """Counts the `chunk` events from 0 without gaps over the turn."""
    request_id: RequestId | MISSING = MISSING


class ChunkMessage(Reader):
    """The event `chunk`: its name in the stream, and its data."""

    event: Literal["chunk"]
    data: ChunkEvent


class CompleteEvent(Reader):
    """The answer is complete. The last event of a stream that went well; made by `build_complete_event_payload`."""

    response: str
    """The whole answer: the text of all `chunk` events, in order."""
    model: str
    """The same as in `metadata`."""
    context: str
    """The same as in `metadata`."""
    deep_thinking: bool
    """The same as in `metadata`."""
    thinking_mode: ThinkingMode
    """The same as in `metadata`."""
    total_chunks: Annotated[Integer, Field(ge=0)]
    """How many `chunk` events the turn had."""
    thinking_summary: str
    """How much was thought in how long, for a person; empty when nothing was."""
    thinking_steps: list[str]
    """The steps of all `thinking_end` events, in order; empty when nothing was thought."""
    thinking_duration_ms: Annotated[Integer, Field(ge=0)]
    """The time of all blocks of thinking together, in milliseconds."""
    timestamp: Timestamp
    """When the turn ended."""
    elapsed_time: Annotated[Number, Field(ge=0.0)]
    """From the request to this event, in seconds, rounded to three decimals."""
    tokens: Annotated[Integer, Field(ge=0)]
    """Tokens of the answer, as the model told them; where it told none, an estimate from the text."""
    max_tokens: Annotated[Integer, Field(ge=0)]
    """The most tokens that the answer might have had, as the model was told."""
    request_id: RequestId
    """Names the request: the same in every event of the stream that has it."""
    time_to_first_chunk: Annotated[Number | MISSING, Field(ge=0.0)] = MISSING
    """From the request to the first `chunk`, in seconds; absent when there was none."""


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
    """Whose it is, as the server's login names them."""
    title: Annotated[str, Field(min_length=1)]
    """Its title: the user's, or one made from the first question; `New Chat` before."""
    model: str
    """The model that it was last asked with, or made for; empty while that is unknown."""
    created_at: Timestamp
    """When it was made."""
    updated_at: Timestamp
    """When it last changed: a message, its title, its archiving."""
    message_count: Annotated[Integer, Field(ge=0)]
    """How many messages are stored."""
    total_tokens: Annotated[Integer, Field(ge=0)]
    """Tokens of all model calls, questions and answers together, as far as the models told them."""
    is_archived: bool
    """The user has put it away; it is still listed."""
    metadata: dict[str, Any]
    """What else the server keeps with it."""


ConversationId = TypeAliasType(
    "ConversationId", Annotated[str, Field(pattern="^[A-Za-z0-9_-]{1,64}$")]
)
"""A conversation's id."""


class ConversationList(Reader):
    """A user's conversations."""

    conversations: list[Conversation]
    """All of the user's conversations, the last changed first, archived ones too."""
    count: Annotated[Integer, Field(ge=0)]
    """How many `conversations` there are."""


class ConversationMessage(Reader):
    """One message."""

    field_id: Annotated[str, Field(alias="_id", min_length=1)]
    """Its id; the same at every reading."""
    role: Literal["user", "assistant"]
    """Who said it."""
    content: str
    """Its text; what the model thought isn't part of it."""
    created_at: Timestamp
    """When it was stored."""
    metadata: dict[str, Any]
    """What else is known of it: `interrupted` is true where the model was stopped before it had finished."""


class DatabaseHealth(Reader):
    """Whether the databases can be used."""

    ok: bool
    """All of them can."""
    timestamp: Timestamp
    """When they were asked."""
    conversations: DatabaseState
    """What holds conversations and their messages."""
    memory: DatabaseState
    """What holds memories and settings."""


class DatabaseState(Reader):
    """Whether something that the server needs can be used."""

    ok: bool
    """It was asked just now, and answered."""
    error: Annotated[str | MISSING, Field(min_length=1)] = MISSING
    """What is wrong, for a person; absent where it is ok. No path."""


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
    """What happened, as a sentence for a person. Never the text of an exception, a key or a path."""
    request_id: RequestId | MISSING = MISSING


DatabaseHealthFailed = TypeAliasType("DatabaseHealthFailed", DatabaseHealth | ErrorAnswer)
"""Which database can't be used."""


class ErrorEvent(Reader):
    """The turn failed, or was stopped. The last event of its stream."""

    error: Annotated[str, Field(min_length=1)]
    """What happened, as a sentence for a person. Never the text of an exception, a key or a path."""
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
    """Whose it is, as the server's login names them."""
    title: Annotated[str, Field(min_length=1)]
    """Its title: the user's, or one made from the first question; `New Chat` before."""
    model: str
    """The model that it was last asked with, or made for; empty while that is unknown."""
    created_at: Timestamp
    """When it was made."""
    updated_at: Timestamp
    """When it last changed: a message, its title, its archiving."""
    message_count: Annotated[Integer, Field(ge=0)]
    """How many messages are stored."""
    total_tokens: Annotated[Integer, Field(ge=0)]
    """Tokens of all model calls, questions and answers together, as far as the models told them."""
    is_archived: bool
    """The user has put it away; it is still listed."""
    metadata: dict[str, Any]
    """What else the server keeps with it."""
    messages: list[ConversationMessage]
    """The stored messages of user and model, oldest first, without tool calls."""


class GenerateImageAnswer(Reader):
    """The pictures made."""

    success: Annotated[Literal[True], exactly(True)]
    """Always true."""
    image_id: Annotated[str, Field(min_length=1)]
    """The id of the first of `images`."""
    images: Annotated[list[GeneratedImage], Field(min_length=1)]
    """The pictures, at least one; an endpoint may make fewer than were asked for."""
    provider: str
    """The provider that made them, by its name in `GET /api/image-gen/providers`."""
    model: str
    """What the endpoint calls its model."""
    prompt: str
    """The prompt, as the request said it."""
    timestamp: Timestamp
    """When they were made."""
    prompt_used: str | MISSING = MISSING
    """What the endpoint was told, the style's words included."""
    original_prompt: str | MISSING = MISSING
    """The same as `prompt`."""
    latency_ms: Annotated[Integer | MISSING, Field(ge=0)] = MISSING
    """How long the endpoint took, in milliseconds."""
    style: str | MISSING = MISSING
    """The request's style; absent where it had none."""


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
    """Where it can be had: an http, https or data URL."""
    image_id: Annotated[str, Field(min_length=1)]
    """Its id, made by this server."""


class GetProjectInfoArguments(Reader):
    """Tell what project this is."""


class GithubSearchArguments(Reader):
    """Search repositories on GitHub."""

    query: Annotated[str, Field(max_length=2000, min_length=1)]
    """What to look for, as a person would type it."""


GithubSearchResult = TypeAliasType("GithubSearchResult", str)
"""Answers of GitHub's repository search, as Markdown for the model. Empty: nothing was found. Beginning with `❌`: why it failed, for a person; neither of the two is added to the message."""


class GoogleSearchArguments(Reader):
    """Search the web with Google."""

    query: Annotated[str, Field(max_length=2000, min_length=1)]
    """What to look for, as a person would type it."""


GoogleSearchResult = TypeAliasType("GoogleSearchResult", str)
"""Answers of Google's Custom Search JSON API, as Markdown for the model. Empty: nothing was found. Beginning with `❌`: why it failed, for a person; neither of the two is added to the message."""


class GrepAnswer(Reader):
    """The lines that were found."""

    success: Annotated[Literal[True], exactly(True)]
    """Always true."""
    pattern: str
    """The pattern, as the request said it."""
    results: list[GrepMatch]
    """The lines, by file and line number, at most `max_results`."""
    count: Annotated[Integer, Field(ge=0)]
    """How many `results` there are."""
    truncated: bool | MISSING = MISSING
    """There may be more: a bound of results, files, bytes or time was reached."""


class GrepMatch(Reader):
    """A line that was found."""

    file: Annotated[str, Field(min_length=1)]
    """The file's absolute path."""
    relative: Annotated[str, Field(min_length=1)]
    """The same path, from the user's folder that it is in."""
    line: Annotated[Integer, Field(ge=1)]
    """Counted from 1."""
    content: str
    """The line without its line end, cut where it is long."""


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
    """Its name, for a request's `provider`."""
    model: Annotated[str, Field(min_length=1)]
    """What its endpoint calls its model."""


class ImageProviders(Reader):
    """Who can make pictures."""

    providers: list[ImageProvider]
    """Empty when none is configured."""


class ImageSource(Reader):
    """A place where a picture was found."""

    title: str
    """The page's or the work's title; may be empty."""
    author: str | None
    """Who made the picture, as the engine tells; null when it doesn't."""
    url: str
    """The page, http or https."""
    thumbnail: str | None
    """The address of a small picture, http or https; null when there is none."""
    similarity: Annotated[Number | None, Field(ge=0.0, le=100.0)]
    """How alike the engine calls them, in percent; null when it tells nothing."""
    source_engine: Annotated[str, Field(min_length=1)]
    """The engine that found it, such as `saucenao` or `google_lens`."""


class ImageStyle(Reader):
    """A style for pictures."""

    name: Annotated[str, Field(min_length=1)]
    """Its name, for a request's `style`."""
    description: str
    """What is added to the prompt: what pictures of this style look like."""


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
    """Always true."""
    status: McpStatus


class McpErrorAnswer(Reader):
    """Why there is no other answer, as the routes under `/api/mcp` say it."""

    success: Annotated[Literal[False], exactly(False)]
    """Always false."""
    error: Annotated[str, Field(min_length=1)]
    """What happened, as a sentence for a person. Never the text of an exception, a key or a path."""
    request_id: RequestId | MISSING = MISSING


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
    """Which folders a user has opened to searches."""

    enabled: bool
    """Searches in the folders are allowed."""
    folders_count: Annotated[Integer, Field(ge=0)]
    """How many folders there are, enabled or not."""
    folders: list[str]
    """The user's folders: absolute paths on the server."""
    server_url: str | None
    """Where an MCP server for these folders listens; null when none does."""


class McpStatusAnswer(Reader):
    """What a user has opened now."""

    success: bool
    """False: nothing was to be changed."""
    status: McpStatus


class MemoriesFound(Reader):
    """The user's memories that were found."""

    memories: list[Memory]
    """The memories with all the words, the best first."""
    count: Annotated[Integer | MISSING, Field(ge=0)] = MISSING
    """How many `memories` there are."""


class Memory(Reader):
    """Something to be remembered over conversations."""

    id: MemoryId
    folder_name: Annotated[str, Field(min_length=1)]
    """A readable name, made from title and id when it was saved; it stays."""
    title: Annotated[str, Field(min_length=1)]
    """Its title, as the user gave it."""
    content: Annotated[str, Field(min_length=1)]
    """The text to remember, as the user gave it."""
    tags: list[str]
    """The user's words to find it by."""
    images: list[MemoryImage]
    """Its pictures, as they were sent."""
    created_at: Timestamp
    """When it was saved."""
    updated_at: Timestamp
    """When it was last changed."""


class MemoryAnswer(Reader):
    """One memory."""

    memory: Memory


class MemoryDeleted(Reader):
    """It is forgotten."""

    success: Annotated[Literal[True], exactly(True)]
    """Always true."""
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
    """A user's memories."""

    memories: list[Memory]
    """All of the user's memories, the last changed first."""


class MemoryQuery(Reader):
    """What to look for in the user's memories."""

    q: Annotated[str, Field(max_length=1000)] = ""
    """Words; empty finds all."""


class MemorySaved(Reader):
    """It is remembered."""

    success: Annotated[Literal[True], exactly(True)]
    """Always true."""
    memory: Memory
    message: Annotated[str, Field(min_length=1)]
    """What was done, for a person."""


class MemoryUpdated(Reader):
    """It is changed."""

    success: Annotated[Literal[True], exactly(True)]
    """Always true."""
    memory: Memory


class MessageAnswer(Reader):
    """It was done."""

    message: Annotated[str, Field(min_length=1)]
    """What was done, for a person."""


class MetadataEvent(Reader):
    """What is going to be done: model, tone, thinking. The first event of a stream."""

    model: str
    """The model that answers, by its key in `GET /api/models`: the request's, or the configured one where the request named none that is known."""
    context: str
    """The tone, as the request asked for it; `casual` where it asked for none."""
    deep_thinking: bool
    """The limits for deep thinking are used: the request said so, or its thinking mode does."""
    thinking_mode: ThinkingMode
    """As the request asked for it: `auto` stays `auto`. Without one: `deep-think` with `deep_thinking`, otherwise `instant`."""
    stream_backend: str
    """The server's framework: the document's stack says `flask`, this one `starlette`."""
    stream_contract_version: Literal["v2"]
    """The version of this stream's rules."""
    web_search: bool
    """A search was triggered by what the message says."""
    streaming: Annotated[Literal[True], exactly(True)]
    """Always true."""
    timestamp: Timestamp
    """When the turn began."""
    conversation_id: ConversationId | MISSING = MISSING
    """The conversation that the turn belongs to: the request's, or the one that was made for it."""
    request_id: RequestId | MISSING = MISSING


class MetadataMessage(Reader):
    """The event `metadata`: its name in the stream, and its data."""

    event: Literal["metadata"]
    data: MetadataEvent


class ModelEntry(Reader):
    """A model that can be asked, as the server is configured."""

    name: Annotated[str, Field(min_length=1)]
    """Its name for a person."""
    provider: str
    """Who serves it."""
    model_id: Annotated[str, Field(min_length=1)]
    """What its endpoint calls it."""
    context_window: Annotated[Integer | None, Field(ge=1)]
    """Tokens of question and answer together, as configured; null when that is unknown."""
    pricing: dict[str, Annotated[Number, Field(ge=0.0)]]
    """US dollars for a million tokens, by kind such as `input` and `output`; empty when unknown."""
    supports_streaming: bool
    """Its answers come piece by piece."""
    supports_deep_thinking: bool
    """All thinking modes can be asked of it."""
    description: str
    """What it is, for a person."""
    icon: str
    """A picture's address or an emoji; empty when there is none."""
    tier: str
    """A class for people to choose by, such as `local`."""
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
    """Why no picture is made."""

    error: Annotated[str, Field(min_length=1)]
    """What happened, as a sentence for a person. Never the text of an exception, a key or a path."""
    quota_exceeded: Annotated[Literal[True], exactly(True)] | MISSING = MISSING
    """The user's pictures of the day are used up; absent for other reasons."""
    request_id: RequestId | MISSING = MISSING


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
    """Why, for a person; the texts of the other search tools."""


class ReverseImageFound(Reader):
    """What was found; the lists may be empty."""

    sources: list[ImageSource]
    """Pages with the picture itself, the most alike first; empty when there are none."""
    similar: list[ImageSource]
    """Pages with pictures like it, the most alike first; empty when there are none."""
    knowledge: str | None
    """The text of an engine's knowledge panel on what it shows; null when there is none."""
    summary: Annotated[str, Field(min_length=1)]
    """What was found, in a sentence for a person; `no results` when that is nothing."""


class ReverseImageSearchArguments(Reader):
    """Find where a picture comes from: SauceNAO, then SerpAPI's engines."""

    image_url: Annotated[str, Field(max_length=8000000, min_length=1)]
    """The picture: an http, https or data URL."""


ReverseImageSearchResult = TypeAliasType("ReverseImageSearchResult", ReverseImageFound | ReverseImageFailed)
"""Where a picture comes from: what SauceNAO and SerpAPI's engines found, merged; or why none could be asked."""


class SaucenaoSearchArguments(Reader):
    """Find where a drawn picture comes from, with SauceNAO."""

    image_url: Annotated[str, Field(max_length=8000000, min_length=1)]
    """The picture: an http, https or data URL."""


SaucenaoSearchResult = TypeAliasType("SaucenaoSearchResult", str)
"""Answers of SauceNAO, as Markdown for the model. Empty: nothing was found. Beginning with `❌`: why it failed, for a person; neither of the two is added to the message."""


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
    """What to look for, as a person would type it."""


SerpapiImageSearchResult = TypeAliasType("SerpapiImageSearchResult", str)
"""Answers of SerpAPI's image engine, as Markdown for the model. Empty: nothing was found. Beginning with `❌`: why it failed, for a person; neither of the two is added to the message."""


class SerpapiReverseImageArguments(Reader):
    """Find a picture on the web with SerpAPI, engine after engine."""

    image_url: Annotated[str, Field(max_length=8000000, min_length=1)]
    """The picture: an http, https or data URL."""


SerpapiReverseImageResult = TypeAliasType("SerpapiReverseImageResult", str)
"""Answers of SerpAPI's reverse image engines, the first that found something, as Markdown for the model. Empty: nothing was found. Beginning with `❌`: why it failed, for a person; neither of the two is added to the message."""


class SerpapiWebSearchArguments(Reader):
    """Search the web with SerpAPI."""

    query: Annotated[str, Field(max_length=2000, min_length=1)]
    """What to look for, as a person would type it."""


SerpapiWebSearchResult = TypeAliasType("SerpapiWebSearchResult", str)
"""Answers of SerpAPI's web engines, as Markdown for the model. Empty: nothing was found. Beginning with `❌`: why it failed, for a person; neither of the two is added to the message."""


class SwitchAnswer(Reader):
    """The conversation to go on with."""

    message: Annotated[str, Field(min_length=1)]
    """What was done, for a person."""
    conversation: FullConversation


class ThinkingEndEvent(Reader):
    """The model has thought: what, and for how long."""

    summary: str
    """How much was thought in how long, for a person."""
    steps: list[str]
    """What was thought, cut at its paragraphs; in `multi-thinking` one text for each train of thought. Bounded: long thinking is cut here, not in `thinking`."""
    category: Annotated[str, Field(min_length=1)]
    """The same as in the block's `thinking_start`."""
    duration_ms: Annotated[Integer, Field(ge=0)]
    """Since the block's `thinking_start`, in milliseconds."""
    rounds: Annotated[Integer | MISSING, Field(ge=0)] = MISSING
    """How often the trains of thought were merged, in `multi-thinking`; absent in all other modes."""
    trajectories: Annotated[Integer | MISSING, Field(ge=0)] = MISSING
    """How many trains of thought came to an end, in `multi-thinking`; absent in all other modes."""
    request_id: RequestId | MISSING = MISSING


class ThinkingEndMessage(Reader):
    """The event `thinking_end`: its name in the stream, and its data."""

    event: Literal["thinking_end"]
    data: ThinkingEndEvent


class ThinkingEvent(Reader):
    """A piece of what the model thinks. The pieces of one train of thought, in order, are its text byte for byte."""

    step: str
    """The piece: append it to what its trajectory has thought so far."""
    step_index: Annotated[Integer, Field(ge=0)]
    """Counts the `thinking` events from 0 without gaps over the turn."""
    category: Annotated[str, Field(min_length=1)]
    """The same as in the block's `thinking_start`."""
    is_reasoning_chunk: bool
    """It is the model's own reasoning; false: the text of a train of thought that it was asked for."""
    trajectory_id: Annotated[str | MISSING, Field(min_length=1)] = MISSING
    """Names the train of thought, in `multi-thinking`; absent in all other modes."""
    request_id: RequestId | MISSING = MISSING


class ThinkingMessage(Reader):
    """The event `thinking`: its name in the stream, and its data."""

    event: Literal["thinking"]
    data: ThinkingEvent


ThinkingMode = TypeAliasType("ThinkingMode", Literal["instant", "think", "deep-think", "multi-thinking", "auto"])
"""How much the model is to think before it answers. `multi-thinking`: several trains of thought side by side, then one answer. `auto`: as the message seems to need."""


class ThinkingStartEvent(Reader):
    """The model begins to think. A turn may think several times, never twice at once."""

    category: Annotated[str, Field(min_length=1)]
    """What the message seems to be about, in one word, as `detect_category` finds it."""
    timestamp: Timestamp
    """When the thinking began."""
    mode: Annotated[str | MISSING, Field(min_length=1)] = MISSING
    """`multi-thinking`; absent in all other modes."""
    label: Annotated[str | MISSING, Field(min_length=1)] = MISSING
    """The mode's name for a person, `4-Agents Reasoning`; absent in all other modes."""
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
