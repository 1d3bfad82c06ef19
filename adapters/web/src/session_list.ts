import type { ChatSession } from "copilot-contracts/gns3-chat";

import { element } from "./element.ts";

/** The list of sessions, in the server's order: pinned first, then the newest. */
export class SessionList {
  readonly #root: HTMLElement;

  constructor(root: HTMLElement) {
    this.#root = root;
  }

  show(sessions: readonly ChatSession[], open: string, running: (id: string) => boolean): void {
    const focused = document.activeElement?.getAttribute("href");
    this.#root.replaceChildren(
      ...sessions.map((session) => item(session, session.thread_id === open, running)),
    );
    if (focused) this.#root.querySelector<HTMLElement>(`[href="${CSS.escape(focused)}"]`)?.focus();
  }
}

function item(session: ChatSession, open: boolean, running: (id: string) => boolean): HTMLElement {
  const count = session.message_count;
  const about = [count === 1 ? "1 message" : `${count} messages`];
  if (session.pinned) about.unshift("pinned");
  if (running(session.thread_id)) about.unshift("at work");
  const link = element(
    "a",
    "session",
    element("span", "session-title", session.title),
    element("small", "", about.join(" · ")),
  );
  link.href = `#${session.thread_id}`;
  if (open) link.setAttribute("aria-current", "page");
  return element("li", "", link);
}
