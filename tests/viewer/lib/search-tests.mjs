import { check, equal, settle, timelineState } from './harness.mjs';

const integer = (value) => value.toLocaleString('en-US');

/** Search in the timeline for a word of `searched`, undefined where there are no events. */
export async function searchTests(suite, open, truth, searched) {
  const { timeline, events } = truth;

  if (searched)
    await suite.test('search counts, steps, filters, and reports bad expressions', () =>
      open('', async (page) => {
        const word = /[A-Za-z_]{4,}/.exec(searched.text)?.[0] ?? searched.text.slice(0, 3);
        const matching = (test) => events.filter((event) => test(event.text) || test(timeline.short_names[event.name] ?? ''));
        const plain = matching((text) => text.toLowerCase().includes(word.toLowerCase())).reduce(
          (sum, event) => sum + event.count,
          0,
        );
        await page.keyboard.press('/');
        await page.keyboard.type(word);
        await page.waitForFunction(
          (text) => document.querySelector('.search-status').textContent.startsWith(text),
          `${integer(plain)} event`,
        );
        await page.keyboard.press('Enter');
        const first = (await timelineState(page)).selected;
        check(
          first >= 0 &&
            (events[first].text + timeline.short_names[events[first].name]).toLowerCase().includes(word.toLowerCase()),
          'Enter selects a match',
        );
        await page.locator('.tl-canvas').focus();
        await page.keyboard.press('n');
        const second = (await timelineState(page)).selected;
        if (plain > 1) check(events[second].start > events[first].start || second > first || plain === 1, 'n goes on');
        await page.keyboard.press('Shift+N');
        equal((await timelineState(page)).selected, first, 'Shift+N goes back');
        await page.getByLabel('only').check();
        check(await page.evaluate(() => globalThis.nsysAi.app.timeline.search.only), 'filter');
        await page.getByLabel('only').uncheck();
        await page.getByTitle('Regular expression').locator('input').check();
        const pattern = `^.*${word}[^Q]*$|^cuda.*`;
        await page.locator('#timeline-search').fill(pattern);
        const regular = new RegExp(pattern, 'iu');
        const expected = matching((text) => regular.test(text)).reduce((sum, event) => sum + event.count, 0);
        await page.waitForFunction(
          (text) => document.querySelector('.search-status').textContent.startsWith(text),
          `${integer(expected)} event`,
        );
        await page.locator('#timeline-search').fill('(((');
        await page.waitForFunction(() => document.querySelector('.search-status').textContent === 'invalid expression');
        await page.locator('#timeline-search').fill('');
        await page.waitForFunction(() => document.querySelector('.search-status').textContent === '');
      }),
    );

  const kernels = truth.report.tables.kernels;
  if (kernels?.rows.length > 0)
    await suite.test('every color of the tracks is explained', () =>
      open('', async (page) => {
        await page.getByRole('button', { name: 'all colors' }).click();
        const shown = await page.locator('.panel').innerText();
        const { gaps, kinds, categories } = await page.evaluate(() => {
          const { layout, model } = globalThis.nsysAi.app.timeline;
          return {
            gaps: new Set(layout.tracks.flatMap((track) => track.gaps?.cause ?? [])).size,
            kinds: [...new Set(model.lanes.map(({ kind }) => kind))],
            categories: new Set(model.names.flatMap((_, id) => (model.nameCount[id] > 0 ? (model.category(id) ?? []) : []))).size,
          };
        });
        const count = (title) => page.locator(`.panel h3:text-is("${title}") + ul li`).count();
        equal(await count('Kernels and copies'), categories, 'categories');
        equal(await count('Idle gaps'), gaps, 'causes');
        equal(await count('CUDA calls'), kinds.includes('api') ? 3 : 0, 'calls');
        equal(shown.includes('OS runtime'), kinds.includes('osrt'), 'what threads do beside CUDA');
        equal(await page.evaluate(() => globalThis.nsysAi.app.timeline.panel.element.hidden), false, 'in the panel');
      }),
    );

    await suite.test('colors of names have a legend: the kernels with most time', () =>
      open('&c=name', async (page) => {
        const [text, time] = ['kernel_name', 'total_time_ms'].map((name) => kernels.columns.findIndex((column) => column.name === name));
        const totals = new Map();
        for (const row of kernels.rows) totals.set(row[text], (totals.get(row[text]) ?? 0) + row[time]);
        const [most] = [...totals].sort((a, b) => b[1] - a[1])[0];
        const first = page.locator('.legend button').first();
        equal(await first.getAttribute('title'), `Highlight ${most}`);
        await first.click();
        equal(await page.locator('#timeline-search').inputValue(), most);
      }),
    );

  await suite.test('filtered search hides other events', () =>
    open('', async (page) => {
      const ink = () =>
        page.evaluate(() => {
          const { canvas } = globalThis.nsysAi.app.timeline;
          const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d', { willReadFrequently: true });
          copy.drawImage(canvas, 0, 0);
          const { data } = copy.getImageData(0, 0, canvas.width, canvas.height);
          const colors = new Set();
          for (let i = 0; i < data.length; i += 4) colors.add((data[i] << 16) | (data[i + 1] << 8) | data[i + 2]);
          return colors.size;
        });
      await settle(page);
      const before = await ink();
      await page.evaluate(() => globalThis.nsysAi.app.timeline.setSearch('no such name at all', false, true));
      await settle(page);
      check((await ink()) < before, 'an unmatched filter empties the lanes');
    }),
  );
}
