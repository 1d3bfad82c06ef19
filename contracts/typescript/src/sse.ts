/** One message of an event stream. */
export interface SseMessage {
  /** The `event` field; `message` when there was none. */
  readonly event: string;
  readonly data: string;
  /** The last event id of the stream so far; send it as `Last-Event-ID` to go on after it. */
  readonly id: string;
}

/** A message of more than so many characters is refused, unless told otherwise. */
const MAX_MESSAGE = 16 * 1024 * 1024;

/**
 * An incremental reader of an event stream: bytes in any chunks in, messages out, by the WHATWG
 * algorithm (HTML, section 9.2.6).
 */
export class SseDecoder {
  /** The last event id seen, as in `Last-Event-ID`. */
  lastEventId = "";
  /** How long to wait before connecting again, in milliseconds, when the server said so. */
  retry: number | undefined = undefined;

  readonly #maxMessage: number;
  readonly #decoder: TextDecoder = new TextDecoder();
  /** The pieces of a line whose end hasn't come, and the length of the block so far. */
  #line: string[] = [];
  #size = 0;
  #afterCr = false;
  #event = "";
  #data: string[] = [];
  #id = "";

  constructor(maxMessage: number = MAX_MESSAGE) {
    this.#maxMessage = maxMessage;
  }

  /** The messages that these bytes finish. Throws RangeError when one becomes too large. */
  feed(bytes: Uint8Array): SseMessage[] {
    return this.#read(this.#decoder.decode(bytes, { stream: true }));
  }

  /**
   * The end of the stream. A last block that no blank line ended is discarded, as the algorithm
   * says; true when there was one.
   */
  close(): boolean {
    this.#read(this.#decoder.decode());
    const unfinished = this.#size > 0;
    this.#line = [];
    this.#begin();
    return unfinished;
  }

  #read(text: string): SseMessage[] {
    const messages: SseMessage[] = [];
    let start = this.#afterCr && text.startsWith("\n") ? 1 : 0;
    if (text) this.#afterCr = text.endsWith("\r");
    const lineEnd = /\r\n?|\n/g;
    for (;;) {
      lineEnd.lastIndex = start;
      const found = lineEnd.exec(text);
      const end = found ? found.index : text.length;
      this.#line.push(text.slice(start, end));
      this.#size += end - start;
      if (this.#size > this.#maxMessage) {
        throw new RangeError(`A message of the stream exceeds ${this.#maxMessage} characters.`);
      }
      if (!found) return messages;
      const line = this.#line.join("");
      this.#line = [];
      const message = this.#readLine(line);
      if (message) messages.push(message);
      start = lineEnd.lastIndex;
    }
  }

  #readLine(line: string): SseMessage | undefined {
    if (line === "") return this.#dispatch();
    const colon = line.indexOf(":");
    const name = colon < 0 ? line : line.slice(0, colon);
    let value = colon < 0 ? "" : line.slice(colon + 1);
    if (value.startsWith(" ")) value = value.slice(1);
    if (name === "data") this.#data.push(value);
    else if (name === "event") this.#event = value;
    else if (name === "id" && !value.includes("\0")) this.#id = value;
    else if (name === "retry" && /^[0-9]+$/.test(value)) this.retry = Number(value);
    else if (name === "") this.#size -= line.length; // a comment holds no memory
    return undefined;
  }

  #dispatch(): SseMessage | undefined {
    this.lastEventId = this.#id;
    const message = {
      event: this.#event || "message",
      data: this.#data.join("\n"),
      id: this.#id,
    };
    const empty = this.#data.length === 0;
    this.#begin();
    return empty ? undefined : message;
  }

  #begin(): void {
    this.#event = "";
    this.#data = [];
    this.#size = 0;
  }
}

/**
 * The messages of a response's body, until it ends:
 * `for await (const message of sseMessages(response.body)) ...`. Leaving the loop cancels it.
 */
export async function* sseMessages(
  body: ReadableStream<Uint8Array>,
  decoder: SseDecoder = new SseDecoder(),
): AsyncGenerator<SseMessage, void, undefined> {
  const reader = body.getReader();
  let ended = false;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      ended = done;
      if (done) break;
      yield* decoder.feed(value);
    }
    decoder.close();
  } finally {
    if (ended) reader.releaseLock();
    else await reader.cancel();
  }
}
