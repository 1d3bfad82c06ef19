"""The tables of the document that the chatbot surface was written from, as data.

A shape is a type (`str`, `int`, `float`, `bool`, `null`; `object`: any keys), types with `|`
between them, a list of one shape for an array, or a dict for an object; a key that ends with `?`
is optional.
"""

from typing import Any

ERROR = {"error": "str"}

#: Event to its keys; None: named, without a shape.
EVENTS: dict[str, dict[str, Any] | None] = {
    "metadata": {
        "model": "str",
        "context": "str",
        "deep_thinking": "bool",
        "thinking_mode": "str",
        "stream_backend": "str",
        "stream_contract_version": "str",
        "web_search": "bool",
        "streaming": "bool",
        "timestamp": "str",
    },
    "thinking_start": {"category": "str", "timestamp": "str", "mode?": "str", "label?": "str"},
    "thinking": {
        "step": "str",
        "step_index": "int",
        "category": "str",
        "is_reasoning_chunk": "bool",
        "trajectory_id?": "str",
    },
    "thinking_end": {
        "summary": "str",
        "steps": ["str"],
        "category": "str",
        "duration_ms": "int",
        "rounds?": "int",
        "trajectories?": "int",
    },
    "chunk": {"content": "str", "chunk_index": "int"},
    "complete": {
        "response": "str",
        "model": "str",
        "context": "str",
        "deep_thinking": "bool",
        "thinking_mode": "str",
        "total_chunks": "int",
        "thinking_summary": "str",
        "thinking_steps": ["str"],
        "thinking_duration_ms": "int",
        "timestamp": "str",
        "elapsed_time": "float",
        "tokens": "int",
        "max_tokens": "int",
        "request_id": "str",
        "time_to_first_chunk?": "float",
    },
    "error": {"error": "str", "request_id?": "str"},
    "suggestions": None,
}
THINKING_MODES = ["instant", "think", "deep-think", "multi-thinking", "auto"]
KEEPALIVE = b": keepalive\n\n"


_CONVERSATION = "/conversations/{conversation_id}"
_MEMORIES = {"memories": ["object"]}
_MEMORY = {"success": "bool", "memory": "object"}
_FOLDERS = {"success": "bool", "status": "object"}
#: Method and path to the answer of status 200, and the statuses of errors.
ROUTES: dict[tuple[str, str], tuple[Any, set[int]]] = {
    ("GET", "/conversations"): ({"conversations": ["object"], "count": "int"}, {503, 500}),
    ("GET", _CONVERSATION): ("object", {404, 500}),
    ("DELETE", _CONVERSATION): ({"message": "str"}, {503, 500}),
    ("POST", f"{_CONVERSATION}/archive"): ({"message": "str"}, {503, 500}),
    ("POST", "/conversations/new"): ("object", {500}),
    ("POST", f"{_CONVERSATION}/switch"): (
        {"message": "str", "conversation": "object"},
        {404, 500},
    ),
    ("GET", "/api/mcp/grep"): (
        {"success": "bool", "pattern": "str", "results": ["object"], "count": "int"},
        {400, 500},
    ),
    ("POST", "/api/mcp/enable"): (_FOLDERS, {500}),
    ("POST", "/api/mcp/disable"): (_FOLDERS, {500}),
    ("POST", "/api/mcp/add-folder"): (_FOLDERS, {400, 500}),
    ("POST", "/api/mcp/remove-folder"): (_FOLDERS, {400, 500}),
    ("POST", "/api/image-gen/generate"): (
        {
            "success": "bool",
            "image_id": "str",
            "images": ["object"],
            "provider": "str",
            "model": "str",
            "prompt": "str",
            "timestamp": "str",
        },
        {400, 403, 429},
    ),
    ("GET", "/api/image-gen/health"): ("object", set()),
    ("GET", "/api/image-gen/providers"): ("object", set()),
    ("GET", "/api/image-gen/styles"): ("object", set()),
    ("POST", "/memory/save"): ({**_MEMORY, "message": "str"}, {400, 500}),
    ("GET", "/memory/list"): (_MEMORIES, {500}),
    ("GET", "/memory/get/{memory_id}"): ({"memory": "object"}, {404, 500}),
    ("DELETE", "/memory/delete/{memory_id}"): (
        {"success": "bool", "message": "str"},
        {404, 500},
    ),
    ("PUT", "/memory/update/{memory_id}"): (_MEMORY, {404, 500}),
    ("GET", "/memory/search"): (_MEMORIES, {500}),
    ("POST", "/chat"): (
        {
            "success": "bool",
            "response": "str",
            "model": "str",
            "context": "str",
            "deep_thinking": "bool",
            "thinking_process": "str",
            "tools": ["str"],
            "timestamp": "str",
        },
        {500},
    ),
    ("GET", "/api/health/databases"): ("object", {503}),
    ("GET", "/api/models"): ("object", set()),
    ("POST", "/chat/stream"): (None, set()),
}

#: Statuses that the document explains for all routes, whether their row has them or not.
ANY_ROUTE = {400, 403, 500, 503}

_PLACE = {
    "title": "str",
    "author": "str|null",
    "url": "str",
    "thumbnail": "str|null",
    "similarity": "float|null",
    "source_engine": "str",
}
#: Tool to the shapes that it may return.
TOOLS: dict[str, list[Any]] = {
    "google_search_tool": ["str"],
    "github_search_tool": ["str"],
    "saucenao_search_tool": ["str"],
    "serpapi_web_search": ["str"],
    "serpapi_reverse_image": ["str"],
    "serpapi_image_search": ["str"],
    "reverse_image_search": [
        {"sources": [_PLACE], "similar": [_PLACE], "knowledge": "str|null", "summary": "str"},
        ERROR,
    ],
}
MCP: dict[str, list[Any]] = {
    "search_files": [
        {
            "query": "str",
            "file_type": "str",
            "total_found": "int",
            "results": [{"filename": "str", "path": "str", "full_path": "str", "size": "int"}],
        },
        ERROR,
    ],
    "read_file_content": [
        {
            "file_path": "str",
            "total_lines": "int",
            "lines_read": "int",
            "truncated": "bool",
            "content": "str",
        },
        ERROR,
    ],
    "list_directory": [
        {
            "directory": "str",
            "total_items": "int",
            "folders": [{"name": "str", "size": "null", "modified": "str"}],
            "files": [{"name": "str", "size": "int", "modified": "str"}],
        },
        ERROR,
    ],
    "get_project_info": [
        {
            "project_name": "str",
            "base_directory": "str",
            "services": ["str"],
            "structure": {
                "config": "bool",
                "services": "bool",
                "tests": "bool",
                "docs": "bool",
                "resources": "bool",
                "local_data": "bool",
            },
            "description": "str",
        },
        ERROR,
    ],
    "search_logs": [
        {
            "service_filter": "str",
            "level_filter": "str",
            "logs_found": "int",
            "data": [{"service": "str", "file": "str", "total_lines": "int", "entries": ["str"]}],
        },
        ERROR,
    ],
    # A complex result is an object of two numbers: JSON has no other.
    "calculate": [
        {"expression": "str", "result": "float|object", "type": "str"},
        {"expression": "str", "error": "str"},
    ],
}

#: Event to its callback, the keys that it needs, and those that it may do without.
CALLBACKS: dict[str, tuple[str, list[str], list[str]]] = {
    "thinking_start": ("onThinkingStart", ["category", "timestamp"], ["mode", "label"]),
    "thinking": (
        "onThinking",
        ["step", "step_index", "category", "is_reasoning_chunk"],
        ["trajectory_id"],
    ),
    "thinking_end": (
        "onThinkingEnd",
        ["summary", "steps", "category", "duration_ms"],
        ["rounds", "trajectories"],
    ),
    "chunk": ("onChunk", ["content", "chunk_index"], []),
    "complete": (
        "onComplete",
        [key for key in EVENTS["complete"] or () if not key.endswith("?")],
        ["time_to_first_chunk"],
    ),
    "error": ("onError", ["error"], ["request_id"]),
    "suggestions": ("onSuggestions", [], []),
}
#: Call to its route, and the keys that it expects.
CALLS: dict[str, tuple[tuple[str, str], list[str]]] = {
    "sendMessage": (
        ("POST", "/chat"),
        [
            "success",
            "response",
            "model",
            "context",
            "deep_thinking",
            "thinking_process",
            "tools",
            "timestamp",
        ],
    ),
    "saveMemory": (("POST", "/memory/save"), ["success", "memory", "message"]),
    "listMemories": (("GET", "/memory/list"), ["memories"]),
}

INCONSISTENCIES = [
    "Routes use mixed patterns for success",
    "reverse_image_search() is the only tool returning dict",
    "metadata SSE event has no named frontend callback",
    "suggestions event type registered but not implemented",
    "Error messages in Vietnamese",
]
CHECKLIST = [
    "Return type matches contract",
    "All required SSE keys present",
    "HTTP status code correct",
    "request_id propagated",
    "Field names exact case",
    "Optional fields marked",
    "Frontend callback tested",
    "Error shape consistent",
    "Search results injected correctly",
    "build_complete_event_payload kwargs match",
    "Backward compatible",
    "Response impact summary written",
]
#: Outcome to how many points there are to look at.
OUTCOMES = {"success": 5, "partial": 4, "failure": 5}
