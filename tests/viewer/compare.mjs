// Tests of compare.html in headless Chromium.
//   node compare.mjs COMPARE.html...
// Every page gets the same interactions; answers are recounted from its data block. VIEWER_TEST=REGEX selects tests.
import { readFileSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { compareTests } from './lib/compare-tests.mjs';
import { openBrowser, Suite } from './lib/harness.mjs';
import { blockJson } from './lib/read-report.mjs';

const browser = await openBrowser();
const suite = new Suite(browser);

/** The data block, with tables as rows by column name. */
function readData(path) {
  const text = readFileSync(path, 'utf8');
  const data = blockJson(text, 'nsys-ai-compare');
  data.timelines = ['base', 'new'].map((side) => blockJson(text, `nsys-ai-timeline-${side}`));
  return data;
}

try {
  for (const path of process.argv.slice(2)) {
    suite.prefix = `${basename(dirname(resolve(path)))}: `;
    await compareTests(suite, resolve(path), readData(path));
  }
} finally {
  await browser.close();
}
process.exitCode = suite.finish();
