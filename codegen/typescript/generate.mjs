// Standard input: {"schemas": {title: schema}, "before": text, "after": text}, where a schema's
// refs are `#/$defs/<title>`. Standard output: one formatted TypeScript module, with a
// declaration per schema between the two texts.
//
// Each schema is compiled by itself, with references as names: given the whole document,
// json-schema-to-typescript numbers what it meets a second time, and can't say a tuple or
// `Record`.
import { compile } from "json-schema-to-typescript";
import { format } from "prettier";

const OPTIONS = {
  additionalProperties: false,
  bannerComment: "",
  format: false,
  ignoreMinAndMaxItems: true,
  unknownAny: true,
};

const input = [];
for await (const chunk of process.stdin) input.push(chunk);
const { schemas, before, after } = JSON.parse(Buffer.concat(input).toString("utf8"));

const declarations = [];
for (const [title, schema] of Object.entries(schemas)) {
  declarations.push(await declaration(title, await prepared(schema)));
}
const module = [before, ...declarations, after].join("\n\n");
process.stdout.write(await format(module, { parser: "typescript", printWidth: 100 }));

/** `export interface Title {...}` or `export type Title = ...`, with its comment. */
async function declaration(title, schema) {
  const text = await compile(schema, title, OPTIONS);
  return text.trim().replace(/^export (interface|type) \w+/m, `export $1 ${title}`);
}

/** The schema's type as an expression. */
async function expression(schema) {
  const { description, deprecated, default: _, ...type } = await prepared(schema);
  if (Object.keys(type).length === 0) return "unknown";
  const text = await compile({ ...type, title: "It" }, "It", OPTIONS);
  return text.match(/^export type It = ([\s\S]*)/m)[1].trim();
}

/** The schema in the words of json-schema-to-typescript. */
async function prepared(schema) {
  if (typeof schema !== "object") return schema;
  const { $ref, prefixItems, propertyNames, additionalProperties, ...rest } = schema;
  const said = { ...pick(rest, ["description", "deprecated"]) };
  if ($ref !== undefined) return { ...said, tsType: $ref.slice("#/$defs/".length) };
  if (prefixItems) return { ...said, tsType: await tuple(schema) };
  if (isMap(schema)) {
    const values = additionalProperties === true ? {} : (additionalProperties ?? {});
    const map = { ...said, tsType: await mapOf(values) };
    const others = types(schema).filter((type) => type !== "object");
    return others.length ? { ...said, anyOf: [map, { ...rest, type: others }] } : map;
  }
  if (rest.properties) {
    rest.properties = await mapValues(rest.properties, prepared);
    rest.additionalProperties = false;
  }
  if (rest.anyOf || rest.oneOf) delete rest.type; // the branches say it
  for (const keyword of ["anyOf", "oneOf", "allOf"]) {
    if (rest[keyword]) rest[keyword] = await Promise.all(rest[keyword].map(prepared));
  }
  if (rest.items) rest.items = await prepared(rest.items);
  return rest;
}

/** `Record<string, T>`; written out where T may lead back here, which TypeScript refuses. */
async function mapOf(values) {
  const value = await expression(values);
  const recursive = [...JSON.stringify(values).matchAll(/"#\/\$defs\/(\w+)"/g)].some(
    ([, title]) => !schemas[title].properties,
  );
  return recursive ? `{ [key: string]: ${value} }` : `Record<string, ${value}>`;
}

/** `[A, B]` for a closed tuple; an array of any of them for an open one. */
async function tuple({ prefixItems, items, closed }) {
  const members = await Promise.all(prefixItems.map(expression));
  if (closed) return `[${members.map((member) => `(${member})`).join(", ")}]`;
  if (items !== false) members.push(await expression(items === true ? {} : (items ?? {})));
  return `(${members.join(" | ")})[]`;
}

function isMap(schema) {
  const says = ["properties", "enum", "const", "anyOf", "oneOf"].some((keyword) => keyword in schema);
  return types(schema).includes("object") && !says;
}

function types({ type = [] }) {
  return [type].flat();
}

function pick(object, keys) {
  return Object.fromEntries(keys.filter((key) => key in object).map((key) => [key, object[key]]));
}

async function mapValues(object, change) {
  const entries = Object.entries(object).map(async ([key, value]) => [key, await change(value)]);
  return Object.fromEntries(await Promise.all(entries));
}
