import { check, equal, settle, timelineState } from './harness.mjs';

/** The view of what repeats: by mouse and keyboard, and absent where nothing does. */
export async function iterationTests(suite, path, truth) {
  const rows = (name) => truth.report.tables[name]?.rows ?? [];
  const known = rows('steps').length + rows('repeating_units').length + rows('nvtx_projection').length > 0;
  await suite.test('iterations are shown where something repeats', () =>
    suite.page(path, {}, async (page) => {
      const tabs = await page.locator('#views button').allTextContents();
      if (!known) return equal(tabs.includes('Iterations'), false);
      if (!tabs.includes('Iterations')) return undefined;
      await page.getByRole('button', { name: 'Iterations', exact: true }).click();
      await settle(page);
      const canvas = page.locator('.strip');
      const rowAt = (row) => page.evaluate((at) => {
        const { strip } = globalThis.nsysAi.app.iterations;
        return { x: 200, y: 20 + at * strip.rowHeight + strip.rowHeight / 2, index: strip.rows[at], pair: strip.pair };
      }, row);
      const instanceOf = (index) => page.evaluate((at) => {
        const { model, iterations } = globalThis.nsysAi.app;
        const { start, end, label } = iterations.source.instances[at];
        return { start, end, label, whole: model.complete(start, end) };
      }, index);
      /** Edges of a range that lacks events move outwards to the grid of the sums. */
      const checkRange = ([from, to], { start, end, whole }, what) => {
        const most = whole ? 0 : truth.timeline.grid.bin_ns;
        check(from <= start && start - from <= most && to >= end && to - end <= most, `${what}: ${from} to ${to}`);
      };
      const first = await rowAt(0);
      await canvas.click({ position: first });
      const state = await timelineState(page);
      const instance = await instanceOf(first.index);
      equal(state.view, 'timeline');
      checkRange(state.range, instance, 'a click shows the iteration');
      check(state.from < instance.start && state.to > instance.end, 'it is in sight as a whole');
      await page.goBack();
      const usual = await page.evaluate(() => globalThis.nsysAi.app.iterations.strip.typical.index);
      const place = await rowAt(usual === 0 ? 1 : 0);
      await page.evaluate(() => scrollTo(0, 0)); // Back comes to where a tall picture was clicked: the header may lie over it
      await canvas.click({ position: place, modifiers: ['Shift'] });
      equal((await rowAt(0)).pair, [place.index, usual], 'Shift + click compares with the median');
      const pairIsThere = (await instanceOf(place.index)).whole && (await instanceOf(usual)).whole;
      equal(await page.locator('.pairs tbody tr').count() > 0, pairIsThere, 'operation by operation, where the page has them');
      equal(await page.getByText(/^Kernels of [AB]( and B)? are not on the page/u).count(), pairIsThere ? 0 : 1, 'and says so where it has not');
      await page.waitForTimeout(350);
      const link = await page.evaluate(() => location.hash);
      await page.getByRole('button', { name: 'Close', exact: true }).click();
      equal((await rowAt(0)).pair, []);
      await page.waitForTimeout(350);
      await page.evaluate((hash) => (location.hash = hash), link);
      await settle(page);
      equal((await rowAt(0)).pair, [place.index, usual], 'the link holds the pair');
      await canvas.focus();
      await page.keyboard.press('End');
      await page.keyboard.press('Enter');
      const last = await page.evaluate(() => globalThis.nsysAi.app.iterations.strip.rows.at(-1));
      checkRange((await timelineState(page)).range, await instanceOf(last), 'the keyboard does the same');
      return undefined;
    }),
  );
}
