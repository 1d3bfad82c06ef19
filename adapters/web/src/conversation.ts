import type { OpenAIMessage } from "copilot-contracts/gns3-chat";

import { CallCard } from "./call_card.ts";
import { button, element } from "./element.ts";
import type { LiveEvent } from "./turn.ts";

/**
 * The messages of one session on the page. What a stream says and what the history says become
 * the same elements, found by message id and call id.
 */
export class Conversation {
  readonly root = element("div", "messages");
  readonly #messages = new Map<string, Message>();
  /** The newest call with an id: some models number their calls anew in every turn. */
  readonly #calls = new Map<string, CallCard>();
  /** Messages that the stream being read has begun or begun again. */
  readonly #streamed = new Set<string>();

  get empty(): boolean {
    return this.root.childElementCount === 0;
  }

  /** Shows stored messages instead of whatever is here. `earlier` is called for older ones. */
  show(messages: readonly OpenAIMessage[], earlier: (() => void) | null): void {
    this.root.replaceChildren();
    this.#messages.clear();
    this.#calls.clear();
    this.#streamed.clear();
    if (earlier) this.root.append(button("Show earlier messages", earlier));
    for (const message of messages) this.#showStored(message);
  }

  #showStored(stored: OpenAIMessage): void {
    switch (stored.role) {
      case "user":
        this.say(stored.content);
        return;
      case "assistant": {
        const message = this.#message(stored.id);
        message.append(stored.content);
        for (const call of stored.tool_calls ?? []) {
          this.#call(message, call.id, call.function.name).argue(call.function.arguments, true);
        }
        if (stored.metadata?.interrupted) message.interrupt();
        return;
      }
      case "tool": {
        const { status = "success", original_size: size } = stored.metadata ?? {};
        const card = this.#answered(stored.id, stored.tool_call_id ?? "", stored.name ?? "tool");
        card.end(status, stored.content, size);
        return;
      }
      case "system":
        return;
    }
  }

  /** Shows what the user says. */
  say(text: string): HTMLElement {
    const said = element("article", "message user", element("p", "", text));
    said.setAttribute("aria-label", "You");
    this.root.append(said);
    return said;
  }

  /** A stream begins. What it says of a message replaces what is known of that message. */
  begin(): void {
    this.#streamed.clear();
    for (const old of this.root.querySelectorAll(".ending button")) old.remove();
  }

  /** Shows an event of the stream. */
  take(event: LiveEvent): void {
    switch (event.type) {
      case "content":
        this.#growing(event.message_id).append(event.content);
        return;
      case "tool_call": {
        const { id, function: called } = event.tool_call;
        const message = this.#growing(event.message_id);
        this.#call(message, id, called.name).argue(called.arguments, called.complete === true);
        return;
      }
      case "tool_start": {
        const message = this.#growing(event.message_id);
        this.#call(message, event.tool_call_id, event.tool_name).run();
        return;
      }
      case "tool_end": {
        const card = this.#answered(event.message_id, event.tool_call_id, event.tool_name);
        card.end(event.status, event.tool_output, event.original_size);
        return;
      }
      default:
        return event satisfies never;
    }
  }

  /** The turn has ended otherwise than by an answer; `again` offers a way on. */
  end(text: string, kind: "error" | "abort", again?: { label: string; go: () => void }): void {
    // A turn that was stopped says so once.
    if (kind === "abort") this.root.querySelector(":scope > :last-child > .interrupted")?.remove();
    const ending = element("div", `ending ${kind}`, element("p", "", text));
    if (again) ending.append(button(again.label, again.go));
    this.root.append(ending);
  }

  #growing(id: string): Message {
    if (!this.#streamed.has(id)) {
      this.#streamed.add(id);
      this.#messages.get(id)?.reset();
    }
    return this.#message(id);
  }

  #message(id: string): Message {
    let message = this.#messages.get(id);
    if (!message) {
      message = new Message();
      this.#messages.set(id, message);
      this.root.append(message.root);
    }
    return message;
  }

  #call(message: Message, id: string, name: string): CallCard {
    const card = message.call(id, name);
    this.#calls.set(id, card);
    return card;
  }

  /** The card of the call that a result answers; the call itself may be on an older page. */
  #answered(messageId: string, callId: string, name: string): CallCard {
    return this.#calls.get(callId) ?? this.#call(this.#message(messageId), callId, name);
  }
}

/** One message of the assistant: text, then calls. */
class Message {
  readonly root = element("article", "message assistant");
  readonly #text = document.createTextNode("");
  readonly #paragraph = element("p", "", this.#text);
  readonly #calls = new Map<string, CallCard>();

  constructor() {
    this.root.setAttribute("aria-label", "Copilot");
    this.#paragraph.hidden = true;
    this.root.append(this.#paragraph);
  }

  append(text: string): void {
    this.#text.appendData(text);
    this.#paragraph.hidden = this.#text.length === 0;
  }

  call(id: string, name: string): CallCard {
    let card = this.#calls.get(id);
    if (!card) {
      card = new CallCard(name);
      this.#calls.set(id, card);
      this.root.append(card.root);
    }
    return card;
  }

  interrupt(): void {
    this.root.append(element("small", "interrupted", "Interrupted"));
  }

  reset(): void {
    this.#text.data = "";
    this.#paragraph.hidden = true;
    this.#calls.clear();
    this.root.replaceChildren(this.#paragraph);
  }
}
