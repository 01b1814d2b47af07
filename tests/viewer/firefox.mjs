// The page in Firefox: reports open, every view shows, the timeline goes by mouse and keyboard, its link says where, nothing complains.
//   node firefox.mjs [REPORT.html ...]
// Drives an unmodified Firefox by WebDriver BiDi. FIREFOX names the browser; without one the exit status is 77.
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { check, equal, near, timelineState } from './lib/harness.mjs';
import { makeFixture } from './make-fixture.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const { firefox } = createRequire(join(here, '..', '..', 'templates', 'viewer', 'package.json'))('playwright-core');

const path = [process.env.FIREFOX, '/usr/bin/firefox-esr', '/usr/bin/firefox'].find((candidate) => candidate && existsSync(candidate));
if (!path) {
  console.error('firefox.mjs: no Firefox (FIREFOX names one)');
  process.exit(77);
}

/** What each view must have drawn. */
const VIEWS = {
  overview: () => document.querySelectorAll('.finding').length + document.querySelectorAll('.glance-line').length > 0,
  timeline: () => {
    const canvas = document.getElementById('timeline-canvas');
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    return new Set(new Uint32Array(data.buffer)).size > 3;
  },
  tables: () => document.querySelectorAll('#view-tables .vt tbody tr').length > 0,
  nvtx: () => document.querySelector('#view-nvtx').childElementCount > 0,
};

const span = ({ from, to }) => to - from;

/** Keys zoom, move and fit; Ctrl + wheel zooms at the pointer. */
async function moves(page, canvas) {
  const fit = await timelineState(page);
  await page.keyboard.press('w');
  const closer = await timelineState(page);
  check(span(closer) < span(fit), 'W zooms in');
  await page.keyboard.press('d');
  const later = await timelineState(page);
  check(later.from > closer.from && Math.abs(span(later) - span(closer)) < 1, 'D moves on');
  await page.mouse.move(canvas.x + 200, canvas.y + 60);
  await page.keyboard.down('Control');
  await page.mouse.wheel(0, -240);
  await page.keyboard.up('Control');
  await page.waitForFunction((before) => globalThis.nsysAi.app.timeline.viewport.to - globalThis.nsysAi.app.timeline.viewport.from < before, span(later));
  const zoomed = await timelineState(page);
  const at = ({ from, to }) => from + ((to - from) * 200) / later.width;
  near(at(zoomed), at(later), span(later) / 100, 'Ctrl + wheel keeps the time under the pointer');
  await page.keyboard.press('0');
  equal(span(await timelineState(page)), span(fit), '0 shows everything');
}

/** A drag selects a range, C keeps it, M takes the selected event's; the link brings both back on a fresh page. */
async function ranges(page, canvas, open) {
  const before = await timelineState(page);
  await page.mouse.move(canvas.x + 100, canvas.y + 60);
  await page.mouse.down();
  await page.mouse.move(canvas.x + 400, canvas.y + 62, { steps: 4 });
  await page.mouse.up();
  const dragged = await timelineState(page);
  near(dragged.range[1] - dragged.range[0], (span(before) * 300) / before.width, span(before) / 100, 'a drag selects');
  await page.keyboard.press('c');
  await page.evaluate(() => globalThis.nsysAi.app.timeline.selectEvent(0, { zoom: true }));
  const event = await page.evaluate(() => {
    const { events } = globalThis.nsysAi.app.model;
    return [events.start[0], events.start[0] + events.duration[0]];
  });
  await page.keyboard.press('m');
  const facts = (of) => of.evaluate(() => {
    const { range, kept, panel } = globalThis.nsysAi.app.timeline;
    return { range: range.map(Math.round), kept: kept.map(Math.round), kernels: [panel.lastBeside.kernelCount, panel.lastStats.kernelCount] };
  });
  const both = await facts(page);
  equal(both.range, event, 'M takes the time of the event');
  const linked = await open(await page.evaluate(() => globalThis.nsysAi.app.state.link()));
  equal(await facts(linked), both, 'the link holds both ranges');
  await linked.close();
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  equal(await page.evaluate(() => [globalThis.nsysAi.app.timeline.range, globalThis.nsysAi.app.timeline.kept]), [null, null], 'Escape lets go');
}

/** A search finds events, steps through them, and goes with Escape. */
async function searches(page) {
  const name = await page.evaluate(() => {
    const { model } = globalThis.nsysAi.app;
    return model.names[model.events.name[0]].slice(0, 6);
  });
  await page.keyboard.press('/');
  await page.keyboard.type(name);
  await page.waitForFunction(() => document.querySelector('.search-status').textContent !== '');
  await page.keyboard.press('Enter');
  const found = await page.evaluate(() => {
    const { model, timeline } = globalThis.nsysAi.app;
    return model.nameOf(timeline.selected);
  });
  check(found.toLowerCase().includes(name.toLowerCase()), `Enter finds ${name}: ${found}`);
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  equal(await page.evaluate(() => globalThis.nsysAi.app.timeline.search.text), '', 'Escape clears it');
}

/** Tables sort and filter. */
async function tables(page) {
  await page.keyboard.press('3');
  const rows = () => page.locator('#view-tables .vt tbody tr').count();
  const all = await rows();
  await page.locator('#view-tables input[type=search], #view-tables .table-filter').first().fill('no such words at all');
  await page.waitForFunction((before) => document.querySelectorAll('#view-tables .vt tbody tr').length < before, all);
}

const scratch = mkdtempSync(join(tmpdir(), 'nsys-ai-firefox-'));
const browser = await firefox.launch({ channel: 'moz-firefox', executablePath: path, headless: true });
let failed = 0;
try {
  const reports = [makeFixture(scratch).path, ...process.argv.slice(2).map((report) => resolve(report))];
  for (const report of reports) {
    const complaints = [];
    const open = async (hash) => {
      const page = await (await browser.newContext({ viewport: { width: 1280, height: 800 } })).newPage();
      page.on('pageerror', (error) => complaints.push(`exception: ${error.message}`));
      page.on('console', (message) => message.type() === 'error' && complaints.push(`console: ${message.text()}`));
      await page.goto(pathToFileURL(report).href + hash);
      await page.waitForFunction(() => globalThis.nsysAi?.ready, null, { timeout: 30000 });
      return page;
    };
    const page = await open('');
    for (const [view, drawn] of Object.entries(VIEWS)) {
      await page.locator(`#views [data-view=${view}]`).click();
      await page.waitForTimeout(300);
      if (!(await page.locator(`#view-${view}`).isVisible())) complaints.push(`${view} does not show`);
      else if (!(await page.evaluate(drawn))) complaints.push(`${view} shows nothing`);
    }
    await page.locator('#views [data-view=timeline]').click();
    try {
      const canvas = await page.locator('.tl-canvas').boundingBox();
      await moves(page, canvas);
      await ranges(page, canvas, open);
      await searches(page);
      await tables(page);
    } catch (error) {
      complaints.push(error.message);
    }
    failed += complaints.length;
    console.log(`${complaints.length === 0 ? 'ok   ' : 'FAIL '} ${report}`, ...complaints);
    await page.close();
  }
} finally {
  await browser.close();
  rmSync(scratch, { recursive: true, force: true });
}
process.exitCode = failed === 0 ? 0 : 1;
