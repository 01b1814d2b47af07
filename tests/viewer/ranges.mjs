// What the page says about stretches of time, without a browser:
//   node ranges.mjs REPORT.html FROM-TO ...
// FROM and TO are ns after the origin. Prints a JSON array of range statistics, names as text.
import { readFileSync } from 'node:fs';
import { decodeEvents } from '../../templates/viewer/src/decode.js';
import { Model } from '../../templates/viewer/src/model.js';
import { rangeStats } from '../../templates/viewer/src/timeline/stats.js';
import { blockBytes, blockJson } from './lib/read-report.mjs';

const [path, ...ranges] = process.argv.slice(2);
const html = readFileSync(path, 'utf8');
const timeline = blockJson(html, 'nsys-ai-timeline');
const bytes = blockBytes(html, 'nsys-ai-events');
const model = new Model(blockJson(html, 'nsys-ai-report'), timeline, decodeEvents(timeline, bytes));
const named = (totals) => totals.map(({ name, ...rest }) => ({ name: name < 0 ? null : model.names[name], ...rest }));
const stats = ranges.map((range) => {
  const [from, to] = range.split('~').map(Number);
  const { kernels, apis, ...rest } = rangeStats(model, from, to);
  return { ...rest, kernels: named(kernels), apis: named(apis) };
});
console.log(JSON.stringify({ aggregated: timeline.aggregated, origin: timeline.origin_ns, end: timeline.end_ns, bin: timeline.grid?.bin_ns, windows: timeline.detail_windows, stats }));
