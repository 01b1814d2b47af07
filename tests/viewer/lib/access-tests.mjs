// The page without a mouse: axe-core in every view, keys that are nobody's, focus that is never lost.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { check, equal, placeOf, settle, timelineState, WIDE } from './harness.mjs';

const viewer = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..', 'templates', 'viewer', 'package.json');
const AXE = readFileSync(createRequire(viewer).resolve('axe-core/axe.min.js'), 'utf8');

const PICTURES = {
  overview: '#',
  timeline: '#v=timeline',
  'timeline, event and search': '#v=timeline&e=40&q=gemm&lc=gemm&k=g0u&h=g1i',
  'timeline, range': '#v=timeline&r=1000~90000000',
  'timeline, gap': '#v=timeline&g=0',
};
const LISTS = { tables: '#v=tables&t=kernels', columns: '#v=tables&t=columns', nvtx: '#v=nvtx' };

/** In the dark only colors differ. */
export async function violations(page, settled = settle) {
  await settled(page);
  const found = await page.evaluate(() => {
    const dark = matchMedia('(prefers-color-scheme: dark)').matches;
    return globalThis.axe.run(document, { resultTypes: ['violations'], ...(dark && { runOnly: ['color-contrast'] }) });
  });
  return found.violations.map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map((node) => `${node.html.slice(0, 160)} ${node.failureSummary?.split('\n')[1] ?? ''}`).join(' | ')}`);
}

/** The page's policy forbids scripts that are not its own; the test's come in beside it. */
export async function withAxe(suite, path, context, body, ready = true) {
  await suite.page(path, { ready, context: { viewport: { width: 1280, height: 800 }, bypassCSP: true, ...context } }, async (page) => {
    await page.evaluate(AXE);
    await body(page);
  });
}

/** Whatever bars and charts a page has, the tracks are near. */
export async function stopTests(suite, path) {
  await suite.test('six stops of Tab lead to the tracks', () =>
    suite.page(path, { hash: '#v=timeline' }, async (page) => {
      const stops = [];
      for (let i = 0; i < 40 && stops.at(-1) !== 'timeline-canvas'; i++) {
        await page.keyboard.press('Tab');
        stops.push(await page.evaluate(() => document.activeElement?.id || document.activeElement?.textContent));
      }
      check(stops.length <= 6, `stops: ${stops.join(', ')}`);
    }),
  );
}

/** Every view of a page, light and dark. */
export async function axeTests(suite, path) {
  for (const colorScheme of ['light', 'dark']) {
    const test = (what, views, further) =>
      suite.test(`axe-core finds nothing in ${what}, ${colorScheme}`, () =>
        withAxe(suite, path, { colorScheme, reducedMotion: 'reduce' }, async (page) => {
          for (const [name, hash] of Object.entries(views)) {
            await page.evaluate((target) => (location.hash = target), hash);
            equal(await violations(page), [], name);
          }
          await further(page);
        }),
      );
    await test('overview and timeline', PICTURES, async (page) => {
      await page.evaluate(() => (location.hash = '#'));
      await page.evaluate(() => document.querySelectorAll('.folded .fold, .open-all').forEach((button) => button.click()));
      equal(await violations(page), [], 'findings unfolded');
      await page.keyboard.press('?');
      equal(await violations(page), [], 'help');
    });
    await test('tables and trees', LISTS, async (page) => {
      await page.evaluate(() => (location.hash = '#v=tables&t=kernels'));
      await settle(page);
      await page.evaluate(() => globalThis.nsysAi.app.tables.showDrawer(0));
      equal(await violations(page), [], 'a row of a table');
      if ((await page.locator('#view-iterations').count()) === 0) return;
      await page.evaluate(() => (location.hash = '#v=iterations'));
      equal(await violations(page), [], 'iterations');
      await page.evaluate(() => globalThis.nsysAi.app.iterations.compare(0));
      await page.evaluate(() => globalThis.nsysAi.app.iterations.compare(1));
      equal(await violations(page), [], 'two iterations');
    });
  }
}

export async function accessTests(suite, path) {
  await suite.test('the timeline leaves alone what it does not use', () =>
    suite.page(path, { hash: '#v=timeline' }, async (page) => {
      const prevented = await page.evaluate(() => {
        const canvas = document.getElementById('timeline-canvas');
        const pressed = (key) => !canvas.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
        return Object.fromEntries(['Tab', ' ', 'F5', 'F12', 'x', 'w', 'ArrowLeft'].map((key) => [key, pressed(key)]));
      });
      equal(prevented, { Tab: false, ' ': false, F5: false, F12: false, x: false, w: true, ArrowLeft: true });
      await page.locator('#timeline-canvas').focus();
      for (let i = 0; i < 3; i++) await page.keyboard.press('Tab');
      check(await page.evaluate(() => document.activeElement !== document.getElementById('timeline-canvas')), 'Tab leaves the canvas');
    }),
  );

  await suite.test('arrows walk the controls of a stop of Tab', () =>
    suite.page(path, { hash: '#v=timeline' }, async (page) => {
      const focused = () => page.evaluate(() => document.activeElement?.id || document.activeElement?.textContent);
      await page.locator('#timeline-canvas').focus();
      await page.keyboard.press('Shift+Tab');
      const label = await focused();
      await page.keyboard.press('ArrowDown');
      check((await page.evaluate(() => document.activeElement?.closest('.tl-gutter') !== null)) && (await focused()) !== label, 'arrows walk the labels');
      await page.locator('#timeline-search').focus();
      const reached = new Set();
      const all = await page.evaluate(() => document.querySelectorAll('#view-timeline .toolbar :is(button, select, input):not(:disabled)').length);
      for (let i = 0; i < 2 * all; i++) {
        reached.add(await page.evaluate(() => [...document.querySelectorAll('#view-timeline .toolbar :is(button, select, input)')].indexOf(document.activeElement)));
        await page.keyboard.press((await page.evaluate(() => document.activeElement?.matches('select'))) ? 'ArrowRight' : 'ArrowDown');
      }
      equal(reached.size, all, 'every control of the toolbar is reached');
    }),
  );

  await suite.test('focus survives folding, menus, the panel and the way between views', () =>
    suite.page(path, { hash: '#v=timeline' }, async (page) => {
      const focused = () => page.evaluate(() => document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent);
      const fold = page.locator('.tl-fold').first();
      await fold.focus();
      const label = await focused();
      await page.keyboard.press('Enter');
      equal((await focused()).slice(1), label.slice(1), 'folded');
      await page.keyboard.press('Enter');
      await page.keyboard.press('ArrowRight');
      await page.keyboard.press('Enter');
      equal(await focused(), 'Pin at the top', 'the menu has the focus');
      await page.keyboard.press('ArrowDown');
      equal(await focused(), 'Hide');
      await page.keyboard.press('Escape');
      check((await focused()).startsWith('Track '), 'Escape gives it back');
      await page.evaluate(() => globalThis.nsysAi.app.timeline.selectEvent(40));
      const next = page.getByRole('button', { name: 'Next of the same name' });
      await next.focus();
      await page.keyboard.press('Enter');
      equal(await focused(), 'Next of the same name', 'next, and next again');
      await page.locator('.panel header [aria-label=Close]').focus();
      await page.keyboard.press('Enter');
      equal(await page.evaluate(() => document.activeElement?.id), 'timeline-canvas', 'the panel closed');
      await page.evaluate(() => globalThis.nsysAi.app.showTable('kernels', 0));
      equal(await page.evaluate(() => document.activeElement?.getAttribute('role')), 'grid', 'a row of a table');
      await page.keyboard.press('Enter');
      equal(await page.evaluate(() => document.activeElement?.id), 'timeline-canvas', 'its place');
    }),
  );

  await suite.test('Back returns to the row of a table, and to the window of the timeline as it was left', () =>
    suite.page(path, { hash: '#v=tables&t=gpu_idle_gaps' }, async (page) => {
      const grid = page.locator('#view-tables .vt');
      const state = () => page.evaluate(() => ({ top: globalThis.nsysAi.app.tables.grid.element.scrollTop, row: globalThis.nsysAi.app.tables.grid.active }));
      await grid.evaluate((element) => (element.scrollTop = 300));
      await settle(page);
      await grid.focus();
      await page.locator('#view-tables .vt tbody tr:not(.space)').nth(12).locator('td').nth(1).click();
      await page.waitForFunction(() => globalThis.nsysAi.app.view === 'timeline');
      const { selectedRow } = await page.evaluate(() => {
        const { layout, selectedGap } = globalThis.nsysAi.app.timeline;
        return { selectedRow: layout.tracks.find((track) => track.gaps && track.gpu === selectedGap.gpu).gaps.row[selectedGap.index] };
      });
      // Without a rest: the address is still to be written when the next page opens.
      for (const key of ['d', 'w', 'd']) await page.keyboard.press(key);
      const before = await timelineState(page);
      await page.keyboard.press('4');
      await page.goBack();
      await page.waitForFunction(() => globalThis.nsysAi.app.view === 'timeline');
      const after = await timelineState(page);
      check(Math.abs(after.from - before.from) < 1 && Math.abs(after.to - before.to) < 1, 'the window');
      await page.goBack();
      await page.waitForFunction(() => globalThis.nsysAi.app.view === 'tables');
      const there = await state();
      equal(await page.evaluate((position) => globalThis.nsysAi.app.tables.rows[position], there.row), selectedRow, 'the row');
      check(there.top > 0, 'in sight');
    }),
  );

  await suite.test('what is printed is light and whole, whatever the theme', () =>
    suite.page(path, { hash: '#v=timeline&g=0', context: { ...WIDE, colorScheme: 'dark' } }, async (page) => {
      const corner = () =>
        page.evaluate(() => {
          const canvas = document.getElementById('timeline-canvas');
          const pixel = new OffscreenCanvas(1, 1).getContext('2d');
          pixel.drawImage(canvas, 2 - canvas.width, 2 - canvas.height);
          return [...pixel.getImageData(0, 0, 1, 1).data].slice(0, 3);
        });
      check(Math.max(...(await corner())) < 80, 'dark on the screen');
      await page.evaluate(() => window.dispatchEvent(new Event('beforeprint')));
      check(Math.min(...(await corner())) > 200, 'light on paper');
      await page.evaluate(() => window.dispatchEvent(new Event('afterprint')));
      check(Math.max(...(await corner())) < 80, 'and dark again');
      await page.keyboard.press('3');
      await page.evaluate(() => globalThis.nsysAi.app.showTable('kernels'));
      await page.emulateMedia({ media: 'print' });
      await page.setViewportSize({ width: 1030, height: 700 }); // A4, landscape
      await page.evaluate(() => window.dispatchEvent(new Event('beforeprint')));
      const names = await page.locator('#view-tables .vt tbody tr:not(.space) td:first-child').evaluateAll((list) => list.map((cell) => cell.getBoundingClientRect().width));
      check(names.length > 0 && Math.min(...names) >= 100, 'names have room');
    }),
  );

  await suite.test('a double click zooms where the first click opens the panel below the pointer', () =>
    suite.page(path, { hash: '#v=timeline' }, async (page) => {
      const event = await page.evaluate(() => {
        const { model, timeline: view } = globalThis.nsysAi.app;
        const kernels = model.lanes.filter((lane) => lane.kind === 'kernel').flatMap((lane) => Array.from({ length: lane.count }, (_, i) => lane.first + i));
        const late = kernels.filter((i) => model.events.count[i] === 1 && (view.viewport.x(model.events.start[i], view.width) > view.width * 0.9));
        const longest = late.sort((a, b) => model.events.duration[b] - model.events.duration[a])[0];
        view.reveal(longest);
        return longest;
      });
      const at = await placeOf(page, event);
      const { width } = await timelineState(page);
      await page.mouse.dblclick(at.x, at.y);
      await settle(page);
      const state = await timelineState(page);
      check(state.width < width && state.selected >= 0, 'the panel is open');
      const length = await page.evaluate((index) => globalThis.nsysAi.app.model.events.duration[index], state.selected);
      check(state.to - state.from < 10 * length, 'and the selection fills the view');
      check(state.panel, 'nothing of the panel was pressed');
    }),
  );

  await suite.test('Back returns to the link that was followed; a note ends with Enter or Escape', () =>
    suite.page(path, {}, async (page) => {
      const focused = () => page.evaluate(() => document.activeElement?.id || document.activeElement?.textContent);
      const link = page.locator('.finding:not(.folded) .evidence-link').first();
      await link.focus();
      const text = await focused();
      await page.keyboard.press('Enter');
      await page.waitForTimeout(400); // the address is written once the view rests
      await page.goBack();
      await page.waitForFunction(() => globalThis.nsysAi.app.view === 'overview');
      equal(await focused(), text, 'the link has the focus again');
      await page.evaluate(() => (location.hash = '#v=timeline'));
      for (const key of ['Enter', 'Escape']) {
        await page.locator('#timeline-canvas').focus();
        await page.keyboard.press('b');
        equal(await page.evaluate(() => document.activeElement?.tagName), 'INPUT', 'the note');
        await page.keyboard.type('here');
        await page.keyboard.press(key);
        equal(await focused(), 'timeline-canvas', key);
      }
    }),
  );

  await suite.test('the NVTX tree is a treegrid that keys walk', () =>
    suite.page(path, { hash: '#v=nvtx' }, async (page) => {
      const grid = page.getByRole('treegrid');
      await grid.focus();
      const active = () =>
        page.evaluate(() => {
          const row = document.getElementById(document.activeElement?.getAttribute('aria-activedescendant') ?? '');
          return row && [row.getAttribute('aria-level'), row.getAttribute('aria-expanded'), row.getAttribute('aria-selected')];
        });
      await page.keyboard.press('ArrowDown');
      equal(await active(), ['1', 'true', 'true']);
      await page.keyboard.press('ArrowLeft');
      equal((await active())[1], 'false');
      await page.keyboard.press('ArrowRight');
      await page.keyboard.press('ArrowDown');
      equal((await active())[0], '2');
      await page.keyboard.press('ArrowLeft');
      await page.keyboard.press('ArrowLeft');
      equal((await active())[0], '1', 'to the parent');
      equal(await grid.evaluate((element) => element === document.activeElement), true, 'focus stays');
    }),
  );
}
