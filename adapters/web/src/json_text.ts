const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]|[^\s"{}[\],:]+/g;
/** What fits into so many characters stays on one line. */
const WIDTH = 72;
/** Deeper text isn't indented further, or nonsense of 20 KB would become 200 MB. */
const DEEPEST = 20;

/**
 * JSON text over several lines. No value is read and written again: only white space changes, and
 * a line breaks after each `\n` in a string. Text that isn't JSON stays as it is.
 */
export function laidOut(text: string): string {
  if (!isJson(text)) return text;
  const tokens = text.match(TOKEN) ?? [];
  const short = shortContainers(tokens);
  let depth = 0;
  let inside = 0; // how many containers on one line we are in
  let out = "";
  const line = () => "\n" + "  ".repeat(Math.min(depth, DEEPEST));
  tokens.forEach((token, at) => {
    const opens = isOpening(token);
    if (isClosing(token)) {
      if (inside > 0) inside -= 1;
      else {
        depth -= 1;
        out += line();
      }
    }
    out += token.startsWith('"') ? broken(token, line() + "  ") : token;
    if (opens && (inside > 0 || short.has(at))) inside += 1;
    else if (opens) {
      depth += 1;
      out += line();
    } else if (token === ",") out += inside > 0 ? " " : line();
    else if (token === ":") out += " ";
  });
  return out;
}

/** The values of JSON text on one line, without their names; other text on one line as it is. */
export function inShort(text: string): string {
  const tokens = isJson(text) ? (text.match(TOKEN) ?? []) : [text];
  const values = tokens.filter((token, at) => !/^[{}[\],:]$/.test(token) && tokens[at + 1] !== ":");
  // Numbers stay as they are written: reading them may round them.
  const plain = values.map((value) => (/^".*"$/.test(value) ? String(JSON.parse(value)) : value));
  return plain.join(", ").replace(/\s+/g, " ").trim().slice(0, 200);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Where objects and arrays begin that fit on one line. */
function shortContainers(tokens: readonly string[]): Set<number> {
  const short = new Set<number>();
  const open: { at: number; from: number }[] = [];
  let length = 0;
  tokens.forEach((token, at) => {
    if (isOpening(token)) open.push({ at, from: length });
    length += token.length + (token === "," || token === ":" ? 1 : 0);
    if (token.startsWith('"') && broken(token, "\n") !== token) length += WIDTH;
    if (!isClosing(token)) return;
    const begun = open.pop();
    if (begun && length - begun.from <= WIDTH) short.add(begun.at);
  });
  return short;
}

function isOpening(token: string): boolean {
  return token === "{" || token === "[";
}

function isClosing(token: string): boolean {
  return token === "}" || token === "]";
}

/** A string with a line break after each `\n` but the last. */
function broken(string: string, line: string): string {
  return string.replace(/\\./g, (escape, at: number) =>
    escape === "\\n" && at + 3 < string.length ? escape + line : escape,
  );
}
