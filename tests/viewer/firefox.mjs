// A smoke test in Firefox: reports open, every view shows, nothing complains.
//   node firefox.mjs [REPORT.html ...]
// Drives an unmodified Firefox by WebDriver BiDi. FIREFOX names the browser; without one the exit status is 77.
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
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

const scratch = mkdtempSync(join(tmpdir(), 'nsys-ai-firefox-'));
const browser = await firefox.launch({ channel: 'moz-firefox', executablePath: path, headless: true });
let failed = 0;
try {
  const reports = [makeFixture(scratch).path, ...process.argv.slice(2).map((report) => resolve(report))];
  for (const report of reports) {
    const page = await (await browser.newContext({ viewport: { width: 1280, height: 800 } })).newPage();
    const complaints = [];
    page.on('pageerror', (error) => complaints.push(`exception: ${error.message}`));
    page.on('console', (message) => message.type() === 'error' && complaints.push(`console: ${message.text()}`));
    await page.goto(pathToFileURL(report).href);
    await page.waitForFunction(() => globalThis.nsysAi?.ready, null, { timeout: 30000 });
    for (const [view, drawn] of Object.entries(VIEWS)) {
      await page.locator(`#views [data-view=${view}]`).click();
      await page.waitForTimeout(300);
      if (!(await page.locator(`#view-${view}`).isVisible())) complaints.push(`${view} does not show`);
      else if (!(await page.evaluate(drawn))) complaints.push(`${view} shows nothing`);
    }
    await page.locator('#views [data-view=timeline]').click();
    await page.evaluate(() => globalThis.nsysAi.app.timeline.selectEvent(0, { zoom: true }));
    if (!(await page.locator('.panel').isVisible())) complaints.push('a selected event has no panel');
    failed += complaints.length;
    console.log(`${complaints.length === 0 ? 'ok   ' : 'FAIL '} ${report}`, ...complaints);
    await page.close();
  }
} finally {
  await browser.close();
  rmSync(scratch, { recursive: true, force: true });
}
process.exitCode = failed === 0 ? 0 : 1;
