# Generated from chatbot 1.0.0 (schemas 24361d680b5ff452) by copilot_codegen 36495cc3, datamodel-code-generator 0.89.0; do not edit (body a76706a18e8b6327)
from __future__ import annotations

from typing import Any, Literal, NotRequired, TypeAlias, TypedDict


class CalculateArguments(TypedDict):
    """Calculate with numbers: + - * / // % **, brackets, and functions such as sqrt, sin, log; pi and e."""

    expression: str
    """Arithmetic."""


class CalculateFailed(TypedDict):
    """Why there is no result."""

    expression: str
    """As asked."""
    error: str
    """What is wrong, for a person."""


class Calculated(TypedDict):
    """The result."""

    expression: str
    """As asked."""
    result: float | ComplexNumber
    """A finite number."""
    type: Literal["int", "float", "complex"]
    """The result's: whole numbers beyond 2**53 are told as `float`."""


CalculateResult: TypeAlias = Calculated | CalculateFailed
"""The result."""


class ChatAnswer(TypedDict):
    """The whole answer of a turn."""

    success: Literal[True]
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


class ChatPostRequest(TypedDict):
    """The body of `POST /chat`: JSON, or a form whose lists are JSON strings."""

    message: str
    """What the user says. Empty, or only spaces, is answered 400."""
    model: NotRequired[str]
    """A key of `GET /api/models`. Another name is answered by the configured model, which the answer names."""
    context: NotRequired[str]
    """The tone: `casual`, or a word for another."""
    deep_thinking: NotRequired[bool]
    """Without a `thinking_mode`: deep-think."""
    thinking_mode: NotRequired[ThinkingMode]
    history: NotRequired[list[HistoryItem]]
    """Earlier messages, oldest first; the newest 30 are used, and only where the server has stored none of the conversation."""
    memory_ids: NotRequired[list[MemoryId]]
    """Memories that the model is to know; unknown ones are left out."""
    mcp_selected_files: NotRequired[list[str]]
    """Files in the user's open folders that the model is to read."""
    language: NotRequired[str]
    """The language to answer in, as a code such as `vi`."""
    custom_prompt: NotRequired[str]
    """Instructions of the user, beside our own."""
    tools: NotRequired[list[str]]
    """Names of tools to ask before the model answers: the contract's, or `google-search`, `github`, `saucenao`, `serpapi-…` as the frontend writes them."""
    agent_config: NotRequired[dict[str, Any]]
    """Accepted for the client's sake; not used."""


class ChatStreamRequest(TypedDict):
    """The body of `POST /chat/stream`, as the JavaScript client sends it."""

    message: str
    """What the user says. Empty, or only spaces, is answered 400."""
    model: NotRequired[str]
    """A key of `GET /api/models`. Another name is answered by the configured model, which the answer names."""
    context: NotRequired[str]
    """The tone: `casual`, or a word for another."""
    deep_thinking: NotRequired[bool]
    """Without a `thinking_mode`: deep-think."""
    thinking_mode: NotRequired[ThinkingMode]
    history: NotRequired[list[HistoryItem]]
    """Earlier messages, oldest first; the newest 30 are used, and only where the server has stored none of the conversation."""
    memory_ids: NotRequired[list[MemoryId]]
    """Memories that the model is to know; unknown ones are left out."""
    mcp_selected_files: NotRequired[list[str]]
    """Files in the user's open folders that the model is to read."""
    language: NotRequired[str]
    """The language to answer in, as a code such as `vi`."""
    custom_prompt: NotRequired[str]
    """Instructions of the user, beside our own."""
    tools: NotRequired[list[str]]
    """Names of tools to ask before the model answers: the contract's, or `google-search`, `github`, `saucenao`, `serpapi-…` as the frontend writes them."""
    skill: NotRequired[str]
    """Accepted for the client's sake; this server has no skills."""
    skill_auto_route: NotRequired[Literal["true", "false"]]
    """As `skill`. A string, not a boolean."""
    conversation_id: NotRequired[str | None]
    """The conversation to go on with; absent, null or empty begins one."""
    generated_images: NotRequired[list[Any]]
    """Accepted for the client's sake; not used."""
    images: NotRequired[list[str]]
    """Pictures that the model is to see, as data URLs."""
    temperature: NotRequired[float]
    """Overrides the configured one."""
    temperature_deep: NotRequired[float]
    """The same, where the model is to think deeply."""
    max_tokens_deep: NotRequired[int]
    """The most tokens of an answer, where the model is to think deeply."""
    top_p: NotRequired[float]
    """Nucleus sampling."""


class ChunkEvent(TypedDict):
    """A piece of the answer."""

    content: str
    """The piece; append it."""
    chunk_index: int
    """Counts from 0 without gaps over the turn."""
    request_id: NotRequired[RequestId]


class ChunkMessage(TypedDict):
    """The event `chunk`: its name in the stream, and its data."""

    event: Literal["chunk"]
    data: ChunkEvent


class CompleteEvent(TypedDict):
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
    total_chunks: int
    """How many `chunk` events there were."""
    thinking_summary: str
    """For a person; empty without thinking."""
    thinking_steps: list[str]
    """The steps of all `thinking_end` events."""
    thinking_duration_ms: int
    """Of all thinking together, in milliseconds."""
    timestamp: Timestamp
    elapsed_time: float
    """Since the request, in seconds with three decimals."""
    tokens: int
    """Tokens of the answer, as the model told; where it didn't, an estimate from its text."""
    max_tokens: int
    """The most that it might have had."""
    request_id: RequestId
    time_to_first_chunk: NotRequired[float]
    """Seconds until the first `chunk`; absent when there was none."""


class CompleteMessage(TypedDict):
    """The event `complete`: its name in the stream, and its data."""

    event: Literal["complete"]
    data: CompleteEvent


class ComplexNumber(TypedDict):
    """A complex number."""

    re: float
    """The real part."""
    im: float
    """The imaginary part."""


class Conversation(TypedDict):
    """A conversation without its messages."""

    field_id: ConversationId
    user_id: str
    """Whose it is."""
    title: str
    """Its title."""
    model: str
    """The model that it was last asked with, or made for; empty while that is unknown."""
    created_at: Timestamp
    updated_at: Timestamp
    message_count: int
    """Messages stored."""
    total_tokens: int
    """Tokens of all model calls, as far as they were told."""
    is_archived: bool
    """Put away: still there, listed as archived."""
    metadata: dict[str, Any]
    """What else is known of it."""


ConversationId: TypeAlias = str
"""A conversation's id."""


class ConversationList(TypedDict):
    """A user's conversations, the last changed first."""

    conversations: list[Conversation]
    """The conversations."""
    count: int
    """How many they are."""


class ConversationMessage(TypedDict):
    """One message."""

    field_id: str
    """Its id; the same at every reading."""
    role: Literal["user", "assistant"]
    """Who said it."""
    content: str
    """What was said."""
    created_at: Timestamp
    metadata: dict[str, Any]
    """What else is known of it, such as `interrupted`."""


class DatabaseHealth(TypedDict):
    """Whether the databases can be used."""

    ok: bool
    """All of them can."""
    timestamp: Timestamp
    conversations: DatabaseState
    memory: DatabaseState


class DatabaseState(TypedDict):
    """One database, asked just now."""

    ok: bool
    """It was read and written."""
    error: NotRequired[str]
    """What is wrong, where it isn't ok."""


class DirectoryListing(TypedDict):
    """What is in the folder."""

    directory: str
    """As asked."""
    total_items: int
    """Folders and files, listed or not."""
    folders: list[ListedFolder]
    """By name."""
    files: list[ListedFile]
    """By name."""
    truncated: NotRequired[bool]
    """Not all are listed."""


class ErrorAnswer(TypedDict):
    """Why there is no other answer."""

    error: str
    """What happened, for a person. No key, path or traceback."""


DatabaseHealthFailed: TypeAlias = DatabaseHealth | ErrorAnswer
"""Which database can't be used."""


class ErrorEvent(TypedDict):
    """The turn failed or was stopped. The last event."""

    error: str
    """What happened, for a person. No key, path or traceback."""
    request_id: NotRequired[RequestId]


class ErrorMessage(TypedDict):
    """The event `error`: its name in the stream, and its data."""

    event: Literal["error"]
    data: ErrorEvent


class FileContent(TypedDict):
    """The file's beginning."""

    file_path: str
    """As asked."""
    total_lines: int
    """Lines of the file, as far as it was read."""
    lines_read: int
    """Lines of `content`."""
    truncated: bool
    """There is more than `content`."""
    content: str
    """The text; bytes that aren't UTF-8 are replaced."""


class FilesFound(TypedDict):
    """The files found."""

    query: str
    """As asked."""
    file_type: str
    """As asked."""
    total_found: int
    """How many were found, listed or not."""
    results: list[FoundFile]
    """By path."""
    returned: NotRequired[int]
    """How many are listed."""
    truncated: NotRequired[bool]
    """There may be more: a bound of files, depth or time was reached."""


class FoundFile(TypedDict):
    """A file."""

    filename: str
    """Its name."""
    path: str
    """From its root."""
    full_path: str
    """Its absolute path."""
    size: int
    """In bytes."""


class FullConversation(TypedDict):
    """A conversation with its messages."""

    field_id: ConversationId
    user_id: str
    """Whose it is."""
    title: str
    """Its title."""
    model: str
    """The model that it was last asked with, or made for; empty while that is unknown."""
    created_at: Timestamp
    updated_at: Timestamp
    message_count: int
    """Messages stored."""
    total_tokens: int
    """Tokens of all model calls, as far as they were told."""
    is_archived: bool
    """Put away: still there, listed as archived."""
    metadata: dict[str, Any]
    """What else is known of it."""
    messages: list[ConversationMessage]
    """Oldest first."""


class GenerateImageAnswer(TypedDict):
    """The pictures made."""

    success: Literal[True]
    image_id: str
    """The first picture's."""
    images: list[GeneratedImage]
    """At least one."""
    provider: str
    """Who made them."""
    model: str
    """With which model."""
    prompt: str
    """As asked."""
    timestamp: Timestamp
    prompt_used: NotRequired[str]
    """What the endpoint was told, style included."""
    original_prompt: NotRequired[str]
    """As asked."""
    latency_ms: NotRequired[int]
    """How long the endpoint took, in milliseconds."""
    style: NotRequired[str]
    """As asked."""


class GenerateImageRequest(TypedDict):
    """The picture to make."""

    prompt: str
    """What it shows. Empty is answered 400."""
    conversation_id: NotRequired[str | None]
    """Where it belongs; not used."""
    quality: NotRequired[str]
    """Handed to the endpoint."""
    style: NotRequired[str]
    """A name of `GET …/styles`."""
    width: NotRequired[int]
    """In pixels."""
    height: NotRequired[int]
    """In pixels."""
    steps: NotRequired[int]
    """Accepted; the endpoint knows none."""
    guidance: NotRequired[float]
    """Accepted; the endpoint knows none."""
    seed: NotRequired[int]
    """Accepted; the endpoint knows none."""
    num_images: NotRequired[int]
    """How many."""
    provider: NotRequired[str]
    """A name of `GET …/providers`; others are answered 400."""
    model: NotRequired[str]
    """Its model; others are answered 400."""
    enhance: NotRequired[bool]
    """Accepted; the prompt is used as it is."""


class GeneratedImage(TypedDict):
    """One picture."""

    url: str
    """http, https or data URL."""
    image_id: str
    """Its id."""


class GetProjectInfoArguments(TypedDict):
    """Tell what project this is."""


class GithubSearchArguments(TypedDict):
    """Search repositories on GitHub."""

    query: str
    """What to look for."""


GithubSearchResult: TypeAlias = str
"""Markdown for the model. Empty: nothing was found. `❌ …`: it failed; that isn't told to the model as data."""


class GoogleSearchArguments(TypedDict):
    """Search the web with Google."""

    query: str
    """What to look for."""


GoogleSearchResult: TypeAlias = str
"""Markdown for the model. Empty: nothing was found. `❌ …`: it failed; that isn't told to the model as data."""


class GrepAnswer(TypedDict):
    """The lines that were found."""

    success: Literal[True]
    pattern: str
    """As asked."""
    results: list[GrepMatch]
    """By file and line."""
    count: int
    """How many they are."""
    truncated: NotRequired[bool]
    """There may be more: a bound of results, files, bytes or time was reached."""


class GrepMatch(TypedDict):
    """A line that was found."""

    file: str
    """The file's absolute path."""
    relative: str
    """The same, from its folder."""
    line: int
    """Counted from 1."""
    content: str
    """The line, without its end; long ones are cut."""


class GrepQuery(TypedDict):
    """What to look for in the open folders."""

    pattern: str
    """Text, or with `regex` a regular expression (RE2's)."""
    type: NotRequired[str]
    """`all`, or the end of file names, such as `py`."""
    max_results: NotRequired[int]
    """At most so many lines."""
    case_sensitive: NotRequired[Literal["true", "false"]]
    """A and a are two letters."""
    regex: NotRequired[Literal["true", "false"]]
    """The pattern is a regular expression."""


class HistoryItem(TypedDict):
    """An earlier message."""

    role: str
    """`user` and `assistant` are used; others are left out."""
    content: str
    """Its text; the first 4,000 characters are used."""


class ImageHealth(TypedDict):
    """Whether pictures can be made."""

    health: dict[str, DatabaseState]
    """By provider; empty when none is configured."""


class ImageProvider(TypedDict):
    """An endpoint that makes pictures."""

    name: str
    """What a request says."""
    model: str
    """Its model."""


class ImageProviders(TypedDict):
    """Who can make pictures."""

    providers: list[ImageProvider]
    """Empty when none is configured."""


class ImageSource(TypedDict):
    """A place where a picture was found."""

    title: str
    """What the place is called."""
    author: str | None
    """Who made the picture; null when unknown."""
    url: str
    """http or https."""
    thumbnail: str | None
    """A small picture's address; null when there is none."""
    similarity: float | None
    """In percent; null where the engine tells none."""
    source_engine: str
    """Who found it, such as `saucenao` or `google_lens`."""


class ImageStyle(TypedDict):
    """A style for pictures."""

    name: str
    """What a request says."""
    description: str
    """What it looks like."""


class ImageStyles(TypedDict):
    """The styles for pictures."""

    styles: list[ImageStyle]
    """The styles."""


class ListDirectoryArguments(TypedDict):
    """List a folder."""

    directory: NotRequired[str]
    """From a root, or absolute under one."""


class ListedFile(TypedDict):
    """A file."""

    name: str
    """Its name."""
    size: int
    """In bytes."""
    modified: str
    """When it was changed: ISO 8601, UTC."""


class ListedFolder(TypedDict):
    """A folder."""

    name: str
    """Its name."""
    size: None
    """Always null."""
    modified: str
    """When it was changed: ISO 8601, UTC."""


class LogExcerpt(TypedDict):
    """The newest lines of a log file."""

    service: str
    """Whose log it is."""
    file: str
    """Its path, from its root."""
    total_lines: int
    """Lines that fit, in the file's read part."""
    entries: list[str]
    """Oldest first."""


class LogsFound(TypedDict):
    """The logs found."""

    service_filter: str
    """As asked."""
    level_filter: str
    """As asked."""
    logs_found: int
    """How many logs were found, listed or not."""
    data: list[LogExcerpt]
    """By path."""
    truncated: NotRequired[bool]
    """Not all are listed, or read to the end."""


class McpDisabledAnswer(TypedDict):
    """Searches are closed."""

    success: Literal[True]
    status: McpStatus


class McpErrorAnswer(TypedDict):
    """Why there is no other answer, as the routes under `/api/mcp` say it."""

    success: Literal[False]
    error: str
    """What happened, for a person. No key, path or traceback."""


class McpFailure(TypedDict):
    """Why there is no result."""

    error: str
    """What happened, for a person."""


ListDirectoryResult: TypeAlias = DirectoryListing | McpFailure
"""What is in the folder."""


class McpFolderRequest(TypedDict):
    """A folder on the server."""

    folder_path: str
    """Its path; absolute."""


class McpStatus(TypedDict):
    """What a user has opened to searches."""

    enabled: bool
    """Searches are allowed."""
    folders_count: int
    """How many folders."""
    folders: list[str]
    """Absolute paths on the server."""
    server_url: str | None
    """Where an MCP server for them listens; null: nowhere."""


class McpStatusAnswer(TypedDict):
    """What a user has opened now."""

    success: bool
    """False: nothing was to be changed."""
    status: McpStatus


class MemoriesFound(TypedDict):
    """The memories with the words, the best first."""

    memories: list[Memory]
    """The memories."""
    count: NotRequired[int]
    """How many they are."""


class Memory(TypedDict):
    """Something to be remembered over conversations."""

    id: MemoryId
    folder_name: str
    """A readable name, made of title and id."""
    title: str
    """Its title."""
    content: str
    """What is remembered."""
    tags: list[str]
    """Words to find it by."""
    images: list[MemoryImage]
    """Its pictures."""
    created_at: Timestamp
    updated_at: Timestamp


class MemoryAnswer(TypedDict):
    """One memory."""

    memory: Memory


class MemoryDeleted(TypedDict):
    """It is forgotten."""

    success: Literal[True]
    message: str
    """What was done, for a person."""


MemoryId: TypeAlias = str
"""A memory's id."""


class MemoryImageBytes(TypedDict):
    """A picture by its bytes."""

    base64: str
    """The file's bytes in base64."""


class MemoryImageUrl(TypedDict):
    """A picture by its address."""

    url: str
    """http, https or data URL."""


MemoryImage: TypeAlias = MemoryImageUrl | MemoryImageBytes
"""A picture that belongs to it: its address or its bytes."""


class MemoryList(TypedDict):
    """A user's memories, the last changed first."""

    memories: list[Memory]
    """The memories."""


class MemoryQuery(TypedDict):
    """What to look for in the user's memories."""

    q: NotRequired[str]
    """Words; empty finds all."""


class MemorySaved(TypedDict):
    """It is remembered."""

    success: Literal[True]
    memory: Memory
    message: str
    """What was done, for a person."""


class MemoryUpdated(TypedDict):
    """It is changed."""

    success: Literal[True]
    memory: Memory


class MessageAnswer(TypedDict):
    """It was done."""

    message: str
    """What was done, for a person."""


class MetadataEvent(TypedDict):
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
    streaming: Literal[True]
    timestamp: Timestamp
    conversation_id: NotRequired[ConversationId]
    """The conversation that it belongs to."""
    request_id: NotRequired[RequestId]


class MetadataMessage(TypedDict):
    """The event `metadata`: its name in the stream, and its data."""

    event: Literal["metadata"]
    data: MetadataEvent


class ModelEntry(TypedDict):
    """A model that can be asked."""

    name: str
    """For a person."""
    provider: str
    """Who serves it."""
    model_id: str
    """What its endpoint calls it."""
    context_window: int | None
    """Tokens of question and answer together; null when unknown."""
    pricing: dict[str, float]
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


ModelCatalogue: TypeAlias = dict[str, ModelEntry]
"""The models that are configured, by what a request calls them."""


class NewConversationRequest(TypedDict):
    """The conversation to make."""

    model: NotRequired[str]
    """The model that it is for."""
    title: NotRequired[str]
    """Its title."""


class NewMemoryImage(TypedDict):
    """A picture by its address or its bytes."""

    url: NotRequired[str]
    """http, https or data URL."""
    base64: NotRequired[str]
    """The file's bytes in base64."""


class ProjectInfo(TypedDict):
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


GetProjectInfoResult: TypeAlias = ProjectInfo | McpFailure
"""The project."""


class ProjectStructure(TypedDict):
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


class QuotaAnswer(TypedDict):
    """The image isn't made."""

    error: str
    """Why not."""
    quota_exceeded: NotRequired[Literal[True]]
    """Present when the user's images of the day are used up."""


class ReadFileContentArguments(TypedDict):
    """Read a text file."""

    file_path: str
    """From a root, or absolute under one."""
    max_lines: NotRequired[int]
    """At most so many lines."""


ReadFileContentResult: TypeAlias = FileContent | McpFailure
"""The file's beginning."""


RequestId: TypeAlias = str
"""Names the request in the server's log: the first twelve hexadecimal digits of a random UUID."""


class ReverseImageFailed(TypedDict):
    """Why nothing could be asked."""

    error: str
    """What happened, for a person."""


class ReverseImageFound(TypedDict):
    """What was found; the lists may be empty."""

    sources: list[ImageSource]
    """Places with the picture itself."""
    similar: list[ImageSource]
    """Places with similar pictures."""
    knowledge: str | None
    """What is known of what it shows; null when nothing is."""
    summary: str
    """For a person; always there."""


class ReverseImageSearchArguments(TypedDict):
    """Find where a picture comes from: SauceNAO, then SerpAPI's engines."""

    image_url: str
    """The picture: an http, https or data URL."""


ReverseImageSearchResult: TypeAlias = ReverseImageFound | ReverseImageFailed
"""Where the picture comes from."""


class SaucenaoSearchArguments(TypedDict):
    """Find where a drawn picture comes from, with SauceNAO."""

    image_url: str
    """The picture: an http, https or data URL."""


SaucenaoSearchResult: TypeAlias = str
"""Markdown for the model. Empty: nothing was found. `❌ …`: it failed; that isn't told to the model as data."""


class SaveMemoryRequest(TypedDict):
    """Something to remember."""

    title: str
    """Its title."""
    content: str
    """What to remember."""
    tags: NotRequired[list[str]]
    """Words to find it by."""
    images: NotRequired[list[NewMemoryImage]]
    """Its pictures, each with one of the two."""


class SearchFilesArguments(TypedDict):
    """Find files by their names."""

    query: str
    """Part of the name; any case. Empty: all."""
    file_type: NotRequired[str]
    """`all`, or the end of file names, such as `py`."""
    max_results: NotRequired[int]
    """At most so many are listed."""


SearchFilesResult: TypeAlias = FilesFound | McpFailure
"""The files found."""


class SearchLogsArguments(TypedDict):
    """Read the newest lines of log files."""

    service: NotRequired[str]
    """`all`, or part of the log's path."""
    level: NotRequired[str]
    """`all`, or a word that the lines have, such as `error`."""
    last_n_lines: NotRequired[int]
    """At most so many lines a file."""


SearchLogsResult: TypeAlias = LogsFound | McpFailure
"""The logs found."""


class SerpapiImageSearchArguments(TypedDict):
    """Search pictures with SerpAPI."""

    query: str
    """What to look for."""


SerpapiImageSearchResult: TypeAlias = str
"""Markdown for the model. Empty: nothing was found. `❌ …`: it failed; that isn't told to the model as data."""


class SerpapiReverseImageArguments(TypedDict):
    """Find a picture on the web with SerpAPI, engine after engine."""

    image_url: str
    """The picture: an http, https or data URL."""


SerpapiReverseImageResult: TypeAlias = str
"""Markdown for the model. Empty: nothing was found. `❌ …`: it failed; that isn't told to the model as data."""


class SerpapiWebSearchArguments(TypedDict):
    """Search the web with SerpAPI."""

    query: str
    """What to look for."""


SerpapiWebSearchResult: TypeAlias = str
"""Markdown for the model. Empty: nothing was found. `❌ …`: it failed; that isn't told to the model as data."""


class SwitchAnswer(TypedDict):
    """The conversation to go on with."""

    message: str
    """What was done, for a person."""
    conversation: FullConversation


class ThinkingEndEvent(TypedDict):
    """The model has thought."""

    summary: str
    """For a person."""
    steps: list[str]
    """What was thought: its paragraphs, or one text a train of thought."""
    category: str
    """As in `thinking_start`."""
    duration_ms: int
    """Since `thinking_start`, in milliseconds."""
    rounds: NotRequired[int]
    """How often the trains of thought were merged, in `multi-thinking` only."""
    trajectories: NotRequired[int]
    """How many trains of thought there were, in `multi-thinking` only."""
    request_id: NotRequired[RequestId]


class ThinkingEndMessage(TypedDict):
    """The event `thinking_end`: its name in the stream, and its data."""

    event: Literal["thinking_end"]
    data: ThinkingEndEvent


class ThinkingEvent(TypedDict):
    """A piece of what the model thinks; all of them, one after the other, are its text byte for byte."""

    step: str
    """The piece."""
    step_index: int
    """Counts from 0 without gaps over the turn."""
    category: str
    """As in `thinking_start`."""
    is_reasoning_chunk: bool
    """It is the model's own reasoning; false: the text of a train of thought that we asked for."""
    trajectory_id: NotRequired[str]
    """Which train of thought, in `multi-thinking` only."""
    request_id: NotRequired[RequestId]


class ThinkingMessage(TypedDict):
    """The event `thinking`: its name in the stream, and its data."""

    event: Literal["thinking"]
    data: ThinkingEvent


ThinkingMode: TypeAlias = Literal["instant", "think", "deep-think", "multi-thinking", "auto"]
"""How much the model is to think before it answers. `multi-thinking`: several trains of thought side by side, then one answer. `auto`: as the message seems to need."""


class ThinkingStartEvent(TypedDict):
    """The model begins to think."""

    category: str
    """What the message seems to be about."""
    timestamp: Timestamp
    mode: NotRequired[str]
    """`multi-thinking`, in that mode only."""
    label: NotRequired[str]
    """The mode for a person, in that mode only."""
    request_id: NotRequired[RequestId]


class ThinkingStartMessage(TypedDict):
    """The event `thinking_start`: its name in the stream, and its data."""

    event: Literal["thinking_start"]
    data: ThinkingStartEvent


Event: TypeAlias = MetadataMessage | ThinkingStartMessage | ThinkingMessage | ThinkingEndMessage | ChunkMessage | CompleteMessage | ErrorMessage
"""Any event of the surface."""


Timestamp: TypeAlias = str
"""A point in time: UTC, ISO 8601, with `Z`."""


class UpdateMemoryRequest(TypedDict):
    """What changes; what is absent stays."""

    title: NotRequired[str]
    """Its title."""
    content: NotRequired[str]
    """What to remember."""
    tags: NotRequired[list[str]]
    """Words to find it by."""
