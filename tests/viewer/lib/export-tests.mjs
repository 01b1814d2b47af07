// What can be taken out of the page: tables, pictures, the selection.
import { readFileSync } from 'node:fs';
import { check, equal, settle } from './harness.mjs';

async function saved(page, press) {
  const [file] = await Promise.all([page.waitForEvent('download'), press()]);
  return { name: file.suggestedFilename(), bytes: readFileSync(await file.path()) };
}

export async function exportTests(suite, path, { report }) {
  const stem = report.trace.file.replace(/\.[^.]*$/, '');

  await suite.test('the visible timeline is saved as a picture', () =>
    suite.page(path, { hash: '#v=timeline' }, async (page) => {
      await settle(page);
      const { name, bytes } = await saved(page, () => page.getByRole('button', { name: 'Save a picture' }).click());
      equal(name, `${stem}-timeline.png`);
      equal(bytes.subarray(1, 4).toString(), 'PNG');
      check(bytes.readUInt32BE(16) > 1000 && bytes.readUInt32BE(20) > 200, 'size');
    }),
  );

  await suite.test('the visible timeline is saved as a drawing', () =>
    suite.page(path, { hash: '#v=timeline&e=40&mk=20000000~here' }, async (page) => {
      await settle(page);
      const { name, bytes } = await saved(page, () => page.getByRole('button', { name: 'Save what the timeline shows as a drawing' }).click());
      equal(name, `${stem}-timeline.svg`);
      const drawing = await page.evaluate((text) => {
        const parsed = new DOMParser().parseFromString(text, 'image/svg+xml');
        return {
          error: parsed.querySelector('parsererror')?.textContent ?? '',
          elements: [...new Set([...parsed.querySelectorAll('*')].map((element) => element.localName))].sort(),
          texts: [...parsed.querySelectorAll('text')].map((element) => element.textContent),
          labels: [...document.querySelectorAll('.tl-labels .name')].map((element) => element.textContent),
        };
      }, bytes.toString());
      equal(drawing.error, '');
      equal(drawing.elements, ['clipPath', 'g', 'image', 'path', 'rect', 'svg', 'text']);
      check(drawing.texts.includes('here') && drawing.texts.includes('Utilization'), 'the mark and the tracks are named');
      check(bytes.length < 3e6, `${bytes.length} bytes`);
    }),
  );

  await suite.test('the rows shown are saved as CSV', () =>
    suite.page(path, { hash: '#v=tables&t=kernels&f=category%3Dgemm' }, async (page) => {
      const { name, bytes } = await saved(page, () => page.getByRole('button', { name: 'Save CSV' }).click());
      equal(name, `${stem}-kernels.csv`);
      const table = report.tables.kernels;
      const category = table.columns.findIndex((column) => column.name === 'category');
      equal(bytes.toString().trim().split('\n').length - 1, table.rows.filter((row) => row[category] === 'gemm').length);
    }),
  );

  await suite.test('marks, measurement and pins stand in the link; Escape lets go of the search', () =>
    suite.page(path, { hash: '#v=timeline' }, async (page) => {
      const state = () => page.evaluate(() => ({ ...globalThis.nsysAi.app.state.values }));
      await page.evaluate(() => globalThis.nsysAi.app.timeline.selectEvent(40));
      await page.keyboard.press('b');
      await page.keyboard.type('first~!');
      await page.locator('#timeline-canvas').focus();
      await page.keyboard.press('p');
      await page.keyboard.press('r');
      await page.keyboard.press(']');
      await page.keyboard.press('r');
      const { mk, mr, k } = await state();
      check(/^\d+~first%7e%21$/.test(mk) && /^\d+~\d+$/.test(mr) && k !== '', `${mk} ${mr} ${k}`);
      const link = await page.evaluate(() => globalThis.nsysAi.app.state.link());
      await page.evaluate((hash) => (location.hash = `#v=overview`) && (location.hash = hash), link);
      await settle(page);
      const after = await page.evaluate(() => {
        const view = globalThis.nsysAi.app.timeline;
        return [view.annotations.marks.map((mark) => mark.text), view.layout.arrangement.pinned.length];
      });
      equal(after, [['first~!'], 1]);
      await page.locator('.legend button').first().click();
      check((await page.locator('.filter-bar').innerText()).includes('Highlighted'), 'the bar says what is filtered');
      await page.locator('#timeline-canvas').focus();
      await page.keyboard.press('Escape');
      await page.keyboard.press('Escape');
      check(await page.locator('.filter-bar').isHidden(), 'Escape undoes it');
    }),
  );

  await suite.test('a link followed while the last view is still to be written is not lost', () =>
    suite.page(path, { hash: '#v=timeline' }, async (page) => {
      const view = await page.evaluate(async () => {
        const { app } = globalThis.nsysAi;
        app.state.set({ s: '40' });
        const followed = new Promise((resolve) => window.addEventListener('hashchange', resolve, { once: true }));
        location.hash = '#v=tables';
        app.state.write(false); // the timer of the write, before the event of the link
        await followed;
        return [app.view, location.hash];
      });
      equal(view, ['tables', '#v=tables']);
    }),
  );
}
