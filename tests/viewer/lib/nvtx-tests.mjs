import { check, equal, near, settle, timelineState } from './harness.mjs';

export async function nvtxTests(suite, path, truth) {
  const { report } = truth;
  const tree = report.tables.nvtx_tree;
  if (!tree || tree.rows.length === 0) {
    await suite.test('without NVTX the page says so', () =>
      suite.page(path, { hash: '#v=nvtx' }, async (page) => {
        check((await page.locator('#view-nvtx').innerText()).includes('no NVTX ranges'), 'explanation');
      }),
    );
    return;
  }
  const column = (name) => tree.columns.findIndex((candidate) => candidate.name === name);
  const sumOf = (name, rows) => rows.reduce((sum, row) => sum + row[column(name)], 0);
  const roots = tree.rows.filter((row) => row[column('parent_id')] < 0);

  await suite.test('flame graph and tree hold every range, merged and per thread', () =>
    suite.page(path, { hash: '#v=nvtx' }, async (page) => {
      const totals = () =>
        page.evaluate(() => {
          const { root } = globalThis.nsysAi.app.nvtx;
          const result = { wall: root.wallMs, gpu: root.gpuMs, self: 0, gpuSelf: 0, count: 0, leaves: 0 };
          const visit = (node) => {
            result.self += node.wallSelfMs;
            result.gpuSelf += node.gpuSelfMs;
            if (node.children.length === 0) result.leaves++;
            node.children.forEach(visit);
          };
          visit(root);
          return result;
        });
      for (const grouping of ['merged', 'threads']) {
        await page.getByLabel('Grouping').selectOption(grouping);
        const shown = await totals();
        near(shown.wall, sumOf('total_time_ms', roots), 1e-6, 'wall time');
        near(shown.gpu, sumOf('attributed_kernel_time_ms', roots), 1e-6, 'GPU time');
        near(shown.self, sumOf('self_time_ms', tree.rows), 1e-6, 'self time');
        near(shown.gpuSelf, sumOf('self_kernel_time_ms', tree.rows), 1e-6, 'GPU self time');
      }
    }),
  );

  await suite.test('flame graph zooms, the path leads back, the metric changes widths', () =>
    suite.page(path, { hash: '#v=nvtx' }, async (page) => {
      await settle(page);
      const boxes = () =>
        page.evaluate(() =>
          globalThis.nsysAi.app.nvtx.flame.boxes.map((item) => ({
            name: item.node.name,
            depth: item.node.depth,
            left: item.left,
            top: item.top,
            width: item.width,
          })),
        );
      const first = (await boxes()).filter((item) => item.depth === 1).sort((a, b) => b.width - a.width)[0];
      check(first && first.width > 5, 'a range below the root');
      const canvas = await page.locator('canvas.flame').boundingBox();
      await page.mouse.click(canvas.x + first.left + first.width / 2, canvas.y + first.top + 8);
      await settle(page);
      const zoomed = (await boxes()).find((item) => item.name === first.name && item.depth === 1);
      near(zoomed.width, canvas.width, 2, 'the range takes the whole width');
      equal(await page.locator('.crumbs .link bdi').allTextContents(), ['All threads', first.name]);
      await page.waitForTimeout(350);
      check((await page.evaluate(() => location.hash)).includes('nr='), 'focus stands in the link');
      await page.locator('.crumbs .link').first().click();
      await page.getByLabel('Time shown', { exact: true }).selectOption('gpu');
      await settle(page);
      const gpu = await page.locator('#view-nvtx .vt tbody tr').first().innerText();
      check(
        gpu.includes(
          sumOf('attributed_kernel_time_ms', roots).toLocaleString('en-US', {
            minimumFractionDigits: 3,
            maximumFractionDigits: 3,
          }),
        ),
        'the tree shows GPU time',
      );
      await page.locator('#nvtx-search').fill(first.name);
      check((await page.locator('.tree-label.match').count()) > 0, 'highlight');
    }),
  );

  await suite.test('tree unfolds and leads to the timeline', () =>
    suite.page(path, { hash: '#v=nvtx' }, async (page) => {
      const count = () => page.evaluate(() => globalThis.nsysAi.app.nvtx.rows.length);
      const before = await count();
      const closed = await page.evaluate(() =>
        globalThis.nsysAi.app.nvtx.rows.findIndex(
          (node) => node.children.length > 0 && !globalThis.nsysAi.app.nvtx.open.has(node),
        ),
      );
      if (closed >= 0) {
        await page.evaluate((row) => globalThis.nsysAi.app.nvtx.grid.setActive(row, true), closed);
        await page.locator('#view-nvtx .vt').focus();
        await page.keyboard.press('ArrowRight');
        check((await count()) > before, 'ArrowRight unfolds');
        await page.keyboard.press('ArrowLeft');
        equal(await count(), before, 'ArrowLeft folds');
      }
      const name = await page.evaluate(() => globalThis.nsysAi.app.nvtx.rows[1].name);
      await page.locator('#view-nvtx .vt tbody tr').nth(1).hover();
      await page.locator('#view-nvtx .vt tbody tr').nth(1).getByRole('button', { name: 'Show in the timeline' }).click();
      const state = await timelineState(page);
      equal(state.view, 'timeline');
      if (state.selected >= 0) equal(truth.events[state.selected].text, name);
    }),
  );

  const phases = report.tables.nvtx_phases;
  if (phases && phases.rows.length > 0)
    await suite.test('phases add up', () =>
      suite.page(path, { hash: '#v=nvtx' }, async (page) => {
        const names = new Set(
          phases.rows.map((row) =>
            String(
              row[
                Math.max(
                  0,
                  phases.columns.findIndex((item) => item.name === 'phase'),
                )
              ],
            ),
          ),
        );
        equal(await page.locator('.phases .legend > span').count(), names.size);
        const bars = await page.locator('.phases .stack-row').evaluateAll((list) =>
          list.map((row) => {
            const bar = row.querySelector('.stack-bar');
            const used = [...bar.children].reduce((sum, segment) => sum + segment.getBoundingClientRect().width, 0);
            return { total: Number(row.querySelector('.stack-label .muted').textContent.replace(/[^\d.]/gu, '')), empty: bar.clientWidth - used - bar.childElementCount };
          }),
        );
        const sums = phases.columns.map((item, index) => phases.rows.reduce((sum, row) => sum + (Number(row[index]) || 0), 0));
        for (const { total, empty } of bars) {
          check(sums.some((sum) => Math.abs(sum - total) <= 1e-3), 'a bar is the sum of a column');
          check(empty <= 2, `${empty} px of a bar are empty`);
        }
      }),
    );
}
