import type { OpenAIMessage } from "copilot-contracts/gns3-chat";

import { type Api, ApiError, type Bytes } from "./api.ts";
import { Conversation } from "./conversation.ts";
import { newId } from "./identifier.ts";
import { type TurnEnd, isEnd, readTurn } from "./turn.ts";

const STOPPED: Record<(TurnEnd & { type: "abort" })["reason"], string> = {
  user: "Stopped.",
  deleted: "The session was deleted.",
  disconnected: "Stopped, because nobody was reading.",
  shutdown: "Stopped, because the server ended.",
};

/** Waits before a question that got no answer is sent again, in milliseconds. */
const WAITS = [200, 1000, 2000];

/** What a session tells the page. */
export interface Hearing {
  /** `doing` has changed. */
  doing(): void;
  /** A turn has begun or ended: what the list says of the session has changed. */
  turn(): void;
}

/** One session on the page: its conversation, and the turn that runs, if one does. */
export class Session {
  readonly conversation = new Conversation();
  /** What goes on now, in a few words; empty when nothing does. */
  doing = "";
  readonly #api: Api;
  readonly #hear: Hearing;
  /** How many pages of history are shown. */
  #pages = 1;
  /** Ends the request that waits for a turn to begin. */
  #sending: AbortController | null = null;
  /** The newest question, while no answer says whether it has arrived: its turn may run. */
  #unsure: { text: string; key: string } | null = null;

  constructor(
    readonly id: string,
    api: Api,
    hear: Hearing,
  ) {
    this.#api = api;
    this.#hear = hear;
  }

  get running(): boolean {
    return this.doing !== "";
  }

  /** Shows what is stored, and goes on reading a turn that runs. Raises ApiError. */
  async open(): Promise<void> {
    // First the stream, then the history: a turn that ends in between is in the history.
    const running = await this.#api.resume(this.id, "");
    try {
      await this.#showHistory();
    } catch (error) {
      void running?.cancel();
      throw error;
    }
    if (running) void this.#follow(running, "", false);
  }

  /**
   * Says something and shows the answer as it comes; returns at the turn's end. Raises ApiError
   * when no turn began, or AbortError when it was stopped before; then nothing is shown of it.
   */
  async send(text: string): Promise<void> {
    const said = this.conversation.say(text);
    this.#sending = new AbortController();
    this.#is("Waiting for the model");
    let bytes: Bytes | null;
    try {
      bytes = await this.#ask(text, this.#sending.signal);
    } catch (error) {
      said.remove();
      this.#is("");
      throw error;
    } finally {
      this.#sending = null;
    }
    await this.#follow(bytes, text, true);
  }

  /**
   * The stream of the turn that a question starts; null when that turn can't be read from its
   * beginning any more. When the connection breaks without an answer, the question is sent again
   * with the same key: if it had arrived, that joins its turn.
   */
  async #ask(text: string, signal: AbortSignal): Promise<Bytes | null> {
    const { key } = (this.#unsure =
      this.#unsure?.text === text ? this.#unsure : { text, key: newId() });
    for (let failures = 0; ; failures += 1) {
      try {
        const bytes = await this.#api.send(this.id, text, key, signal);
        this.#unsure = null;
        return bytes;
      } catch (error) {
        const unsure = error instanceof ApiError && error.code === "unreachable";
        const wait = WAITS[failures];
        if (!unsure) this.#unsure = null;
        if (error instanceof ApiError && error.code === "resync_required") return null;
        if (!unsure || wait === undefined) throw error;
        this.#is("Connecting again");
        await new Promise((resolve) => {
          setTimeout(resolve, wait);
          signal.addEventListener("abort", resolve);
        });
      }
    }
  }

  /** Stops the turn; its stream says when it has stopped. Raises ApiError. */
  async stop(): Promise<void> {
    if (this.#sending) this.#sending.abort();
    else await this.#api.abort(this.id);
  }

  /** Reads a turn to its end. `whole`: everything of it is shown, what was asked too. */
  async #follow(bytes: Bytes | null, asked: string, whole: boolean): Promise<void> {
    let resync = false;
    this.conversation.begin();
    this.#is("Thinking");
    this.#hear.turn();
    try {
      const resume = (after: string) => this.#api.resume(this.id, after);
      for await (const event of readTurn(bytes, resume, () => this.#is("Connecting again"))) {
        if (isEnd(event)) {
          await this.#end(event, asked, whole);
          return;
        }
        this.conversation.take(event);
        if (event.type === "content") this.#is("Answering");
        else if (event.type === "tool_call") this.#is(`Calling ${event.tool_call.function.name}`);
        else if (event.type === "tool_start") this.#is(`Running ${event.tool_name}`);
        else this.#is("Thinking");
      }
      await this.#showHistory(); // it ended while we weren't connected
    } catch (error) {
      resync = error instanceof ApiError && error.code === "resync_required";
      if (!resync) this.#lost(error);
    } finally {
      this.#is("");
      this.#hear.turn();
    }
    if (resync) await this.#reload();
  }

  async #end(end: TurnEnd, asked: string, whole: boolean): Promise<void> {
    const gone = end.type === "abort" && end.reason === "deleted";
    // What was interrupted is stored in its own way, and what was asked may not be shown yet.
    if (!gone && (end.type !== "done" || !whole)) await this.#showHistory().catch(() => undefined);
    if (end.type === "error") {
      const again = end.retryable && asked !== "";
      const label = end.retry_after ? `Try again in ${end.retry_after} s` : "Try again";
      this.conversation.end(
        end.error,
        "error",
        again ? { label, go: () => void this.#again(asked) } : undefined,
      );
    } else if (end.type === "abort") {
      this.conversation.end(STOPPED[end.reason], "abort");
    }
  }

  async #again(text: string): Promise<void> {
    if (this.running) return;
    try {
      await this.send(text);
    } catch (error) {
      if (!(error instanceof ApiError)) return;
      const go = () => void this.#again(text);
      this.conversation.end(error.message, "error", { label: "Try again", go });
    }
  }

  async #reload(): Promise<void> {
    if (this.running) return;
    try {
      await this.open();
    } catch (error) {
      this.#lost(error);
    }
  }

  #lost(error: unknown): void {
    const known = error instanceof ApiError;
    if (!known) console.error(error);
    const why = known ? error.message : "The server sent something that this page can't read.";
    this.conversation.end(why, "error", { label: "Load again", go: () => void this.#reload() });
  }

  async #showHistory(): Promise<void> {
    let messages: OpenAIMessage[] = [];
    let more = true;
    for (let page = 0; more && page < this.#pages; page += 1) {
      const history = await this.#api.history(this.id, messages[0]?.id);
      messages = [...history.messages, ...messages];
      more = history.has_more;
    }
    const earlier = () => {
      this.#pages += 1;
      void this.#reload();
    };
    this.conversation.show(messages, more ? earlier : null);
  }

  #is(doing: string): void {
    if (this.doing === doing) return;
    this.doing = doing;
    // A screen reader waits with the answer until it is whole; the status says what goes on.
    this.conversation.root.setAttribute("aria-busy", String(this.running));
    this.#hear.doing();
  }
}
