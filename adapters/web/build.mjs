// Builds the page into the folder that the server gives out, or into the one that is named:
//   npm run build [-- DIR]
// The same sources and the pinned esbuild give the same bytes.
import { mkdir, copyFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { join, resolve } from "node:path";
import { build } from "esbuild";

const here = fileURLToPath(new URL(".", import.meta.url));
const target = resolve(process.argv[2] ?? join(here, "../copilot_adapters/starlette/page"));

await mkdir(target, { recursive: true });
await build({
  absWorkingDir: here,
  entryPoints: ["src/page.ts"],
  outfile: join(target, "page.js"),
  bundle: true,
  format: "esm",
  target: "es2022",
  charset: "utf8",
  legalComments: "none",
  banner: {
    js: "// Built from adapters/web/src by `npm run build` in adapters/web. Don't edit: change the source.",
  },
});
for (const name of ["index.html", "page.css"]) {
  await copyFile(join(here, name), join(target, name));
}
