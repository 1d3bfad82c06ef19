/** A new id that nobody can guess: 32 hexadecimal digits. */
export function newId(): string {
  // crypto.randomUUID is missing where the page isn't in a secure context.
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
