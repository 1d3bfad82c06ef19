"""Headers of GGUF files, honest and hostile."""

import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from copilot_adapters.local_model.gguf import GgufError, chat_template, read_texts


def word(number: int, form: str = "<Q") -> bytes:
    return struct.pack(form, number)


def string(value: str) -> bytes:
    return word(len(value.encode())) + value.encode()


def entry(key: str, kind: int, value: bytes) -> bytes:
    return string(key) + word(kind, "<I") + value


def text_entry(key: str, value: str) -> bytes:
    return entry(key, 8, string(value))


def gguf(*entries: bytes, version: int = 3, count: int | None = None) -> bytes:
    claimed = len(entries) if count is None else count
    return b"GGUF" + word(version, "<I") + word(0) + word(claimed) + b"".join(entries)


TEMPLATE = "{{ '<tool_call>' }}{{ '</tool_call>' }}"
CURED = "{{ '```json' }}{{ '```' }}"
#: Everything that has to be skipped on the way: each scalar, arrays of numbers and of texts.
SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
FILLER = [entry(f"n{kind}", kind, b"\1" * size) for kind, size in SIZES.items()]
FILLER += [
    entry("scores", 9, word(6, "<I") + word(3) + b"\0" * 12),
    entry("tokens", 9, word(8, "<I") + word(2) + string("a") + string("é")),
    text_entry("general.description", "x" * 5000),
]


@pytest.fixture
def file(tmp_path: Path) -> Callable[[bytes], Path]:
    def write(content: bytes) -> Path:
        path = tmp_path / "model.gguf"
        path.write_bytes(content)
        return path

    return write


@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize(
    ("name", "template"),
    [
        ("Qwen2.5 Coder 1.5B Instruct", CURED),
        ("Qwen2.5 7B Instruct", TEMPLATE),
        ("Some Model", TEMPLATE),
    ],
)
def test_chat_template(
    file: Callable[[bytes], Path], version: int, name: str, template: str
) -> None:
    entries = [*FILLER, text_entry("general.name", name)]
    entries.append(text_entry("tokenizer.chat_template", TEMPLATE))
    assert chat_template(file(gguf(*entries, version=version))) == template


def test_no_chat_template(file: Callable[[bytes], Path]) -> None:
    assert chat_template(file(gguf(*FILLER))) is None


HUGE = 2**63
KEY = "tokenizer.chat_template"


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "GGUF header"),
        (b"GGUF", "GGUF header"),
        (b"PK\3\4" + b"\0" * 40, "GGUF header"),
        (gguf(version=1), "version is 1"),
        (gguf(count=HUGE), "metadata entries"),
        (gguf(count=3), "ends in the middle"),
        (gguf(word(HUGE), count=1), "at most 65535"),
        (gguf(string("k") + word(13, "<I")), "no value type 13"),
        (gguf(entry("k", 8, word(HUGE))), "ends in the middle"),
        (gguf(entry("k", 9, word(8, "<I") + word(HUGE))), "arrays of"),
        (gguf(entry("k", 9, word(12, "<I") + word(HUGE))), "ends in the middle"),
        (gguf(entry("k", 9, word(9, "<I") + word(1))), "no arrays of value type 9"),
        (gguf(entry("k", 9, word(8, "<I") + word(9) + string("a"))), "ends in the middle"),
        (gguf(entry(KEY, 8, word(2**21) + b"x" * 2**21)), "at most 1048576"),
        (gguf(text_entry(KEY, TEMPLATE))[:-1], "ends in the middle"),
    ],
)
def test_hostile_files(file: Callable[[bytes], Path], content: bytes, why: str) -> None:
    with pytest.raises(GgufError, match=why):
        read_texts(file(content), (KEY,))


def test_every_cut_of_a_file_is_an_error_or_the_whole(file: Callable[[bytes], Path]) -> None:
    whole = gguf(*FILLER[:3], text_entry(KEY, "abc"))
    for length in range(len(whole)):
        with pytest.raises(GgufError):
            read_texts(file(whole[:length]), (KEY,))
    assert read_texts(file(whole), (KEY,)) == {KEY: "abc"}
