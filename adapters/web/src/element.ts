/** Elements of the page. Whatever text comes from outside becomes text nodes, never markup. */

/** A new element with a class and content. */
export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  className = "",
  ...content: (Node | string)[]
): HTMLElementTagNameMap[Tag] {
  const made = document.createElement(tag);
  if (className) made.className = className;
  made.append(...content);
  return made;
}

/** A button that calls `pressed`. */
export function button(label: string, pressed: () => void): HTMLButtonElement {
  const made = element("button", "", label);
  made.type = "button";
  made.addEventListener("click", pressed);
  return made;
}

/** The element of index.html with this id. */
export function part<Kind extends HTMLElement>(id: string, kind: new () => Kind): Kind {
  const found = document.getElementById(id);
  if (!(found instanceof kind)) throw new Error(`index.html has no ${kind.name} #${id}.`);
  return found;
}
