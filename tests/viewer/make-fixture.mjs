// Builds report.html from the template without the C program:
//   node make-fixture.mjs OUT_DIR             a small run with hostile names
//   node make-fixture.mjs OUT_DIR --events N  a run of about N events, for performance
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { analyse } from './lib/analyse.mjs';
import { renderReport } from './lib/encode.mjs';
import { repeatLanes } from './lib/repeat.mjs';
import { makePlan } from './lib/synthetic.mjs';

/** Writes OUT_DIR/report.html and report.json and returns what the tests need to know. */
export function makeFixture(outputDir, { events = 0, ...options } = {}) {
  const plan = makePlan(options);
  const { report, timeline, perGpu } = analyse(plan);
  const lanes = events > 0 ? repeatLanes(plan, timeline, events) : plan.lanes;
  mkdirSync(outputDir, { recursive: true });
  writeFileSync(join(outputDir, 'report.html'), renderReport(report, timeline, lanes));
  writeFileSync(join(outputDir, 'report.json'), JSON.stringify(report));
  return { path: join(outputDir, 'report.html'), plan, report, timeline, perGpu };
}

if (process.argv[1] && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const outputDir = process.argv[2];
  const flag = process.argv.indexOf('--events');
  if (!outputDir || outputDir.startsWith('-')) {
    console.error('usage: node make-fixture.mjs OUT_DIR [--events N]');
    process.exit(2);
  }
  const { path } = makeFixture(outputDir, flag > 0 ? { events: Number(process.argv[flag + 1]), hostile: false } : {});
  console.log(path);
}
