// Time ranges of the two timelines of a comparison: by mouse and keyboard, in the link, with sums of what they hold.
import { check, equal, near } from './harness.mjs';

/** Numbers of the panel for a stretch of the shared axis, and the same recounted event by event: [kernels, ns of them] of each side. */
function sumsOf(page) {
  return page.evaluate(() => {
    const { pair } = globalThis.nsysAi.app;
    const [from, to] = pair.range ?? [pair.viewport.from, pair.viewport.to];
    const recount = ({ model, viewport }) => {
      const [begin, end] = [from, to].map((time) => time + viewport.place.start);
      let [kernels, ns] = [0, 0];
      for (const lane of model.lanes)
        for (let i = lane.first; lane.kind === 'kernel' && i < lane.first + lane.count; i++) {
          const [start, stop] = [model.events.start[i], model.events.start[i] + model.events.duration[i]];
          if (start >= begin && start < end) kernels += 1;
          ns += Math.max(0, Math.min(stop, end) - Math.max(start, begin));
        }
      return [kernels, Math.round(ns)];
    };
    return { shown: pair.lastStats.map(({ kernelCount, kernelNs }) => [kernelCount, Math.round(kernelNs)]), expected: pair.lanes.map(recount) };
  });
}

export async function rangeTests(suite, path) {
  const rangeOf = (page) => page.evaluate(() => globalThis.nsysAi.app.pair.range?.map(Math.round) ?? null);
  const agree = async (page, what) => {
    await page.waitForTimeout(150); // sums follow when the axis has come to rest
    const { shown, expected } = await sumsOf(page);
    equal(shown, expected, what);
    return shown;
  };
  const drag = async (page, selector) => {
    const box = await page.locator(selector).first().boundingBox();
    await page.mouse.move(box.x + box.width * 0.3, box.y + 10);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.6, box.y + 10, { steps: 4 });
    await page.mouse.up();
    return page.evaluate(() => [0.3, 0.6].map((share) => globalThis.nsysAi.app.pair.viewport.from + globalThis.nsysAi.app.pair.viewport.span * share));
  };
  await suite.test('what is in sight is summed side by side, and follows the zoom', () =>
    suite.page(path, { hash: '#v=pair' }, async (page) => {
      await page.locator('#view-pair canvas.tl-canvas').first().focus();
      await page.keyboard.press('0');
      const whole = await agree(page, 'all of it');
      for (let i = 0; i < 6; i++) await page.keyboard.press('w');
      const part = await agree(page, 'zoomed in');
      check(part.every(([, ns], side) => ns <= whole[side][1]) && String(part) !== String(whole), 'less of it');
      equal(await page.locator('.panel h2').textContent(), 'In sight');
      equal(await page.locator('.panel .mini.pair thead th').allTextContents(), ['base', 'new']);
      await page.keyboard.press('i');
      check(!(await page.locator('.panel').isVisible()), 'closed');
      await page.locator('#view-pair button', { hasText: 'Statistics' }).click();
      check(await page.locator('.panel').isVisible(), 'open');
    }),
  );
  for (const [what, selector] of Object.entries({ tracks: '#view-pair canvas.tl-canvas', axis: '#view-pair canvas.tl-ruler' }))
    await suite.test(`a drag over the ${what} selects a time range on both sides`, () =>
      suite.page(path, { hash: '#v=pair' }, async (page) => {
        const edges = await drag(page, selector);
        const range = await rangeOf(page);
        edges.forEach((edge, i) => near(range[i], edge, (edges[1] - edges[0]) / 20, 'edge'));
        equal(await page.locator('.panel h2').textContent(), 'Time range');
        await agree(page, 'of the range');
        await page.locator('#view-pair canvas.tl-canvas').first().focus();
        await page.keyboard.press('f');
        equal(await rangeOf(page), range, 'kept while zooming');
        await agree(page, 'of the range, not of what is in sight');
        await page.keyboard.press('Escape');
        equal(await rangeOf(page), null, 'cleared');
      }),
    );
  await suite.test('a time range stands in the link: reload, Back and a link bring it back', () =>
    suite.page(path, { hash: '#v=pair' }, async (page) => {
      await drag(page, '#view-pair canvas.tl-canvas');
      const range = await rangeOf(page);
      await page.waitForFunction(() => /[#&]r=/u.test(location.hash));
      await page.reload();
      await page.waitForFunction(() => globalThis.nsysAi?.ready);
      equal(await rangeOf(page), range, 'after a reload');
      await agree(page, 'sums, too');
      await page.keyboard.press('1');
      await page.goBack();
      await page.waitForFunction(() => globalThis.nsysAi.app.view === 'pair');
      equal(await rangeOf(page), range, 'after Back');
      await page.evaluate(() => (location.hash = location.hash.replace(/&r=[^&]*/u, '')));
      await page.waitForFunction(() => globalThis.nsysAi.app.pair.range === null);
    }),
  );
  await suite.test('the keyboard selects the time of an event, and what is in sight', () =>
    suite.page(path, { hash: '#v=pair' }, async (page) => {
      await page.locator('#view-pair canvas.tl-canvas').first().focus();
      await page.keyboard.press('m');
      equal(await rangeOf(page), await page.evaluate(() => [globalThis.nsysAi.app.pair.viewport.from, globalThis.nsysAi.app.pair.viewport.to].map(Math.round)), 'in sight');
      const event = await page.evaluate(() => {
        const { pair } = globalThis.nsysAi.app;
        const [base] = pair.lanes;
        const { first, count } = base.model.lanes[0];
        const at = first + Math.floor(count / 2);
        pair.select(base, at);
        const start = base.model.events.start[at] - base.viewport.place.start;
        return [start, start + base.model.events.duration[at]].map(Math.round);
      });
      equal(await rangeOf(page), null, 'an event instead of the range');
      await page.keyboard.press('m');
      equal(await rangeOf(page), event, 'of the event');
      await agree(page, 'of the event');
    }),
  );
}
