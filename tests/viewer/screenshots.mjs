// Pictures of every view, to look at:
//   node screenshots.mjs REPORT.html OUT_DIR [REGEX]
// 1280 px, 1920 px and phone, light and dark; REGEX selects pictures by name, such as wide-dark-event.
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { openBrowser, PHONE, settle, WIDE } from './lib/harness.mjs';

const [report, outputDir, selection = ''] = process.argv.slice(2);
if (!report || !outputDir) {
  console.error('usage: node screenshots.mjs REPORT.html OUT_DIR [REGEX]');
  process.exit(2);
}
const wanted = new RegExp(selection);

/** The longest kernel that has a launching call, with both in sight. */
function selectKernel() {
  const { timeline: view, model } = globalThis.nsysAi.app;
  let best = -1;
  for (const lane of model.lanes) {
    if (lane.kind !== 'kernel') continue;
    for (let i = lane.first; i < lane.first + lane.count; i++) {
      if (model.launchOf(i) >= 0 && (best < 0 || model.events.duration[i] > model.events.duration[best])) best = i;
    }
  }
  if (best < 0) return;
  view.selectEvent(best, { zoom: true, reveal: true });
  view.viewport.focus(model.events.start[model.launchOf(best)], model.end(best), 0.8);
  view.scrollTo(0);
  view.moved();
}

function selectRange() {
  const { timeline: view, model } = globalThis.nsysAi.app;
  const span = model.endNs - model.startNs;
  view.selectRange(model.startNs + span * 0.3, model.startNs + span * 0.42, true);
}

const VIEWS = {
  overview: ['#'],
  timeline: ['#v=timeline'],
  event: ['#v=timeline', selectKernel],
  range: ['#v=timeline', selectRange],
  gap: ['#v=timeline', () => globalThis.nsysAi.app.timeline.selectGapByRow(0, true)],
  search: ['#v=timeline&q=gemm&c=name'],
  kernels: ['#v=tables&t=kernels'],
  row: [
    '#v=tables&t=kernels',
    () => globalThis.nsysAi.app.tables.rows.length > 0 && globalThis.nsysAi.app.tables.showDrawer(0),
  ],
  gaps: ['#v=tables&t=gpu_idle_gaps'],
  columns: ['#v=tables&t=columns'],
  marks: ['#v=timeline&mk=20000000~warm-up%20ends!60000000~slow&mr=20000000~60000000&k=g0u&h=g1i&lc=gemm', () => globalThis.nsysAi.app.timeline.annotations.showMarks()],
  nvtx: ['#v=nvtx'],
  callers: ['#v=nvtx&nv=callers'],
  'nvtx-gpu': ['#v=nvtx&nm=gpu&ng=threads'],
  iterations: ['#v=iterations'],
  pair: ['#v=iterations', () => globalThis.nsysAi.app.iterations?.compare(0)],
  help: ['#v=timeline', () => globalThis.nsysAi.app.help.open()],
};

mkdirSync(outputDir, { recursive: true });
const browser = await openBrowser();
const LARGE = { viewport: { width: 1920, height: 1080 } };
for (const [size, context] of Object.entries({ wide: WIDE, large: LARGE, phone: PHONE })) {
  for (const colorScheme of ['light', 'dark']) {
    const browserContext = await browser.newContext({ ...context, colorScheme });
    const page = await browserContext.newPage();
    page.on('pageerror', (error) => console.error(error));
    for (const [name, [hash, prepare]] of Object.entries(VIEWS)) {
      const title = `${size}-${colorScheme}-${name}`;
      if (!wanted.test(title)) continue;
      await page.goto('about:blank');
      await page.goto(pathToFileURL(resolve(report)).href + hash);
      await page.waitForFunction(() => globalThis.nsysAi?.ready);
      if (prepare) await page.evaluate(prepare);
      await settle(page);
      await page.waitForTimeout(100);
      await page.screenshot({ path: join(outputDir, `${title}.png`), fullPage: name === 'overview' });
      console.log(title);
    }
    await browserContext.close();
  }
}
await browser.close();
