import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Writes files (JSON values, or bytes as they are) into a folder of schemas."""

    def write_files(files: Mapping[str, Any], name: str = "schemas") -> Path:
        folder = tmp_path / name
        for path, content in files.items():
            file = folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(
                content if isinstance(content, bytes) else json.dumps(content).encode()
            )
        return folder

    return write_files
