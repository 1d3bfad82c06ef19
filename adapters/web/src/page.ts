/** The chat page of one project, `/projects/{project_id}#{session_id}`. */

import type { ChatSession } from "copilot-contracts/gns3-chat";

import { Api, ApiError } from "./api.ts";
import { askDelete, askTitle } from "./dialogs.ts";
import { button, part } from "./element.ts";
import { newId } from "./identifier.ts";
import { Session } from "./session.ts";
import { SessionList } from "./session_list.ts";

const SESSION_ID = /^[A-Za-z0-9_-]{1,64}$/;

const api = new Api(decodeURIComponent(location.pathname.split("/")[2] ?? ""));
const list = new SessionList(part("session-list", HTMLUListElement));
const title = part("title", HTMLHeadingElement);
const actions = part("session-actions", HTMLDivElement);
const pin = part("pin", HTMLButtonElement);
const log = part("conversation", HTMLDivElement);
const welcome = part("welcome", HTMLDivElement);
const notice = part("notice", HTMLDivElement);
const status = part("status", HTMLParagraphElement);
const composer = part("composer", HTMLFormElement);
const writing = part("writing", HTMLDivElement);
const newSession = part("new-session", HTMLAnchorElement);
const message = part("message", HTMLTextAreaElement);
const send = part("send", HTMLButtonElement);
const stop = part("stop", HTMLButtonElement);
const tokenForm = part("token-form", HTMLFormElement);
const token = part("token", HTMLInputElement);
const toggle = part("toggle-sessions", HTMLButtonElement);

let sessions: ChatSession[] = [];
/** The server knows no such project: there is nothing to talk about. */
let missing = false;
let refreshes = 0;
/** Sessions whose turn is being read, and the open one: looking elsewhere doesn't stop a turn. */
const held = new Map<string, Session>();
let open = makeSession(newId());

// -- what is shown ------------------------------------------------------------------------

function makeSession(id: string): Session {
  const turn = () => {
    if (open.id === id && location.hash.slice(1) !== id) history.pushState(null, "", `#${id}`);
    void refresh();
  };
  return new Session(id, api, { doing: show, turn });
}

function show(): void {
  const known = sessions.find((session) => session.thread_id === open.id);
  const name = missing ? "Unknown project" : (known?.title ?? "New session");
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

/** Tells what went wrong, in a sentence, with a way on if there is one. */
function tell(text: string, again?: () => void): void {
  notice.replaceChildren(text);
  if (again) notice.append(button("Try again", again));
  notice.hidden = false;
}

function hush(): void {
  notice.hidden = true;
}

/** Does something that may be refused; then says so. Gives back whether it went well. */
async function attempt(work: () => Promise<void>, again?: () => void): Promise<boolean> {
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

/** Asks for the list again; of two answers that overtake each other the later asked counts. */
async function refresh(): Promise<void> {
  const number = (refreshes += 1);
  await attempt(async () => {
    const found = await api.sessions();
    missing = false;
    if (number === refreshes) sessions = found;
  }, start);
}

// -- which session ------------------------------------------------------------------------

/** Opens the session that the address names; a new one when it names none. */
async function route(): Promise<void> {
  const id = location.hash.slice(1);
  hush();
  sidebar(false);
  for (const [heldId, session] of held) if (!session.running) held.delete(heldId);
  const named = SESSION_ID.test(id);
  const session = (named ? held.get(id) : undefined) ?? makeSession(named ? id : newId());
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

function start(): void {
  hush();
  void refresh();
  void route();
}

// -- saying something -----------------------------------------------------------------------

async function say(text: string): Promise<void> {
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

// -- the open session's title, place and end ------------------------------------------------

part("rename", HTMLButtonElement).addEventListener("click", async () => {
  const { id } = open;
  const given = await askTitle(title.textContent);
  if (given && (await attempt(async () => void (await api.rename(id, given))))) await refresh();
});

pin.addEventListener("click", async () => {
  const { id } = open;
  const pinned = sessions.some((session) => session.thread_id === id && session.pinned);
  if (await attempt(async () => void (await api.pin(id, !pinned)))) await refresh();
});

part("delete", HTMLButtonElement).addEventListener("click", async () => {
  const { id } = open;
  if (!(await askDelete(title.textContent))) return;
  if (!(await attempt(() => api.delete(id)))) return;
  held.delete(id);
  if (open.id === id) location.hash = "";
  await refresh();
});

// -- who is it --------------------------------------------------------------------------------

function askToken(): void {
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

// -- small screens, and staying at the end -----------------------------------------------------

function sidebar(shown: boolean): void {
  document.body.classList.toggle("sessions-shown", shown);
  toggle.setAttribute("aria-expanded", String(shown));
}

document.addEventListener("click", (event) => {
  sidebar(event.target === toggle && toggle.getAttribute("aria-expanded") !== "true");
});
addEventListener("keydown", (event) => {
  if (event.key === "Escape") sidebar(false);
});

/** Whether the reader is at the end of the conversation, and stays there as it grows. */
let following = true;

function toEnd(): void {
  following = true;
  log.scrollTop = log.scrollHeight;
}

log.addEventListener("scroll", () => {
  following = log.scrollHeight - log.scrollTop - log.clientHeight < 40;
});
function follow(): void {
  if (following) log.scrollTop = log.scrollHeight;
}
new MutationObserver(follow).observe(log, { childList: true, characterData: true, subtree: true });
new ResizeObserver(follow).observe(log);

addEventListener("hashchange", () => void (missing ? start() : route()));
start();
