// Bundles src/ into dist/viewer.js and dist/viewer.css, src/compare/ into dist/compare.js and dist/compare.css, and writes the digests for the page's
// Content-Security-Policy. The output is committed: building the C program needs no Node.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
const outputDir = resolve(process.argv[2] ?? join(here, 'dist'));

/** @type {import('esbuild').BuildOptions} */
const common = {
  absWorkingDir: here,
  bundle: true,
  minify: true,
  charset: 'ascii',
  legalComments: 'none',
  target: ['chrome103', 'firefox113', 'safari16.4'],
};

await build({ ...common, entryPoints: ['src/main.js'], format: 'iife', outfile: join(outputDir, 'viewer.js') });
await build({ ...common, entryPoints: ['src/style/index.css'], outfile: join(outputDir, 'viewer.css') });
await build({ ...common, entryPoints: ['src/compare/main.js'], format: 'iife', outfile: join(outputDir, 'compare.js') });
await build({ ...common, entryPoints: ['src/compare/compare.css'], outfile: join(outputDir, 'compare.css') });

mkdirSync(outputDir, { recursive: true });
for (const [name, closingTag] of [
  ['viewer.js', '</script'],
  ['viewer.css', '</style'],
  ['compare.js', '</script'],
  ['compare.css', '</style'],
]) {
  const bytes = readFileSync(join(outputDir, name));
  const text = bytes.toString('utf8').toLowerCase();
  // Either would end the element early, or switch the HTML parser's script state.
  for (const forbidden of [closingTag, '<!--', '\r', '\0']) {
    if (text.includes(forbidden)) throw new Error(`${name} contains ${JSON.stringify(forbidden)}`);
  }
  writeFileSync(join(outputDir, `${name}.sha256`), createHash('sha256').update(bytes).digest('base64'));
  console.log(`${name}: ${bytes.length} bytes`);
}
