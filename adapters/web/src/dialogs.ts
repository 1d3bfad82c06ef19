import { part } from "./element.ts";

/** Asks for a new title; null when it was cancelled. */
export async function askTitle(title: string): Promise<string | null> {
  const input = part("rename-title", HTMLInputElement);
  input.value = title;
  input.select();
  return (await answered(part("rename-dialog", HTMLDialogElement))) ? input.value.trim() : null;
}

/** Asks whether a session is to be deleted. */
export async function askDelete(title: string): Promise<boolean> {
  part("delete-title", HTMLElement).textContent = title;
  return answered(part("delete-dialog", HTMLDialogElement));
}

/** Shows a dialog; whether its form was sent. */
function answered(dialog: HTMLDialogElement): Promise<boolean> {
  const form = dialog.querySelector("form");
  const cancel = dialog.querySelector<HTMLButtonElement>("button.cancel");
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
