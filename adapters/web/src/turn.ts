import { SseDecoder } from "copilot-contracts";
import { type Event, readEvent } from "copilot-contracts/gns3-chat";

import { ApiError, type Bytes } from "./api.ts";

/** How a turn ends: the last event of its stream. */
export type TurnEnd = Extract<Event, { type: "done" | "error" | "abort" }>;
/** What happens in a turn before its end. */
export type LiveEvent = Exclude<Event, TurnEnd | { type: "heartbeat" }>;

/** Waits before connecting again, in milliseconds; begun anew when an event has come. */
const WAITS = [200, 500, 1000, 2000, 4000, 8000, 8000, 8000, 8000, 8000];
/** A connection that says nothing for so many milliseconds is dead: heartbeats come sooner. */
const SILENCE = 60_000;

/**
 * The events of a turn, from its first bytes to its end, over as many connections as it takes
 * (null: there is none yet); heartbeats and unknown events are left out. `resume` connects again behind the event with an
 * id; `broken` is called before that. Returns without an end when the turn can't be read any more
 * because it is over. Raises ApiError when the server refuses, or stays away.
 */
export async function* readTurn(
  first: Bytes | null,
  resume: (after: string) => Promise<Bytes | null>,
  broken: () => void,
): AsyncGenerator<LiveEvent | TurnEnd> {
  let bytes: Bytes | null = first;
  let after = "";
  for (let failures = 0; ; failures += 1) {
    for await (const message of bytes ? messages(bytes) : []) {
      failures = 0;
      after = message.id || after;
      const read = readEvent(message);
      if (!read.known) report(read.name);
      else if (read.event.type !== "heartbeat") {
        yield read.event;
        if (isEnd(read.event)) return;
      }
    }
    broken();
    const wait = WAITS[failures];
    if (wait === undefined) {
      throw new ApiError("unreachable", 0, "The connection to the server broke.");
    }
    await new Promise((resolve) => setTimeout(resolve, wait));
    try {
      bytes = await resume(after);
      if (!bytes) return;
    } catch (error) {
      const passing = error instanceof ApiError && (error.status === 0 || error.status >= 500);
      if (!passing) throw error;
      bytes = null;
    }
  }
}

export function isEnd(event: LiveEvent | TurnEnd): event is TurnEnd {
  return event.type === "done" || event.type === "error" || event.type === "abort";
}

/** The messages of one connection, until it ends or breaks. */
async function* messages(bytes: Bytes) {
  const reader = bytes.getReader();
  const decoder = new SseDecoder();
  try {
    for (;;) {
      const chunk = await next(reader);
      if (!chunk) return;
      yield* decoder.feed(chunk);
    }
  } finally {
    reader.cancel().catch(() => undefined);
  }
}

async function next(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<Uint8Array | null> {
  const timer = setTimeout(() => void reader.cancel(), SILENCE);
  try {
    return (await reader.read()).value ?? null;
  } catch {
    return null;
  } finally {
    clearTimeout(timer);
  }
}

const reported = new Set<string>();

/** Says once that there are events which this page doesn't know. */
function report(name: string): void {
  if (reported.has(name)) return;
  reported.add(name);
  console.warn(`An event that this page doesn't know was left out: ${name}`);
}
