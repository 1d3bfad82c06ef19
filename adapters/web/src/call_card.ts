import { element } from "./element.ts";
import { inShort, laidOut } from "./json_text.ts";

/** How a call ended, as `tool_end` and the history say it. */
export type CallStatus = "success" | "error" | "blocked" | "aborted";

type State = CallStatus | "called" | "running";

const WORDS: Record<State, string> = {
  called: "called",
  running: "running",
  success: "done",
  error: "failed",
  blocked: "blocked",
  aborted: "unfinished",
};

/**
 * One tool call: its name, its arguments as they grow, and its result. It is open until it has
 * gone well or was stopped; then it is one line, so that the answer is what one sees.
 */
export class CallCard {
  readonly root = element("details", "call");
  readonly #short = element("span", "short");
  readonly #state = element("span", "state");
  readonly #arguments = section("Arguments");
  readonly #result = section("Result");

  constructor(name: string) {
    const summary = element("summary", "", element("code", "", name), this.#short, this.#state);
    this.root.append(summary, this.#arguments.root, this.#result.root);
    this.root.open = true;
    this.#is("called");
  }

  /** The arguments so far; `whole` when nothing more will come. Older servers send an object. */
  argue(told: string | object, whole: boolean): void {
    const text = typeof told === "string" ? told : JSON.stringify(told);
    const said = text.trim();
    this.#arguments.root.hidden = said === "" || said === "{}";
    this.#arguments.text.textContent = whole ? laidOut(text) : text;
    this.#short.textContent = whole ? inShort(text) : "";
  }

  run(): void {
    this.#is("running");
  }

  /** `size`: the whole result in bytes, when `output` is only a part of it. */
  end(status: CallStatus, output: string, size: number | undefined): void {
    this.#is(status);
    const failed = status === "error" || status === "blocked";
    // Who reads in it, or has closed it, keeps it as it is.
    if (!failed && !this.root.matches(":focus-within")) this.root.open = false;
    if (status === "aborted") return; // there is no result, only a text that says so to the model
    this.#result.root.hidden = false;
    this.#result.text.textContent = laidOut(output);
    this.#result.note.textContent =
      size === undefined ? "" : `Only the beginning and the end of ${size.toLocaleString()} bytes.`;
  }

  #is(state: State): void {
    this.root.dataset["state"] = state;
    this.#state.textContent = WORDS[state];
  }
}

function section(label: string) {
  const text = element("pre");
  text.tabIndex = 0; // to scroll it by keyboard
  text.setAttribute("aria-label", label);
  const note = element("small");
  const root = element("div", "section", element("span", "label", label), text, note);
  root.hidden = true;
  return { root, text, note };
}
