import type {
  ChatRequest,
  ChatSession,
  ConversationHistory,
  Problem,
  RenameSessionRequest,
  SessionList,
} from "copilot-contracts/gns3-chat";

export type Bytes = ReadableStream<Uint8Array>;

/** The server refused a request, or couldn't be asked. The message is a sentence for people. */
export class ApiError extends Error {
  /** `unreachable`: no answer came; `unknown`: an answer that isn't ours. */
  readonly code: Problem["code"] | "unreachable" | "unknown";
  /** The HTTP status; 0 without an answer. */
  readonly status: number;

  constructor(code: ApiError["code"], status: number, message: string) {
    super(message);
    this.code = code;
    this.status = status;
  }
}

/** The chat API of one project. Every method raises ApiError. */
export class Api {
  /** A bearer token, where the server wants one. Kept here and nowhere else. */
  token = "";
  readonly #base: string;

  constructor(projectId: string) {
    this.#base = `/v3/projects/${encodeURIComponent(projectId)}/chat`;
  }

  async sessions(): Promise<SessionList> {
    return (await this.#ask("GET", "/sessions?limit=1000")).json();
  }

  /** The newest messages, or those before the message with the id `before`. */
  async history(sessionId: string, before?: string): Promise<ConversationHistory> {
    const query = before === undefined ? "" : `?before=${encodeURIComponent(before)}`;
    return (await this.#ask("GET", `/sessions/${sessionId}/history${query}`)).json();
  }

  async rename(sessionId: string, title: string): Promise<ChatSession> {
    const body: RenameSessionRequest = { title };
    return (await this.#ask("PATCH", `/sessions/${sessionId}`, { body })).json();
  }

  async pin(sessionId: string, pinned: boolean): Promise<ChatSession> {
    return (await this.#ask(pinned ? "PUT" : "DELETE", `/sessions/${sessionId}/pin`)).json();
  }

  async delete(sessionId: string): Promise<void> {
    await this.#ask("DELETE", `/sessions/${sessionId}`);
  }

  /** Stops the session's turn; returns when it is stored. */
  async abort(sessionId: string): Promise<void> {
    await this.#ask("POST", `/sessions/${sessionId}/abort`);
  }

  /**
   * Says something; the answer is the turn's event stream. Asked again with the same `key`, it
   * is the stream of the turn that the first request started.
   */
  async send(
    sessionId: string,
    message: string,
    key: string,
    signal: AbortSignal,
  ): Promise<Bytes> {
    const body: ChatRequest = { message, session_id: sessionId };
    const headers = { "Idempotency-Key": key };
    return stream(await this.#ask("POST", "/stream", { body, headers, signal }));
  }

  /** The stream of the turn that runs, from behind the event `after`; null when none runs. */
  async resume(sessionId: string, after: string): Promise<Bytes | null> {
    const headers = after ? { "Last-Event-ID": after } : {};
    const answer = await this.#ask("GET", `/sessions/${sessionId}/stream`, { headers });
    return answer.status === 204 ? null : stream(answer);
  }

  async #ask(
    method: string,
    path: string,
    { body, headers = {}, signal }: Partial<Asked> = {},
  ): Promise<Response> {
    let answer: Response;
    try {
      answer = await fetch(this.#base + path, {
        method,
        body: body === undefined ? null : JSON.stringify(body),
        headers: {
          ...headers,
          ...(body === undefined ? {} : { "Content-Type": "application/json" }),
          ...(this.token ? { Authorization: `Bearer ${this.token}` } : {}),
        },
        signal: signal ?? null,
        cache: "no-store",
      });
    } catch (error) {
      if (signal?.aborted) throw error;
      throw new ApiError("unreachable", 0, "The server can't be reached. Does it still run?");
    }
    if (!answer.ok) throw await refusal(answer);
    return answer;
  }
}

interface Asked {
  body: object;
  headers: Record<string, string>;
  signal: AbortSignal;
}

function stream(answer: Response): Bytes {
  if (answer.body && answer.headers.get("content-type")?.startsWith("text/event-stream")) {
    return answer.body;
  }
  throw new ApiError("unknown", answer.status, "The server answered without an event stream.");
}

async function refusal(answer: Response): Promise<ApiError> {
  if (answer.headers.get("content-type")?.startsWith("application/problem+json")) {
    const problem: Problem = await answer.json();
    return new ApiError(problem.code, answer.status, problem.detail);
  }
  return new ApiError(
    "unknown",
    answer.status,
    `The server answered ${answer.status} and didn't say why.`,
  );
}
