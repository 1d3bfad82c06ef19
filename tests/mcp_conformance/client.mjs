// Calls the server that the arguments start over stdio, with the protocol's TypeScript SDK: one
// line of JSON on stdin is one call, [name, arguments]; one on stdout is what it came to.
import { createInterface } from "node:readline";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const [command, ...args] = process.argv.slice(2);
const client = new Client({ name: "test", version: "1" });
await client.connect(new StdioClientTransport({ command, args }));
await client.listTools(); // from here on it checks results
for await (const line of createInterface({ input: process.stdin })) {
  const [name, given] = JSON.parse(line);
  const result = await client
    .callTool({ name, arguments: given })
    .catch((error) => ({ thrown: String(error) }));
  console.log(JSON.stringify(result));
}
await client.close();
