// Built from adapters/web/src by `npm run build` in adapters/web. Don't edit: change the source.

// src/api.ts
var ApiError = class extends Error {
  /** `unreachable`: no answer came; `unknown`: an answer that isn't ours. */
  code;
  /** The HTTP status; 0 without an answer. */
  status;
  constructor(code, status2, message2) {
    super(message2);
    this.code = code;
    this.status = status2;
  }
};
var Api = class {
  /** A bearer token, where the server wants one. Kept here and nowhere else. */
  token = "";
  #base;
  constructor(projectId) {
    this.#base = `/v3/projects/${encodeURIComponent(projectId)}/chat`;
  }
  async sessions() {
    return (await this.#ask("GET", "/sessions?limit=1000")).json();
  }
  /** The newest messages, or those before the message with the id `before`. */
  async history(sessionId, before) {
    const query = before === void 0 ? "" : `?before=${encodeURIComponent(before)}`;
    return (await this.#ask("GET", `/sessions/${sessionId}/history${query}`)).json();
  }
  async rename(sessionId, title2) {
    const body = { title: title2 };
    return (await this.#ask("PATCH", `/sessions/${sessionId}`, { body })).json();
  }
  async pin(sessionId, pinned) {
    return (await this.#ask(pinned ? "PUT" : "DELETE", `/sessions/${sessionId}/pin`)).json();
  }
  async delete(sessionId) {
    await this.#ask("DELETE", `/sessions/${sessionId}`);
  }
  /** Stops the session's turn; returns when it is stored. */
  async abort(sessionId) {
    await this.#ask("POST", `/sessions/${sessionId}/abort`);
  }
  /**
   * Says something; the answer is the turn's event stream. Asked again with the same `key`, it
   * is the stream of the turn that the first request started.
   */
  async send(sessionId, message2, key, signal) {
    const body = { message: message2, session_id: sessionId };
    const headers = { "Idempotency-Key": key };
    return stream(await this.#ask("POST", "/stream", { body, headers, signal }));
  }
  /** The stream of the turn that runs, from behind the event `after`; null when none runs. */
  async resume(sessionId, after) {
    const headers = after ? { "Last-Event-ID": after } : {};
    const answer = await this.#ask("GET", `/sessions/${sessionId}/stream`, { headers });
    return answer.status === 204 ? null : stream(answer);
  }
  async #ask(method, path, { body, headers = {}, signal } = {}) {
    let answer;
    try {
      answer = await fetch(this.#base + path, {
        method,
        body: body === void 0 ? null : JSON.stringify(body),
        headers: {
          ...headers,
          ...body === void 0 ? {} : { "Content-Type": "application/json" },
          ...this.token ? { Authorization: `Bearer ${this.token}` } : {}
        },
        signal: signal ?? null,
        cache: "no-store"
      });
    } catch (error) {
      if (signal?.aborted) throw error;
      throw new ApiError("unreachable", 0, "The server can't be reached. Does it still run?");
    }
    if (!answer.ok) throw await refusal(answer);
    return answer;
  }
};
function stream(answer) {
  if (answer.body && answer.headers.get("content-type")?.startsWith("text/event-stream")) {
    return answer.body;
  }
  throw new ApiError("unknown", answer.status, "The server answered without an event stream.");
}
async function refusal(answer) {
  if (answer.headers.get("content-type")?.startsWith("application/problem+json")) {
    const problem = await answer.json();
    return new ApiError(problem.code, answer.status, problem.detail);
  }
  return new ApiError(
    "unknown",
    answer.status,
    `The server answered ${answer.status} and didn't say why.`
  );
}

// src/element.ts
function element(tag, className = "", ...content) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  made.append(...content);
  return made;
}
function button(label, pressed) {
  const made = element("button", "", label);
  made.type = "button";
  made.addEventListener("click", pressed);
  return made;
}
function part(id, kind) {
  const found = document.getElementById(id);
  if (!(found instanceof kind)) throw new Error(`index.html has no ${kind.name} #${id}.`);
  return found;
}

// src/dialogs.ts
async function askTitle(title2) {
  const input = part("rename-title", HTMLInputElement);
  input.value = title2;
  input.select();
  return await answered(part("rename-dialog", HTMLDialogElement)) ? input.value.trim() : null;
}
async function askDelete(title2) {
  part("delete-title", HTMLElement).textContent = title2;
  return answered(part("delete-dialog", HTMLDialogElement));
}
function answered(dialog) {
  const form = dialog.querySelector("form");
  const cancel = dialog.querySelector("button.cancel");
  if (!form || !cancel) throw new Error(`#${dialog.id} needs a form and a cancel button.`);
  form.onsubmit = (event) => {
    event.preventDefault();
    dialog.close("yes");
  };
  cancel.onclick = () => dialog.close("");
  dialog.returnValue = "";
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => resolve(dialog.returnValue === "yes"), { once: true });
  });
}

// src/identifier.ts
function newId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

// src/json_text.ts
var TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]|[^\s"{}[\],:]+/g;
var WIDTH = 72;
var DEEPEST = 20;
function laidOut(text) {
  if (!isJson(text)) return text;
  const tokens = text.match(TOKEN) ?? [];
  const short = shortContainers(tokens);
  let depth = 0;
  let inside = 0;
  let out = "";
  const line = () => "\n" + "  ".repeat(Math.min(depth, DEEPEST));
  tokens.forEach((token2, at) => {
    const opens = isOpening(token2);
    if (isClosing(token2)) {
      if (inside > 0) inside -= 1;
      else {
        depth -= 1;
        out += line();
      }
    }
    out += token2.startsWith('"') ? broken(token2, line() + "  ") : token2;
    if (opens && (inside > 0 || short.has(at))) inside += 1;
    else if (opens) {
      depth += 1;
      out += line();
    } else if (token2 === ",") out += inside > 0 ? " " : line();
    else if (token2 === ":") out += " ";
  });
  return out;
}
function inShort(text) {
  const tokens = isJson(text) ? text.match(TOKEN) ?? [] : [text];
  const values = tokens.filter((token2, at) => !/^[{}[\],:]$/.test(token2) && tokens[at + 1] !== ":");
  const plain = values.map((value) => /^".*"$/.test(value) ? String(JSON.parse(value)) : value);
  return plain.join(", ").replace(/\s+/g, " ").trim().slice(0, 200);
}
function isJson(text) {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
function shortContainers(tokens) {
  const short = /* @__PURE__ */ new Set();
  const open2 = [];
  let length = 0;
  tokens.forEach((token2, at) => {
    if (isOpening(token2)) open2.push({ at, from: length });
    length += token2.length + (token2 === "," || token2 === ":" ? 1 : 0);
    if (token2.startsWith('"') && broken(token2, "\n") !== token2) length += WIDTH;
    if (!isClosing(token2)) return;
    const begun = open2.pop();
    if (begun && length - begun.from <= WIDTH) short.add(begun.at);
  });
  return short;
}
function isOpening(token2) {
  return token2 === "{" || token2 === "[";
}
function isClosing(token2) {
  return token2 === "}" || token2 === "]";
}
function broken(string, line) {
  return string.replace(
    /\\./g,
    (escape, at) => escape === "\\n" && at + 3 < string.length ? escape + line : escape
  );
}

// src/call_card.ts
var WORDS = {
  called: "called",
  running: "running",
  success: "done",
  error: "failed",
  blocked: "blocked",
  aborted: "unfinished"
};
var CallCard = class {
  root = element("details", "call");
  #short = element("span", "short");
  #state = element("span", "state");
  #arguments = section("Arguments");
  #result = section("Result");
  constructor(name) {
    const summary = element("summary", "", element("code", "", name), this.#short, this.#state);
    this.root.append(summary, this.#arguments.root, this.#result.root);
    this.root.open = true;
    this.#is("called");
  }
  /** The arguments so far; `whole` when nothing more will come. Older servers send an object. */
  argue(told, whole) {
    const text = typeof told === "string" ? told : JSON.stringify(told);
    const said = text.trim();
    this.#arguments.root.hidden = said === "" || said === "{}";
    this.#arguments.text.textContent = whole ? laidOut(text) : text;
    this.#short.textContent = whole ? inShort(text) : "";
  }
  run() {
    this.#is("running");
  }
  /** `size`: the whole result in bytes, when `output` is only a part of it. */
  end(status2, output, size) {
    this.#is(status2);
    const failed = status2 === "error" || status2 === "blocked";
    if (!failed && !this.root.matches(":focus-within")) this.root.open = false;
    if (status2 === "aborted") return;
    this.#result.root.hidden = false;
    this.#result.text.textContent = laidOut(output);
    this.#result.note.textContent = size === void 0 ? "" : `Only the beginning and the end of ${size.toLocaleString()} bytes.`;
  }
  #is(state) {
    this.root.dataset["state"] = state;
    this.#state.textContent = WORDS[state];
  }
};
function section(label) {
  const text = element("pre");
  text.tabIndex = 0;
  text.setAttribute("aria-label", label);
  const note = element("small");
  const root = element("div", "section", element("span", "label", label), text, note);
  root.hidden = true;
  return { root, text, note };
}

// src/conversation.ts
var Conversation = class {
  root = element("div", "messages");
  #messages = /* @__PURE__ */ new Map();
  /** The newest call with an id: some models number their calls anew in every turn. */
  #calls = /* @__PURE__ */ new Map();
  /** Messages that the stream being read has begun or begun again. */
  #streamed = /* @__PURE__ */ new Set();
  get empty() {
    return this.root.childElementCount === 0;
  }
  /** Shows stored messages instead of whatever is here. `earlier` is called for older ones. */
  show(messages2, earlier) {
    this.root.replaceChildren();
    this.#messages.clear();
    this.#calls.clear();
    this.#streamed.clear();
    if (earlier) this.root.append(button("Show earlier messages", earlier));
    for (const message2 of messages2) this.#showStored(message2);
  }
  #showStored(stored) {
    switch (stored.role) {
      case "user":
        this.say(stored.content);
        return;
      case "assistant": {
        const message2 = this.#message(stored.id);
        message2.append(stored.content);
        for (const call of stored.tool_calls ?? []) {
          this.#call(message2, call.id, call.function.name).argue(call.function.arguments, true);
        }
        if (stored.metadata?.interrupted) message2.interrupt();
        return;
      }
      case "tool": {
        const { status: status2 = "success", original_size: size } = stored.metadata ?? {};
        const card = this.#answered(stored.id, stored.tool_call_id ?? "", stored.name ?? "tool");
        card.end(status2, stored.content, size);
        return;
      }
      case "system":
        return;
    }
  }
  /** Shows what the user says. */
  say(text) {
    const said = element("article", "message user", element("p", "", text));
    said.setAttribute("aria-label", "You");
    this.root.append(said);
    return said;
  }
  /** A stream begins. What it says of a message replaces what is known of that message. */
  begin() {
    this.#streamed.clear();
    for (const old of this.root.querySelectorAll(".ending button")) old.remove();
  }
  /** Shows an event of the stream. */
  take(event) {
    switch (event.type) {
      case "content":
        this.#growing(event.message_id).append(event.content);
        return;
      case "tool_call": {
        const { id, function: called } = event.tool_call;
        const message2 = this.#growing(event.message_id);
        this.#call(message2, id, called.name).argue(called.arguments, called.complete === true);
        return;
      }
      case "tool_start": {
        const message2 = this.#growing(event.message_id);
        this.#call(message2, event.tool_call_id, event.tool_name).run();
        return;
      }
      case "tool_end": {
        const card = this.#answered(event.message_id, event.tool_call_id, event.tool_name);
        card.end(event.status, event.tool_output, event.original_size);
        return;
      }
      default:
        return event;
    }
  }
  /** The turn has ended otherwise than by an answer; `again` offers a way on. */
  end(text, kind, again) {
    if (kind === "abort") this.root.querySelector(":scope > :last-child > .interrupted")?.remove();
    const ending = element("div", `ending ${kind}`, element("p", "", text));
    if (again) ending.append(button(again.label, again.go));
    this.root.append(ending);
  }
  #growing(id) {
    if (!this.#streamed.has(id)) {
      this.#streamed.add(id);
      this.#messages.get(id)?.reset();
    }
    return this.#message(id);
  }
  #message(id) {
    let message2 = this.#messages.get(id);
    if (!message2) {
      message2 = new Message();
      this.#messages.set(id, message2);
      this.root.append(message2.root);
    }
    return message2;
  }
  #call(message2, id, name) {
    const card = message2.call(id, name);
    this.#calls.set(id, card);
    return card;
  }
  /** The card of the call that a result answers; the call itself may be on an older page. */
  #answered(messageId, callId, name) {
    return this.#calls.get(callId) ?? this.#call(this.#message(messageId), callId, name);
  }
};
var Message = class {
  root = element("article", "message assistant");
  #text = document.createTextNode("");
  #paragraph = element("p", "", this.#text);
  #calls = /* @__PURE__ */ new Map();
  constructor() {
    this.root.setAttribute("aria-label", "Copilot");
    this.#paragraph.hidden = true;
    this.root.append(this.#paragraph);
  }
  append(text) {
    this.#text.appendData(text);
    this.#paragraph.hidden = this.#text.length === 0;
  }
  call(id, name) {
    let card = this.#calls.get(id);
    if (!card) {
      card = new CallCard(name);
      this.#calls.set(id, card);
      this.root.append(card.root);
    }
    return card;
  }
  interrupt() {
    this.root.append(element("small", "interrupted", "Interrupted"));
  }
  reset() {
    this.#text.data = "";
    this.#paragraph.hidden = true;
    this.#calls.clear();
    this.root.replaceChildren(this.#paragraph);
  }
};

// ../../contracts/typescript/src/sse.ts
var MAX_MESSAGE = 16 * 1024 * 1024;
var SseDecoder = class {
  /** The last event id seen, as in `Last-Event-ID`. */
  lastEventId = "";
  /** How long to wait before connecting again, in milliseconds, when the server said so. */
  retry = void 0;
  #maxMessage;
  #decoder = new TextDecoder();
  /** The pieces of a line whose end hasn't come, and the length of the block so far. */
  #line = [];
  #size = 0;
  #afterCr = false;
  #event = "";
  #data = [];
  #id = "";
  constructor(maxMessage = MAX_MESSAGE) {
    this.#maxMessage = maxMessage;
  }
  /** The messages that these bytes finish. Throws RangeError when one becomes too large. */
  feed(bytes) {
    return this.#read(this.#decoder.decode(bytes, { stream: true }));
  }
  /**
   * The end of the stream. A last block that no blank line ended is discarded, as the algorithm
   * says; true when there was one.
   */
  close() {
    this.#read(this.#decoder.decode());
    const unfinished = this.#size > 0;
    this.#line = [];
    this.#begin();
    return unfinished;
  }
  #read(text) {
    const messages2 = [];
    let start2 = this.#afterCr && text.startsWith("\n") ? 1 : 0;
    if (text) this.#afterCr = text.endsWith("\r");
    const lineEnd = /\r\n?|\n/g;
    for (; ; ) {
      lineEnd.lastIndex = start2;
      const found = lineEnd.exec(text);
      const end = found ? found.index : text.length;
      this.#line.push(text.slice(start2, end));
      this.#size += end - start2;
      if (this.#size > this.#maxMessage) {
        throw new RangeError(`A message of the stream exceeds ${this.#maxMessage} characters.`);
      }
      if (!found) return messages2;
      const line = this.#line.join("");
      this.#line = [];
      const message2 = this.#readLine(line);
      if (message2) messages2.push(message2);
      start2 = lineEnd.lastIndex;
    }
  }
  #readLine(line) {
    if (line === "") return this.#dispatch();
    const colon = line.indexOf(":");
    const name = colon < 0 ? line : line.slice(0, colon);
    let value = colon < 0 ? "" : line.slice(colon + 1);
    if (value.startsWith(" ")) value = value.slice(1);
    if (name === "data") this.#data.push(value);
    else if (name === "event") this.#event = value;
    else if (name === "id" && !value.includes("\0")) this.#id = value;
    else if (name === "retry" && /^[0-9]+$/.test(value)) this.retry = Number(value);
    else if (name === "") this.#size -= line.length;
    return void 0;
  }
  #dispatch() {
    this.lastEventId = this.#id;
    const message2 = {
      event: this.#event || "message",
      data: this.#data.join("\n"),
      id: this.#id
    };
    const empty = this.#data.length === 0;
    this.#begin();
    return empty ? void 0 : message2;
  }
  #begin() {
    this.#event = "";
    this.#data = [];
    this.#size = 0;
  }
};

// ../../contracts/typescript/src/generated/gns3-chat.ts
var EVENTS = {
  content: ["type", "content", "message_id", "session_id"],
  tool_call: ["type", "tool_call", "message_id", "session_id"],
  tool_start: ["type", "tool_name", "tool_call_id", "message_id", "session_id"],
  tool_end: [
    "type",
    "tool_name",
    "tool_call_id",
    "tool_output",
    "status",
    "message_id",
    "session_id"
  ],
  error: ["type", "error", "code", "retryable", "session_id"],
  done: ["type", "session_id"],
  heartbeat: ["type", "session_id"],
  abort: ["type", "reason", "session_id"]
};
function readEvent(message2) {
  const data = JSON.parse(message2.data);
  const keys = typeof data === "object" && data !== null ? data : {};
  const name = keys["type"];
  if (typeof name !== "string") {
    throw new TypeError("A message of the stream names no event.");
  }
  if (!has(EVENTS, name)) return { known: false, name, data };
  for (const key of EVENTS[name]) {
    if (!has(keys, key)) {
      throw new TypeError(`The event ${name} lacks its key ${key}.`);
    }
  }
  return { known: true, event: data };
}
function has(object, key) {
  return Object.prototype.hasOwnProperty.call(object, key);
}

// src/turn.ts
var WAITS = [200, 500, 1e3, 2e3, 4e3, 8e3, 8e3, 8e3, 8e3, 8e3];
var SILENCE = 6e4;
async function* readTurn(first, resume, broken2) {
  let bytes = first;
  let after = "";
  for (let failures = 0; ; failures += 1) {
    for await (const message2 of bytes ? messages(bytes) : []) {
      failures = 0;
      after = message2.id || after;
      const read = readEvent(message2);
      if (!read.known) report(read.name);
      else if (read.event.type !== "heartbeat") {
        yield read.event;
        if (isEnd(read.event)) return;
      }
    }
    broken2();
    const wait = WAITS[failures];
    if (wait === void 0) {
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
function isEnd(event) {
  return event.type === "done" || event.type === "error" || event.type === "abort";
}
async function* messages(bytes) {
  const reader = bytes.getReader();
  const decoder = new SseDecoder();
  try {
    for (; ; ) {
      const chunk = await next(reader);
      if (!chunk) return;
      yield* decoder.feed(chunk);
    }
  } finally {
    reader.cancel().catch(() => void 0);
  }
}
async function next(reader) {
  const timer = setTimeout(() => void reader.cancel(), SILENCE);
  try {
    return (await reader.read()).value ?? null;
  } catch {
    return null;
  } finally {
    clearTimeout(timer);
  }
}
var reported = /* @__PURE__ */ new Set();
function report(name) {
  if (reported.has(name)) return;
  reported.add(name);
  console.warn(`An event that this page doesn't know was left out: ${name}`);
}

// src/session.ts
var STOPPED = {
  user: "Stopped.",
  deleted: "The session was deleted.",
  disconnected: "Stopped, because nobody was reading.",
  shutdown: "Stopped, because the server ended."
};
var WAITS2 = [200, 1e3, 2e3];
var Session = class {
  constructor(id, api2, hear) {
    this.id = id;
    this.#api = api2;
    this.#hear = hear;
  }
  id;
  conversation = new Conversation();
  /** What goes on now, in a few words; empty when nothing does. */
  doing = "";
  #api;
  #hear;
  /** How many pages of history are shown. */
  #pages = 1;
  /** Ends the request that waits for a turn to begin. */
  #sending = null;
  /** The newest question, while no answer says whether it has arrived: its turn may run. */
  #unsure = null;
  get running() {
    return this.doing !== "";
  }
  /** Shows what is stored, and goes on reading a turn that runs. Raises ApiError. */
  async open() {
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
  async send(text) {
    const said = this.conversation.say(text);
    this.#sending = new AbortController();
    this.#is("Waiting for the model");
    let bytes;
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
  async #ask(text, signal) {
    const { key } = this.#unsure = this.#unsure?.text === text ? this.#unsure : { text, key: newId() };
    for (let failures = 0; ; failures += 1) {
      try {
        const bytes = await this.#api.send(this.id, text, key, signal);
        this.#unsure = null;
        return bytes;
      } catch (error) {
        const unsure = error instanceof ApiError && error.code === "unreachable";
        const wait = WAITS2[failures];
        if (!unsure) this.#unsure = null;
        if (error instanceof ApiError && error.code === "resync_required") return null;
        if (!unsure || wait === void 0) throw error;
        this.#is("Connecting again");
        await new Promise((resolve) => {
          setTimeout(resolve, wait);
          signal.addEventListener("abort", resolve);
        });
      }
    }
  }
  /** Stops the turn; its stream says when it has stopped. Raises ApiError. */
  async stop() {
    if (this.#sending) this.#sending.abort();
    else await this.#api.abort(this.id);
  }
  /** Reads a turn to its end. `whole`: everything of it is shown, what was asked too. */
  async #follow(bytes, asked, whole) {
    let resync = false;
    this.conversation.begin();
    this.#is("Thinking");
    this.#hear.turn();
    try {
      const resume = (after) => this.#api.resume(this.id, after);
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
      await this.#showHistory();
    } catch (error) {
      resync = error instanceof ApiError && error.code === "resync_required";
      if (!resync) this.#lost(error);
    } finally {
      this.#is("");
      this.#hear.turn();
    }
    if (resync) await this.#reload();
  }
  async #end(end, asked, whole) {
    const gone = end.type === "abort" && end.reason === "deleted";
    if (!gone && (end.type !== "done" || !whole)) await this.#showHistory().catch(() => void 0);
    if (end.type === "error") {
      const again = end.retryable && asked !== "";
      const label = end.retry_after ? `Try again in ${end.retry_after} s` : "Try again";
      this.conversation.end(
        end.error,
        "error",
        again ? { label, go: () => void this.#again(asked) } : void 0
      );
    } else if (end.type === "abort") {
      this.conversation.end(STOPPED[end.reason], "abort");
    }
  }
  async #again(text) {
    if (this.running) return;
    try {
      await this.send(text);
    } catch (error) {
      if (!(error instanceof ApiError)) return;
      const go = () => void this.#again(text);
      this.conversation.end(error.message, "error", { label: "Try again", go });
    }
  }
  async #reload() {
    if (this.running) return;
    try {
      await this.open();
    } catch (error) {
      this.#lost(error);
    }
  }
  #lost(error) {
    const known = error instanceof ApiError;
    if (!known) console.error(error);
    const why = known ? error.message : "The server sent something that this page can't read.";
    this.conversation.end(why, "error", { label: "Load again", go: () => void this.#reload() });
  }
  async #showHistory() {
    let messages2 = [];
    let more = true;
    for (let page = 0; more && page < this.#pages; page += 1) {
      const history2 = await this.#api.history(this.id, messages2[0]?.id);
      messages2 = [...history2.messages, ...messages2];
      more = history2.has_more;
    }
    const earlier = () => {
      this.#pages += 1;
      void this.#reload();
    };
    this.conversation.show(messages2, more ? earlier : null);
  }
  #is(doing) {
    if (this.doing === doing) return;
    this.doing = doing;
    this.conversation.root.setAttribute("aria-busy", String(this.running));
    this.#hear.doing();
  }
};

// src/session_list.ts
var SessionList = class {
  #root;
  constructor(root) {
    this.#root = root;
  }
  show(sessions2, open2, running) {
    const focused = document.activeElement?.getAttribute("href");
    this.#root.replaceChildren(
      ...sessions2.map((session) => item(session, session.thread_id === open2, running))
    );
    if (focused) this.#root.querySelector(`[href="${CSS.escape(focused)}"]`)?.focus();
  }
};
function item(session, open2, running) {
  const count = session.message_count;
  const about = [count === 1 ? "1 message" : `${count} messages`];
  if (session.pinned) about.unshift("pinned");
  if (running(session.thread_id)) about.unshift("at work");
  const link = element(
    "a",
    "session",
    element("span", "session-title", session.title),
    element("small", "", about.join(" · "))
  );
  link.href = `#${session.thread_id}`;
  if (open2) link.setAttribute("aria-current", "page");
  return element("li", "", link);
}

// src/page.ts
var SESSION_ID = /^[A-Za-z0-9_-]{1,64}$/;
var api = new Api(decodeURIComponent(location.pathname.split("/")[2] ?? ""));
var list = new SessionList(part("session-list", HTMLUListElement));
var title = part("title", HTMLHeadingElement);
var actions = part("session-actions", HTMLDivElement);
var pin = part("pin", HTMLButtonElement);
var log = part("conversation", HTMLDivElement);
var welcome = part("welcome", HTMLDivElement);
var notice = part("notice", HTMLDivElement);
var status = part("status", HTMLParagraphElement);
var composer = part("composer", HTMLFormElement);
var writing = part("writing", HTMLDivElement);
var newSession = part("new-session", HTMLAnchorElement);
var message = part("message", HTMLTextAreaElement);
var send = part("send", HTMLButtonElement);
var stop = part("stop", HTMLButtonElement);
var tokenForm = part("token-form", HTMLFormElement);
var token = part("token", HTMLInputElement);
var toggle = part("toggle-sessions", HTMLButtonElement);
var sessions = [];
var missing = false;
var refreshes = 0;
var held = /* @__PURE__ */ new Map();
var open = makeSession(newId());
function makeSession(id) {
  const turn = () => {
    if (open.id === id && location.hash.slice(1) !== id) history.pushState(null, "", `#${id}`);
    void refresh();
  };
  return new Session(id, api, { doing: show, turn });
}
function show() {
  const known = sessions.find((session) => session.thread_id === open.id);
  const name = missing ? "Unknown project" : known?.title ?? "New session";
  title.textContent = name;
  document.title = known ? `${name} – Copilot` : "Copilot";
  actions.hidden = !known;
  pin.textContent = known?.pinned ? "Unpin" : "Pin";
  writing.hidden = newSession.hidden = missing;
  welcome.hidden = missing || !open.conversation.empty || location.hash.slice(1) === open.id;
  status.textContent = open.doing && `${open.doing} …`;
  send.hidden = open.running;
  stop.hidden = !open.running;
  list.show(sessions, open.id, (id) => held.get(id)?.running ?? false);
}
function tell(text, again) {
  notice.replaceChildren(text);
  if (again) notice.append(button("Try again", again));
  notice.hidden = false;
}
function hush() {
  notice.hidden = true;
}
async function attempt(work, again) {
  try {
    await work();
    return true;
  } catch (error) {
    missing ||= error instanceof ApiError && error.code === "project_not_found";
    if (error instanceof ApiError && error.status === 401) askToken();
    else if (error instanceof ApiError) tell(error.message, again);
    else if (!(error instanceof DOMException && error.name === "AbortError")) throw error;
    return false;
  } finally {
    show();
  }
}
async function refresh() {
  const number = refreshes += 1;
  await attempt(async () => {
    const found = await api.sessions();
    missing = false;
    if (number === refreshes) sessions = found;
  }, start);
}
async function route() {
  const id = location.hash.slice(1);
  hush();
  sidebar(false);
  for (const [heldId, session2] of held) if (!session2.running) held.delete(heldId);
  const named = SESSION_ID.test(id);
  const session = (named ? held.get(id) : void 0) ?? makeSession(named ? id : newId());
  const fresh = named && !held.has(id);
  open = session;
  held.set(session.id, session);
  for (const old of log.querySelectorAll(".messages")) old.remove();
  log.append(session.conversation.root);
  show();
  if (fresh) await attempt(() => session.open(), () => void route());
  if (open === session) {
    toEnd();
    message.focus();
  }
}
function start() {
  hush();
  void refresh();
  void route();
}
async function say(text) {
  if (text.trim() === "" || open.running) return;
  const session = open;
  hush();
  message.value = "";
  following = true;
  const began = await attempt(() => session.send(text));
  if (!began && message.value === "") message.value = text;
}
composer.addEventListener("submit", (event) => {
  event.preventDefault();
  void say(message.value);
});
message.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
    event.preventDefault();
    composer.requestSubmit();
  }
});
for (const example of document.querySelectorAll(".example")) {
  example.addEventListener("click", () => void say(example.textContent.trim()));
}
stop.addEventListener("click", () => {
  message.focus();
  void attempt(() => open.stop());
});
part("rename", HTMLButtonElement).addEventListener("click", async () => {
  const { id } = open;
  const given = await askTitle(title.textContent);
  if (given && await attempt(async () => void await api.rename(id, given))) await refresh();
});
pin.addEventListener("click", async () => {
  const { id } = open;
  const pinned = sessions.some((session) => session.thread_id === id && session.pinned);
  if (await attempt(async () => void await api.pin(id, !pinned))) await refresh();
});
part("delete", HTMLButtonElement).addEventListener("click", async () => {
  const { id } = open;
  if (!await askDelete(title.textContent)) return;
  if (!await attempt(() => api.delete(id))) return;
  held.delete(id);
  if (open.id === id) location.hash = "";
  await refresh();
});
function askToken() {
  if (!tokenForm.hidden) return;
  tokenForm.hidden = false;
  token.focus();
}
tokenForm.addEventListener("submit", (event) => {
  event.preventDefault();
  api.token = token.value.trim();
  token.value = "";
  tokenForm.hidden = true;
  start();
});
function sidebar(shown) {
  document.body.classList.toggle("sessions-shown", shown);
  toggle.setAttribute("aria-expanded", String(shown));
}
document.addEventListener("click", (event) => {
  sidebar(event.target === toggle && toggle.getAttribute("aria-expanded") !== "true");
});
addEventListener("keydown", (event) => {
  if (event.key === "Escape") sidebar(false);
});
var following = true;
function toEnd() {
  following = true;
  log.scrollTop = log.scrollHeight;
}
log.addEventListener("scroll", () => {
  following = log.scrollHeight - log.scrollTop - log.clientHeight < 40;
});
function follow() {
  if (following) log.scrollTop = log.scrollHeight;
}
new MutationObserver(follow).observe(log, { childList: true, characterData: true, subtree: true });
new ResizeObserver(follow).observe(log);
addEventListener("hashchange", () => void (missing ? start() : route()));
start();
