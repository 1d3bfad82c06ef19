"""The npm package's event stream reader does what the Python one does, by the same algorithm."""

import base64
import json
import random
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from copilot_contracts import sse

pytestmark = pytest.mark.node

ROOT = Path(__file__).parents[2]

STREAMS = [
    b"data: a\n\n",
    b"\xef\xbb\xbfdata: a\n\ndata: \xef\xbb\xbfb\n\n",
    b"data: a\rdata: b\r\rdata: c\r\n\r\n",
    b"event: x\ndata\ndata:\ndata:  two\nid: 1\n\n",
    b": comment\n\ndata: a\nid: 7\n\ndata: b\n\nid\ndata: c\n\n",
    b"id: a\x00b\ndata: a\n\n",
    b"id: 5\n\ndata: a\n\n",
    b"event: lost\n\ndata: a\n\n",
    b"retry: 100\nretry: 1x\nretry: -1\nretry:\ndata: a\n\n",
    b"unknown: 1\nDATA: 2\ndata : 3\ndata: a\n\n",
    "data: grüße \U0001f600\ndata: \u2028\u0085\n\n".encode(),
    b"data: \xff\xc3\n\n",
    b"data: a\n\ndata: unfinished",
    b"data: a\n\ndata: unfinished\n",
    b'data: {"type":"done"}\n\n\n\n\n',
    b"\n\n\r\n\r",
    b"",
]


def chunked(stream: bytes, rng: random.Random) -> list[bytes]:
    chunks = []
    while stream:
        size = rng.choice((1, 1, 2, 3, 7, 50))
        chunks.append(stream[:size])
        stream = stream[size:]
    return chunks


def cases() -> list[list[bytes]]:
    rng = random.Random(20261130)
    streams = list(STREAMS)
    for _ in range(300):
        pieces = rng.choices(
            [b"data: x", b"data", b"id: 3", b"event: e", b":c", b"\n", b"\r", b"\r\n", b"\n\n"],
            k=12,
        )
        streams.append(b"".join(pieces))
    return [[stream] for stream in streams if stream] + [chunked(s, rng) for s in streams]


SCRIPT = """
import { readFileSync } from "node:fs";
import { SseDecoder, sseMessages } from "./out/sse.js";
const results = [];
for (const chunks of JSON.parse(readFileSync(0, "utf8"))) {
  const bytes = chunks.map((chunk) => new Uint8Array(Buffer.from(chunk, "base64")));
  const decoder = new SseDecoder();
  const messages = bytes.flatMap((chunk) => decoder.feed(chunk));
  const unfinished = decoder.close();
  const body = new ReadableStream({
    start(controller) {
      bytes.forEach((chunk) => controller.enqueue(chunk));
      controller.close();
    },
  });
  const streamed = [];
  for await (const message of sseMessages(body)) streamed.push(message);
  const { lastEventId, retry = null } = decoder;
  results.push({ messages, streamed, unfinished, lastEventId, retry });
}
console.log(JSON.stringify(results));

const small = new SseDecoder(10);
small.feed(new TextEncoder().encode(": comment\\n".repeat(9)));
let said = "";
try {
  for (let i = 0; i < 20; i++) small.feed(new TextEncoder().encode("data"));
} catch (error) {
  said = `${error.name}: ${error.message}`;
}
console.log(said);

let cancelled = false;
const endless = new ReadableStream({
  pull: (controller) => controller.enqueue(new TextEncoder().encode("data: x\\n\\n")),
  cancel: () => { cancelled = true; },
});
for await (const message of sseMessages(endless)) break;
console.log(cancelled);

const big = new TextEncoder().encode("data: " + "x".repeat(2 ** 22));
const start = performance.now();
const slow = new SseDecoder();
for (let i = 0; i < big.length; i += 1024) slow.feed(big.subarray(i, i + 1024));
slow.feed(new TextEncoder().encode("\\n\\n" + "data: y\\n\\n".repeat(200000)));
console.log(performance.now() - start < 5000);
"""


def test_both_readers_agree(node: str, tsc: Callable[..., object], tmp_path: Path) -> None:
    source = ROOT / "contracts/typescript/src/sse.ts"
    (tmp_path / "sse.ts").write_bytes(source.read_bytes())
    tsc(tmp_path, noEmit=False, outDir="out", declaration=False, isolatedDeclarations=False)
    (tmp_path / "run.mjs").write_text(SCRIPT, encoding="utf-8")
    streams = cases()
    encoded = [[base64.b64encode(chunk).decode() for chunk in chunks] for chunks in streams]
    done = subprocess.run(
        [node, "run.mjs"],
        cwd=tmp_path,
        input=json.dumps(encoded),
        capture_output=True,
        text=True,
        timeout=100,
        check=True,
    )
    results, too_large, cancelled, fast = done.stdout.strip("\n").split("\n")
    for chunks, result in zip(streams, json.loads(results), strict=True):
        decoder = sse.Decoder()
        events = [event for chunk in chunks for event in decoder.feed(chunk)]
        expected = [{"event": e.event, "data": e.data, "id": e.id} for e in events]
        assert result["messages"] == expected, chunks
        assert result["streamed"] == expected, chunks
        assert result["lastEventId"] == decoder.last_event_id, chunks
        assert result["retry"] == decoder.retry, chunks
        assert result["unfinished"] == (decoder.close() is not None), chunks
    assert too_large == "RangeError: A message of the stream exceeds 10 characters."
    assert cancelled == "true"
    assert fast == "true"
