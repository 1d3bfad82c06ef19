# Generated from chatbot 1.0.0 (schemas 7a5b584e8da7abed) by copilot_codegen 36495cc3, datamodel-code-generator 0.89.0; do not edit (body 7519b3acb3fc7ddc)
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
    conversation_id: NotRequired[str | None]
    """The conversation to go on with; absent, null or empty begins one."""
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
    """A piece of the answer. The pieces, in order, are the answer byte for byte. Never inside a block of thinking."""

    content: str
    """The piece: append it to the answer so far."""
    chunk_index: int
    """Counts the `chunk` events from 0 without gaps over the turn."""
    request_id: NotRequired[RequestId]


class ChunkMessage(TypedDict):
    """The event `chunk`: its name in the stream, and its data."""

    event: Literal["chunk"]
    data: ChunkEvent


class CompleteEvent(TypedDict):
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
    total_chunks: int
    """How many `chunk` events the turn had."""
    thinking_summary: str
    """How much was thought in how long, for a person; empty when nothing was."""
    thinking_steps: list[str]
    """The steps of all `thinking_end` events, in order; empty when nothing was thought."""
    thinking_duration_ms: int
    """The time of all blocks of thinking together, in milliseconds."""
    timestamp: Timestamp
    """When the turn ended."""
    elapsed_time: float
    """From the request to this event, in seconds, rounded to three decimals."""
    tokens: int
    """Tokens of the answer, as the model told them; where it told none, an estimate from the text."""
    max_tokens: int
    """The most tokens that the answer might have had, as the model was told."""
    request_id: RequestId
    """Names the request: the same in every event of the stream that has it."""
    time_to_first_chunk: NotRequired[float]
    """From the request to the first `chunk`, in seconds; absent when there was none."""


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
    """Whose it is, as the server's login names them."""
    title: str
    """Its title: the user's, or one made from the first question; `New Chat` before."""
    model: str
    """The model that it was last asked with, or made for; empty while that is unknown."""
    created_at: Timestamp
    """When it was made."""
    updated_at: Timestamp
    """When it last changed: a message, its title, its archiving."""
    message_count: int
    """How many messages are stored."""
    total_tokens: int
    """Tokens of all model calls, questions and answers together, as far as the models told them."""
    is_archived: bool
    """The user has put it away; it is still listed."""
    metadata: dict[str, Any]
    """What else the server keeps with it."""


ConversationId: TypeAlias = str
"""A conversation's id."""


class ConversationList(TypedDict):
    """A user's conversations."""

    conversations: list[Conversation]
    """All of the user's conversations, the last changed first, archived ones too."""
    count: int
    """How many `conversations` there are."""


class ConversationMessage(TypedDict):
    """One message."""

    field_id: str
    """Its id; the same at every reading."""
    role: Literal["user", "assistant"]
    """Who said it."""
    content: str
    """Its text; what the model thought isn't part of it."""
    created_at: Timestamp
    """When it was stored."""
    metadata: dict[str, Any]
    """What else is known of it: `interrupted` is true where the model was stopped before it had finished."""


class DatabaseHealth(TypedDict):
    """Whether the databases can be used."""

    ok: bool
    """All of them can."""
    timestamp: Timestamp
    """When they were asked."""
    conversations: DatabaseState
    """What holds conversations and their messages."""
    memory: DatabaseState
    """What holds memories and settings."""


class DatabaseState(TypedDict):
    """Whether something that the server needs can be used."""

    ok: bool
    """It was asked just now, and answered."""
    error: NotRequired[str]
    """What is wrong, for a person; absent where it is ok. No path."""


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
    """What happened, as a sentence for a person. Never the text of an exception, a key or a path."""
    request_id: NotRequired[RequestId]


DatabaseHealthFailed: TypeAlias = DatabaseHealth | ErrorAnswer
"""Which database can't be used."""


class ErrorEvent(TypedDict):
    """The turn failed, or was stopped. The last event of its stream."""

    error: str
    """What happened, as a sentence for a person. Never the text of an exception, a key or a path."""
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
    """Whose it is, as the server's login names them."""
    title: str
    """Its title: the user's, or one made from the first question; `New Chat` before."""
    model: str
    """The model that it was last asked with, or made for; empty while that is unknown."""
    created_at: Timestamp
    """When it was made."""
    updated_at: Timestamp
    """When it last changed: a message, its title, its archiving."""
    message_count: int
    """How many messages are stored."""
    total_tokens: int
    """Tokens of all model calls, questions and answers together, as far as the models told them."""
    is_archived: bool
    """The user has put it away; it is still listed."""
    metadata: dict[str, Any]
    """What else the server keeps with it."""
    messages: list[ConversationMessage]
    """The stored messages of user and model, oldest first, without tool calls."""


class GenerateImageAnswer(TypedDict):
    """The pictures made."""

    success: Literal[True]
    """Always true."""
    image_id: str
    """The id of the first of `images`."""
    images: list[GeneratedImage]
    """The pictures, at least one; an endpoint may make fewer than were asked for."""
    provider: str
    """The provider that made them, by its name in `GET /api/image-gen/providers`."""
    model: str
    """What the endpoint calls its model."""
    prompt: str
    """The prompt, as the request said it."""
    timestamp: Timestamp
    """When they were made."""
    prompt_used: NotRequired[str]
    """What the endpoint was told, the style's words included."""
    original_prompt: NotRequired[str]
    """The same as `prompt`."""
    latency_ms: NotRequired[int]
    """How long the endpoint took, in milliseconds."""
    style: NotRequired[str]
    """The request's style; absent where it had none."""


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
    """Where it can be had: an http, https or data URL."""
    image_id: str
    """Its id, made by this server."""


class GetProjectInfoArguments(TypedDict):
    """Tell what project this is."""


class GithubSearchArguments(TypedDict):
    """Search repositories on GitHub."""

    query: str
    """What to look for, as a person would type it."""


GithubSearchResult: TypeAlias = str
"""Answers of GitHub's repository search, as Markdown for the model. Empty: nothing was found. Beginning with `❌`: why it failed, for a person; neither of the two is added to the message."""


class GoogleSearchArguments(TypedDict):
    """Search the web with Google."""

    query: str
    """What to look for, as a person would type it."""


GoogleSearchResult: TypeAlias = str
"""Answers of Google's Custom Search JSON API, as Markdown for the model. Empty: nothing was found. Beginning with `❌`: why it failed, for a person; neither of the two is added to the message."""


class GrepAnswer(TypedDict):
    """The lines that were found."""

    success: Literal[True]
    """Always true."""
    pattern: str
    """The pattern, as the request said it."""
    results: list[GrepMatch]
    """The lines, by file and line number, at most `max_results`."""
    count: int
    """How many `results` there are."""
    truncated: NotRequired[bool]
    """There may be more: a bound of results, files, bytes or time was reached."""


class GrepMatch(TypedDict):
    """A line that was found."""

    file: str
    """The file's absolute path."""
    relative: str
    """The same path, from the user's folder that it is in."""
    line: int
    """Counted from 1."""
    content: str
    """The line without its line end, cut where it is long."""


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
    """Its name, for a request's `provider`."""
    model: str
    """What its endpoint calls its model."""


class ImageProviders(TypedDict):
    """Who can make pictures."""

    providers: list[ImageProvider]
    """Empty when none is configured."""


class ImageSource(TypedDict):
    """A place where a picture was found."""

    title: str
    """The page's or the work's title; may be empty."""
    author: str | None
    """Who made the picture, as the engine tells; null when it doesn't."""
    url: str
    """The page, http or https."""
    thumbnail: str | None
    """The address of a small picture, http or https; null when there is none."""
    similarity: float | None
    """How alike the engine calls them, in percent; null when it tells nothing."""
    source_engine: str
    """The engine that found it, such as `saucenao` or `google_lens`."""


class ImageStyle(TypedDict):
    """A style for pictures."""

    name: str
    """Its name, for a request's `style`."""
    description: str
    """What is added to the prompt: what pictures of this style look like."""


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
    """Always true."""
    status: McpStatus


class McpErrorAnswer(TypedDict):
    """Why there is no other answer, as the routes under `/api/mcp` say it."""

    success: Literal[False]
    """Always false."""
    error: str
    """What happened, as a sentence for a person. Never the text of an exception, a key or a path."""
    request_id: NotRequired[RequestId]


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
    """Which folders a user has opened to searches."""

    enabled: bool
    """Searches in the folders are allowed."""
    folders_count: int
    """How many folders there are, enabled or not."""
    folders: list[str]
    """The user's folders: absolute paths on the server."""
    server_url: str | None
    """Where an MCP server for these folders listens; null when none does."""


class McpStatusAnswer(TypedDict):
    """What a user has opened now."""

    success: bool
    """False: nothing was to be changed."""
    status: McpStatus


class MemoriesFound(TypedDict):
    """The user's memories that were found."""

    memories: list[Memory]
    """The memories with all the words, the best first."""
    count: NotRequired[int]
    """How many `memories` there are."""


class Memory(TypedDict):
    """Something to be remembered over conversations."""

    id: MemoryId
    folder_name: str
    """A readable name, made from title and id when it was saved; it stays."""
    title: str
    """Its title, as the user gave it."""
    content: str
    """The text to remember, as the user gave it."""
    tags: list[str]
    """The user's words to find it by."""
    images: list[MemoryImage]
    """Its pictures, as they were sent."""
    created_at: Timestamp
    """When it was saved."""
    updated_at: Timestamp
    """When it was last changed."""


class MemoryAnswer(TypedDict):
    """One memory."""

    memory: Memory


class MemoryDeleted(TypedDict):
    """It is forgotten."""

    success: Literal[True]
    """Always true."""
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
    """A user's memories."""

    memories: list[Memory]
    """All of the user's memories, the last changed first."""


class MemoryQuery(TypedDict):
    """What to look for in the user's memories."""

    q: NotRequired[str]
    """Words; empty finds all."""


class MemorySaved(TypedDict):
    """It is remembered."""

    success: Literal[True]
    """Always true."""
    memory: Memory
    message: str
    """What was done, for a person."""


class MemoryUpdated(TypedDict):
    """It is changed."""

    success: Literal[True]
    """Always true."""
    memory: Memory


class MessageAnswer(TypedDict):
    """It was done."""

    message: str
    """What was done, for a person."""


class MetadataEvent(TypedDict):
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
    streaming: Literal[True]
    """Always true."""
    timestamp: Timestamp
    """When the turn began."""
    conversation_id: NotRequired[ConversationId]
    """The conversation that the turn belongs to: the request's, or the one that was made for it."""
    request_id: NotRequired[RequestId]


class MetadataMessage(TypedDict):
    """The event `metadata`: its name in the stream, and its data."""

    event: Literal["metadata"]
    data: MetadataEvent


class ModelEntry(TypedDict):
    """A model that can be asked, as the server is configured."""

    name: str
    """Its name for a person."""
    provider: str
    """Who serves it."""
    model_id: str
    """What its endpoint calls it."""
    context_window: int | None
    """Tokens of question and answer together, as configured; null when that is unknown."""
    pricing: dict[str, float]
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
    """Why no picture is made."""

    error: str
    """What happened, as a sentence for a person. Never the text of an exception, a key or a path."""
    quota_exceeded: NotRequired[Literal[True]]
    """The user's pictures of the day are used up; absent for other reasons."""
    request_id: NotRequired[RequestId]


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
    """Why, for a person; the texts of the other search tools."""


class ReverseImageFound(TypedDict):
    """What was found; the lists may be empty."""

    sources: list[ImageSource]
    """Pages with the picture itself, the most alike first; empty when there are none."""
    similar: list[ImageSource]
    """Pages with pictures like it, the most alike first; empty when there are none."""
    knowledge: str | None
    """The text of an engine's knowledge panel on what it shows; null when there is none."""
    summary: str
    """What was found, in a sentence for a person; `no results` when that is nothing."""


class ReverseImageSearchArguments(TypedDict):
    """Find where a picture comes from: SauceNAO, then SerpAPI's engines."""

    image_url: str
    """The picture: an http, https or data URL."""


ReverseImageSearchResult: TypeAlias = ReverseImageFound | ReverseImageFailed
"""Where a picture comes from: what SauceNAO and SerpAPI's engines found, merged; or why none could be asked."""


class SaucenaoSearchArguments(TypedDict):
    """Find where a drawn picture comes from, with SauceNAO."""

    image_url: str
    """The picture: an http, https or data URL."""


SaucenaoSearchResult: TypeAlias = str
"""Answers of SauceNAO, as Markdown for the model. Empty: nothing was found. Beginning with `❌`: why it failed, for a person; neither of the two is added to the message."""


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
    """What to look for, as a person would type it."""


SerpapiImageSearchResult: TypeAlias = str
"""Answers of SerpAPI's image engine, as Markdown for the model. Empty: nothing was found. Beginning with `❌`: why it failed, for a person; neither of the two is added to the message."""


class SerpapiReverseImageArguments(TypedDict):
    """Find a picture on the web with SerpAPI, engine after engine."""

    image_url: str
    """The picture: an http, https or data URL."""


SerpapiReverseImageResult: TypeAlias = str
"""Answers of SerpAPI's reverse image engines, the first that found something, as Markdown for the model. Empty: nothing was found. Beginning with `❌`: why it failed, for a person; neither of the two is added to the message."""


class SerpapiWebSearchArguments(TypedDict):
    """Search the web with SerpAPI."""

    query: str
    """What to look for, as a person would type it."""


SerpapiWebSearchResult: TypeAlias = str
"""Answers of SerpAPI's web engines, as Markdown for the model. Empty: nothing was found. Beginning with `❌`: why it failed, for a person; neither of the two is added to the message."""


class SwitchAnswer(TypedDict):
    """The conversation to go on with."""

    message: str
    """What was done, for a person."""
    conversation: FullConversation


class ThinkingEndEvent(TypedDict):
    """The model has thought: what, and for how long."""

    summary: str
    """How much was thought in how long, for a person."""
    steps: list[str]
    """What was thought, cut at its paragraphs; in `multi-thinking` one text for each train of thought. Bounded: long thinking is cut here, not in `thinking`."""
    category: str
    """The same as in the block's `thinking_start`."""
    duration_ms: int
    """Since the block's `thinking_start`, in milliseconds."""
    rounds: NotRequired[int]
    """How often the trains of thought were merged, in `multi-thinking`; absent in all other modes."""
    trajectories: NotRequired[int]
    """How many trains of thought came to an end, in `multi-thinking`; absent in all other modes."""
    request_id: NotRequired[RequestId]


class ThinkingEndMessage(TypedDict):
    """The event `thinking_end`: its name in the stream, and its data."""

    event: Literal["thinking_end"]
    data: ThinkingEndEvent


class ThinkingEvent(TypedDict):
    """A piece of what the model thinks. The pieces of one train of thought, in order, are its text byte for byte."""

    step: str
    """The piece: append it to what its trajectory has thought so far."""
    step_index: int
    """Counts the `thinking` events from 0 without gaps over the turn."""
    category: str
    """The same as in the block's `thinking_start`."""
    is_reasoning_chunk: bool
    """It is the model's own reasoning; false: the text of a train of thought that it was asked for."""
    trajectory_id: NotRequired[str]
    """Names the train of thought, in `multi-thinking`; absent in all other modes."""
    request_id: NotRequired[RequestId]


class ThinkingMessage(TypedDict):
    """The event `thinking`: its name in the stream, and its data."""

    event: Literal["thinking"]
    data: ThinkingEvent


ThinkingMode: TypeAlias = Literal["instant", "think", "deep-think", "multi-thinking", "auto"]
"""How much the model is to think before it answers. `multi-thinking`: several trains of thought side by side, then one answer. `auto`: as the message seems to need."""


class ThinkingStartEvent(TypedDict):
    """The model begins to think. A turn may think several times, never twice at once."""

    category: str
    """What the message seems to be about, in one word, as `detect_category` finds it."""
    timestamp: Timestamp
    """When the thinking began."""
    mode: NotRequired[str]
    """`multi-thinking`; absent in all other modes."""
    label: NotRequired[str]
    """The mode's name for a person, `4-Agents Reasoning`; absent in all other modes."""
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
