// Reads answers as the chatbot's frontend does (`api-service.js`): a stream's lines `event: ` and
// `data: `, a callback an event; JSON of other answers. Each reader takes the keys that the
// consumer map gives it, as a page would: a required key that isn't there is a TypeError.
import { readFileSync } from "node:fs";

const { callbacks, calls, answers } = JSON.parse(readFileSync(0, "utf8"));

function take(data, { required, optional }) {
  const shown = {};
  for (const key of required) shown[key] = data[key].toString();
  for (const key of optional) if (data[key]?.toString()) shown[key] = data[key].toString();
  return shown;
}

async function sendMessageStream(response) {
  if (!response.ok) throw new Error(`HTTP ${response.status}`);
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  const called = [];
  let buffer = "";
  let currentEvent = "";
  let result = {};
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return { called, result };
    buffer += decoder.decode(value, { stream: true });
    const lines = buffer.split("\n");
    buffer = lines.pop();
    for (const line of lines) {
      if (line.startsWith("event: ")) currentEvent = line.slice(7);
      if (!line.startsWith("data: ")) continue;
      const data = JSON.parse(line.slice(6));
      const callback = callbacks[currentEvent];
      if (callback) called.push([callback.handler, take(data, callback)]);
      if (currentEvent === "complete") result = data;
    }
  }
}

async function ask(response, call) {
  if (!response.ok) throw new Error(`HTTP ${response.status}`);
  return { called: [[call.handler, take(await response.json(), call)]] };
}

function body(pieces) {
  return new ReadableStream({
    start(controller) {
      for (const piece of pieces) controller.enqueue(new Uint8Array(Buffer.from(piece, "base64")));
      controller.close();
    },
  });
}

const seen = [];
for (const { contract, status, pieces } of answers) {
  const response = new Response(body(pieces), { status });
  try {
    seen.push(contract ? await ask(response, calls[contract]) : await sendMessageStream(response));
  } catch (error) {
    seen.push({ thrown: String(error) });
  }
}
console.log(JSON.stringify(seen));
