// The pictures of the documentation, made anew:
//   nsys-ai-gen host-bound trace.sqlite && nsys-ai trace.sqlite --out host-bound
//   nsys-ai-gen training training.sqlite && nsys-ai training.sqlite --out training
//   node pictures.mjs host-bound/report.html training/report.html ../../docs/images
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { openBrowser, settle, WIDE } from './lib/harness.mjs';

const [hostBound, training, images] = process.argv.slice(2);
if (!images) {
  console.error('usage: node pictures.mjs HOST_BOUND.html TRAINING.html DIR');
  process.exit(2);
}

/** A collective in the middle of the capture, and the whole step around it. */
function selectCollective() {
  const { timeline: view, model } = globalThis.nsysAi.app;
  const lane = model.lanes.find(({ kind, first, gpu }) => kind === 'kernel' && gpu === 0 && model.nameOf(first).startsWith('nccl'));
  const event = lane.first + Math.floor((lane.count * 3) / 4) - 1;
  view.selectEvent(event, { reveal: true });
  view.viewport.focus(model.events.start[event] - 15.4e6, model.end(event) + 2e6, 1);
  view.scrollTo(0);
  view.moved();
}

const browser = await openBrowser();
async function picture(report, hash, name, height, width = 1280, prepare = null) {
  const context = await browser.newContext({ ...WIDE, viewport: { width, height }, colorScheme: 'light' });
  const page = await context.newPage();
  await page.goto(pathToFileURL(resolve(report)).href + hash);
  await page.waitForFunction(() => globalThis.nsysAi?.ready);
  if (prepare) await page.evaluate(prepare);
  await settle(page);
  await page.waitForTimeout(200);
  await page.screenshot({ path: join(images, name) });
  await context.close();
}
await picture(hostBound, '#', 'report.png', 528, 1200);
await picture(training, '#v=timeline', 'timeline.png', 800, 1280, selectCollective);
await picture(training, '#v=nvtx', 'nvtx.png', 800);
await browser.close();
