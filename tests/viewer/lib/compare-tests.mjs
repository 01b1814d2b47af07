// The page of a comparison: views, tree, tables, two timelines on one axis, flame graph, and all of it without a mouse.
import { violations, withAxe } from './access-tests.mjs';
import { rangeTests } from './compare-range-tests.mjs';
import { check, equal, near, PHONE, settle, WIDE } from './harness.mjs';

const VIEWS = ['overview', 'pair', 'tables', 'flame'];

function pairState(page) {
  return page.evaluate(() => {
    const { pair } = globalThis.nsysAi.app;
    return {
      from: pair.viewport.from,
      to: pair.viewport.to,
      places: pair.lanes.map((lanes) => lanes.viewport.place.start),
      windows: pair.lanes.map((lanes) => [lanes.viewport.from, lanes.viewport.to]),
      selected: pair.lanes.map((lanes) => lanes.selected),
      names: pair.lanes.map((lanes) => (lanes.selected < 0 ? null : lanes.model.nameOf(lanes.selected))),
    };
  });
}

/** Rows of a table as the page has them: [label, base, new, difference]. */
function rowsOf(page, selector) {
  return page.$$eval(`${selector} tbody tr`, (rows) => rows.map((row) => [...row.cells].map((cell) => cell.textContent.trim())));
}

async function overviewTests(suite, path, data) {
  await suite.test('the tree opens level by level', () =>
    suite.page(path, {}, async (page) => {
      const table = '#difference-tree';
      const before = (await rowsOf(page, table)).length;
      const closed = page.locator(`${table} button[aria-expanded="false"]`).first();
      if ((await closed.count()) === 0) return;
      const key = await closed.getAttribute('data-part');
      await closed.focus();
      await page.keyboard.press('Enter');
      check((await rowsOf(page, table)).length > before, 'nothing opened');
      equal(await page.evaluate(() => document.activeElement.dataset.part), key, 'focus');
      await page.keyboard.press('Enter');
      equal((await rowsOf(page, table)).length, before, 'closed again');
    }),
  );
  await suite.test('differences carry a sign and a word, but not of different work', () =>
    suite.page(path, {}, async (page) => {
      if (!data.comparable) {
        check((await rowsOf(page, '#difference-tree')).every((cells) => cells.length === 3), 'a difference of what cannot be compared');
        equal(await page.locator('.delta-bar').count(), 0, 'bars');
        return;
      }
      for (const cells of await rowsOf(page, '#difference-tree')) {
        check(/^(±0|[+−])/u.test(cells[3]), `difference ${cells[3]}`);
        check(/^(longer|shorter|equal|new|gone)$/u.test(cells[5]), `change ${cells[5]}`);
        equal(cells[5] === 'longer' || cells[5] === 'new', cells[3].startsWith('+'), cells.join(' '));
      }
    }),
  );
  await suite.test('without scripts the numbers are there', () =>
    suite.page(path, { context: { ...WIDE, javaScriptEnabled: false }, ready: false }, async (page) => {
      check((await page.locator('#verdict').textContent()).length > 10, 'verdict');
      check((await page.locator('noscript, .notice').count()) > 0, 'notice');
      const expected = data.tables.compared_time.packed[0].rows?.length ?? 0;
      if (expected > 0) equal(await page.locator('#difference-tree tbody tr').count(), expected, 'rows');
    }),
  );
}

async function helpTests(suite, path) {
  await suite.test('help is a key, a button, and closes', () =>
    suite.page(path, {}, async (page) => {
      await page.keyboard.press('?');
      check(await page.locator('dialog.help').isVisible(), 'by key');
      await page.keyboard.press('Escape');
      check(!(await page.locator('dialog.help').isVisible()), 'closed');
      await page.locator('#tools button', { hasText: '?' }).click();
      check(await page.locator('dialog.help').isVisible(), 'by button');
    }),
  );
}

async function tableTests(suite, path, data) {
  await suite.test('every control of the tables works here, too', () =>
    suite.page(path, { hash: '#v=tables&t=compared_kernels' }, async (page) => {
      const [download] = await Promise.all([page.waitForEvent('download'), page.locator('button', { hasText: 'Save CSV' }).click()]);
      check(/^compare.*\.csv$/u.test(download.suggestedFilename()), download.suggestedFilename());
      for (const button of await page.locator('#view-tables .toolbar button:visible').all())
        if (!/Copy|Save/u.test(await button.textContent())) await button.click();
      await page.locator('#view-tables .row-more').first().click();
      check(await page.locator('#view-tables .drawer').isVisible(), 'all fields of a row');
    }),
  );
  await suite.test('the table of kernels sorts and filters', () =>
    suite.page(path, { hash: '#v=tables&t=compared_kernels' }, async (page) => {
      const shown = () =>
        page.evaluate(() => {
          const { tables } = globalThis.nsysAi.app;
          const table = tables.table();
          const at = table.columns.findIndex((column) => column.name === 'delta_ms');
          return tables.rows.map((row) => table.rows[row][at]);
        });
      const all = await shown();
      if (!data.comparable) return; // then there are no differences to sort by
      await page.locator('th button', { hasText: 'delta' }).first().click();
      const sorted = (await shown()).filter((value) => value !== null);
      equal(sorted, [...sorted].sort((a, b) => b - a), 'largest first');
      await page.fill('#table-filter', 'delta_ms>0');
      await page.waitForTimeout(200);
      equal((await shown()).length, all.filter((value) => value > 0).length, 'filtered');
    }),
  );
}

async function timelineTests(suite, path, data) {
  if (!data.timelines.every((timeline) => timeline && timeline.events > 0)) {
    await suite.test('without two timelines the view says why', () =>
      suite.page(path, { hash: '#v=pair' }, async (page) => {
        check((await page.locator('#view-pair .notice').textContent()).includes('no two timelines'), 'reason');
      }),
    );
    return;
  }
  const stepped = ['base', 'new'].every((side) => data[side].anchor.step >= 0);
  await suite.test('both timelines begin at the typical step, or where GPU work begins', () =>
    suite.page(path, { hash: '#v=pair' }, async (page) => {
      const { places, windows, from, to } = await pairState(page);
      ['base', 'new'].forEach((side, index) => {
        const origin = Number(data.timelines[index].origin_ns);
        if (stepped) equal(places[index], data[side].anchor.start_ns - origin, side);
        near(windows[index][0] - places[index], from, 1, 'one axis');
        near(windows[index][1] - places[index], to, 1, 'one axis');
      });
      check(from < 0 && to > 0, 'the place is in sight');
    }),
  );
  await suite.test('zooming and moving keep the two together', () =>
    suite.page(path, { hash: '#v=pair' }, async (page) => {
      const before = await pairState(page);
      await page.locator('#view-pair canvas.tl-canvas').first().focus();
      for (const key of ['w', 'd', 'ArrowRight', 's', '+']) await page.keyboard.press(key);
      const after = await pairState(page);
      check(after.to - after.from < before.to - before.from, 'zoomed');
      after.windows.forEach(([from], index) => near(from - after.places[index], after.from, 1, 'one axis'));
      const canvas = await page.locator('#view-pair canvas.tl-canvas').first().boundingBox();
      await page.mouse.move(canvas.x + 100, canvas.y + 40);
      await page.mouse.wheel(0, 120);
      await settle(page);
      const scrolled = await pairState(page);
      equal([scrolled.from, scrolled.to], [after.from, after.to], 'the wheel scrolls, as on the page of a report');
      await page.keyboard.down('Shift');
      await page.mouse.down();
      await page.mouse.move(canvas.x + 150, canvas.y + 40, { steps: 3 });
      await page.mouse.up();
      await page.keyboard.up('Shift');
      check((await pairState(page)).from < after.from, 'a drag with Shift moves, as on the page of a report');
      await page.keyboard.press('0');
      const whole = await pairState(page);
      data.timelines.forEach((timeline, index) => {
        check(whole.windows[index][0] <= timeline.start_ns && whole.windows[index][1] >= timeline.end_ns, 'everything in sight');
      });
    }),
  );
  if (stepped)
    await suite.test('a step of each side can be chosen, and stands in the link', () =>
      suite.page(path, { hash: '#v=pair' }, async (page) => {
        await page.selectOption('#view-pair select[aria-label="Align at"]', 'step');
        await page.selectOption('#view-pair select[aria-label="Of the base"]', { index: 1 });
        await page.selectOption('#view-pair select[aria-label="Of the new side"]', { index: 3 });
        const chosen = await pairState(page);
        await page.evaluate(() => globalThis.nsysAi.app.state.write(false));
        const hash = await page.evaluate(() => location.hash);
        await page.goto('about:blank');
        await page.goto(`file://${path}${hash}`);
        await page.waitForFunction(() => globalThis.nsysAi?.ready);
        equal((await pairState(page)).places, chosen.places, 'after following the link');
      }),
    );
  const atRange = 'the sides meet at a range';
  if (suite.wants(atRange) && (await rangesOf(suite, path)) > 0)
    await suite.test(atRange, () =>
      suite.page(path, { hash: '#v=pair' }, async (page) => {
        await page.selectOption('#view-pair select[aria-label="Align at"]', 'range');
        await page.selectOption('#view-pair select[aria-label="Range"]', { index: 0 });
        const found = await page.evaluate(() => {
          const { pair } = globalThis.nsysAi.app;
          return pair.lanes.map(({ model, viewport }) => model.names.some((name, id) => name === pair.bar.range.value && model.events.start.some((start, i) => start === viewport.place.start && model.events.name[i] === id)));
        });
        equal(found, [true, true]);
      }),
    );
  await suite.test('a click selects the event and its like on the other side', () =>
    suite.page(path, { hash: '#v=pair' }, async (page) => {
      const at = await page.evaluate(() => {
        const { pair } = globalThis.nsysAi.app;
        const [base] = pair.lanes;
        const lane = base.model.lanes.find((candidate) => candidate.kind === 'kernel' || candidate.kind === 'graph' || candidate.kind === 'api');
        const { start, duration } = base.model.events;
        let best = lane.first;
        for (let i = lane.first; i < lane.first + lane.count; i++) if (duration[i] > duration[best]) best = i;
        const from = start[best] - base.viewport.place.start;
        pair.viewport.focus(from, from + duration[best]);
        base.reveal(best);
        pair.drawNow();
        const found = base.layout.find(best);
        const box = base.canvas.getBoundingClientRect();
        return { event: best, x: box.x + base.width / 2, y: box.y + found.track.top - base.scrollTop + 2 + (found.row + 0.5) * found.track.rowHeight };
      });
      await page.mouse.click(at.x, at.y);
      const { selected, names } = await pairState(page);
      check(selected[0] >= 0, 'selected');
      if (names[1] !== null) equal(names[1], names[0], 'its like');
      check((await page.locator('.panel .full-name').textContent()) === names[0], 'described');
      equal(await page.locator('.panel thead th').allTextContents(), ['base', 'new'], 'both sides');
      await page.keyboard.press('Escape');
      equal((await pairState(page)).selected, [-1, -1], 'cleared');
    }),
  );
  await suite.test('what is selected stands in the link, and its sums follow the zoom', () =>
    suite.page(path, { hash: '#v=pair' }, async (page) => {
      const seen = async () => (await page.locator('.panel tbody tr').nth(2).locator('td').first().textContent()).replaceAll(',', '');
      const recount = () =>
        page.evaluate(() => {
          const [{ model, selected, viewport }] = globalThis.nsysAi.app.pair.lanes;
          const { start, count } = model.events;
          return String([...start].filter((at, i) => model.nameOf(i) === model.nameOf(selected) && count[i] === 1 && at >= viewport.from && at < viewport.to).length);
        });
      await page.evaluate(() => {
        const { pair } = globalThis.nsysAi.app;
        const { lanes } = pair.lanes[0].model;
        const lane = lanes.find(({ kind }) => kind === 'kernel' || kind === 'graph' || kind === 'api');
        pair.fit();
        pair.select(pair.lanes[0], lane.first + Math.floor(lane.count / 2));
        pair.zoomToSelection(pair.lanes[0]);
      });
      const agree = async () => {
        const wanted = await recount();
        for (let tries = 0; tries < 50 && (await seen()) !== wanted; tries++) await page.waitForTimeout(50);
        equal(await seen(), wanted);
      };
      await agree();
      await page.evaluate(() => globalThis.nsysAi.app.pair.fit());
      await agree();
      const { selected } = await pairState(page);
      await page.waitForFunction(() => /[#&]e=base/u.test(location.hash));
      await page.reload();
      await page.waitForFunction(() => globalThis.nsysAi?.ready);
      equal((await pairState(page)).selected, selected, 'after a reload');
    }),
  );
  await rangeTests(suite, path);
  await suite.test('a kernel of the tree leads to the timelines', () =>
    suite.page(path, {}, async (page) => {
      await page.evaluate(() => {
        for (let level = 0; level < 3; level++)
          for (const { dataset } of [...document.querySelectorAll('#difference-tree button[aria-expanded="false"]')]) document.querySelector(`#difference-tree button[data-part="${dataset.part}"]`).click();
      });
      const kernel = page.locator('#difference-tree button.leaf').first();
      if ((await kernel.count()) === 0) return;
      await kernel.click();
      equal(await page.evaluate(() => globalThis.nsysAi.app.view), 'pair');
      check((await pairState(page)).selected.some((event) => event >= 0), 'selected');
    }),
  );
  await suite.test('a kernel of the table is found in the timelines', () =>
    suite.page(path, { hash: '#v=tables&t=compared_kernels' }, async (page) => {
      await page.evaluate(() => {
        const { tables, model } = globalThis.nsysAi.app;
        const table = tables.table();
        const row = table.rows.findIndex((cells) => model.nameIndex.has(cells[0]));
        if (row >= 0) tables.activate(table, row);
      });
      if ((await page.evaluate(() => globalThis.nsysAi.app.view)) !== 'pair') return;
      check((await pairState(page)).selected.some((event) => event >= 0), 'selected');
    }),
  );
}

async function rangesOf(suite, path) {
  let count = 0;
  await suite.page(path, { hash: '#v=pair' }, async (page) => {
    count = await page.evaluate(() => globalThis.nsysAi.app.pair.bar.ranges.length);
  });
  return count;
}

async function flameTests(suite, path, data) {
  if ((data.tables.compared_tree.packed[0].differences ?? data.tables.compared_tree.packed[0].values ?? []).length === 0) return;
  await suite.test('a range of the flame graph takes the whole width, and back', () =>
    suite.page(path, { hash: '#v=flame' }, async (page) => {
      await settle(page);
      const boxes = () => page.evaluate(() => globalThis.nsysAi.app.flame.flame.boxes.map(({ part, left, width, top }) => ({ title: part.title, left, width, top })));
      const before = await boxes();
      const child = before.filter((box) => box.top === 20).reduce((a, b) => (b.width > a.width ? b : a));
      const canvas = await page.locator('canvas.flame').boundingBox();
      await page.mouse.click(canvas.x + child.left + child.width / 2, canvas.y + child.top + 10);
      await settle(page);
      const after = await boxes();
      equal(after[0].title, child.title, 'in focus');
      near(after[0].width, before[0].width, 1, 'the whole width');
      await page.locator('.crumbs button').first().click();
      await settle(page);
      equal((await boxes())[0].title, before[0].title, 'back');
    }),
  );
}

async function accessTests(suite, path) {
  for (const [size, context] of Object.entries({ wide: WIDE, phone: PHONE }))
    for (const colorScheme of ['light', 'dark'])
      await suite.test(`axe-core finds nothing, ${size}, ${colorScheme}`, () =>
        withAxe(suite, path, { ...context, colorScheme, reducedMotion: 'reduce' }, async (page) => {
          for (const view of VIEWS) {
            await page.evaluate((name) => globalThis.nsysAi.app.open(name), view);
            // A phone has no room for the statistics until they are asked for.
            const statistics = page.locator('#view-pair button', { hasText: 'Statistics' });
            if (view === 'pair' && (await statistics.count()) > 0 && !(await page.locator('.panel').isVisible())) await statistics.click();
            equal(await violations(page), [], view);
          }
        }),
      );
  await suite.test('no view is wider than a phone', () =>
    suite.page(path, { context: PHONE }, async (page) => {
      for (const view of VIEWS) {
        await page.evaluate((name) => globalThis.nsysAi.app.open(name), view);
        await settle(page);
        check(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), view);
        check(await page.evaluate(() => [...document.querySelectorAll('svg.step')].every((svg) => svg.getBoundingClientRect().right <= innerWidth)), 'bars are not cut');
      }
    }),
  );
}

export async function compareTests(suite, path, data) {
  await suite.test('every view opens, and nothing complains', () =>
    suite.page(path, {}, async (page) => {
      for (const [index, view] of VIEWS.entries()) {
        await page.keyboard.press(String(index + 1));
        await settle(page);
        equal(await page.evaluate(() => globalThis.nsysAi.app.view), view);
        check(await page.locator(`#view-${view}`).isVisible(), view);
      }
    }),
  );
  await overviewTests(suite, path, data);
  await tableTests(suite, path, data);
  await timelineTests(suite, path, data);
  await helpTests(suite, path);
  await flameTests(suite, path, data);
  await accessTests(suite, path);
}
