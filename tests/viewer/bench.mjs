// How fast a report opens and moves. A measurement, never a test.
//   node bench.mjs REPORT.html
// Prints one JSON object: ms from navigation to interactive, its parts, frames per second and ms per frame of
// panning at several zooms, ms for range statistics over the whole trace. cpu_ms is processor time of the page's main
// thread, which other load on the machine hardly changes.
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { openBrowser, settle, WIDE } from './lib/harness.mjs';

const report = process.argv[2];
if (!report) {
  console.error('usage: node bench.mjs REPORT.html');
  process.exit(2);
}

/** Pans for two seconds with a part of the trace in sight. */
async function pan(share) {
  const view = globalThis.nsysAi.app.timeline;
  const { startNs, endNs } = view.model;
  const span = (endNs - startNs) * share;
  view.viewport.set(startNs + (endNs - startNs) * 0.3, startNs + (endNs - startNs) * 0.3 + span);
  view.drawNow();
  view.frameTimes.length = 0;
  const begin = performance.now();
  let frames = 0;
  while (performance.now() - begin < 2000) {
    view.pan(frames % 60 < 30 ? 0.01 : -0.01);
    await new Promise((done) => requestAnimationFrame(done));
    frames++;
  }
  const elapsed = performance.now() - begin;
  const sorted = [...view.frameTimes].sort((a, b) => a - b);
  const at = (quantile) => Number(sorted[Math.floor((sorted.length - 1) * quantile)].toFixed(2));
  return { share, frames, fps: Number(((1000 * frames) / elapsed).toFixed(1)), frame_ms_p50: at(0.5), frame_ms_p95: at(0.95) };
}

const browser = await openBrowser();
const page = await browser.newPage(WIDE);
const devtools = await page.context().newCDPSession(page);
await devtools.send('Performance.enable', { timeDomain: 'threadTicks' });

/** Processor time of the main thread so far, ms. */
async function cpuTime() {
  const { metrics } = await devtools.send('Performance.getMetrics');
  return 1000 * metrics.find(({ name }) => name === 'TaskDuration').value;
}
await page.goto(`${pathToFileURL(resolve(report)).href}#v=timeline`);
await page.waitForFunction(() => globalThis.nsysAi?.ready, null, { timeout: 60000 });
await settle(page);
const result = {
  report_bytes: statSync(report).size,
  events: await page.evaluate(() => globalThis.nsysAi.app.model.count),
  cpu_ms: Math.round(await cpuTime()),
  timings_ms: await page.evaluate(() =>
    Object.fromEntries(Object.entries(globalThis.nsysAi.timings).map(([key, value]) => [key, Math.round(value)])),
  ),
  pan: [],
};
for (const share of [1, 0.5, 0.1, 0.01, 0.001]) {
  const before = await cpuTime();
  const measured = await page.evaluate(pan, share);
  result.pan.push({ ...measured, cpu_ms_per_frame: Number((((await cpuTime()) - before) / measured.frames).toFixed(2)) });
}
result.range_stats_ms = await page.evaluate(() => {
  const { timeline, model } = globalThis.nsysAi.app;
  const begin = performance.now();
  timeline.selectRange(model.startNs, model.endNs, true);
  return Math.round(performance.now() - begin);
});
console.log(JSON.stringify(result, null, 2));
await browser.close();
