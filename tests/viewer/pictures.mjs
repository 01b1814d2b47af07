// The pictures of the documentation, made anew:
//   for scenario in host-bound training serving mpi-late call-sites; do
//     nsys-ai-gen $scenario $scenario.sqlite && nsys-ai $scenario.sqlite --out RUNS/$scenario
//   done
//   node pictures.mjs RUNS ../../docs/images
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { openBrowser, settle, WIDE } from './lib/harness.mjs';

const [runs, images] = process.argv.slice(2);
if (!images) {
  console.error('usage: node pictures.mjs RUNS DIR');
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
async function picture(scenario, hash, name, height, width = 1280, prepare = null) {
  const context = await browser.newContext({ ...WIDE, viewport: { width, height }, colorScheme: 'light' });
  const page = await context.newPage();
  await page.goto(pathToFileURL(resolve(runs, scenario, 'report.html')).href + hash);
  await page.waitForFunction(() => globalThis.nsysAi?.ready);
  if (prepare) await page.evaluate(prepare);
  await settle(page);
  await page.waitForTimeout(200);
  await page.screenshot({ path: join(images, name) });
  await context.close();
}
await picture('host-bound', '#', 'report.png', 528, 1200);
await picture('training', '#v=timeline', 'timeline.png', 800, 1280, selectCollective);
await picture('training', '#v=nvtx', 'nvtx.png', 800);
await picture('serving', '#v=tables&t=serving_batch', 'serving.png', 420);
await picture('mpi-late', '#v=tables&t=mpi_pairs', 'mpi.png', 420);
await picture('call-sites', '#v=tables&t=call_sites', 'call-sites.png', 420);
await browser.close();
