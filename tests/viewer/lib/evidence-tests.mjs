// What the page says around an event: of a gap, of a folded finding, of columns; and of a browser that lacks something.
import { check, equal, settle, timelineState, WIDE } from './harness.mjs';

/** Rows of table losses whose events the page can tell. */
const MARKED = ['unfused', 'casts', 'underfilled', 'small_blocks', 'tiny_copies', 'allocation', 'copies_on_compute_stream', 'repeated_copies', 'round_trips', 'streamed_copies'];

/** Of any report: evidence that counts events. */
export async function countedTests(suite, path, { report }) {
  await suite.test('evidence that counts events or gaps marks so many', () =>
    suite.page(path, {}, async (page) => {
      let last = null;
      for (const evidence of report.findings.flatMap((finding) => finding.evidence)) {
        const [, count, times = '1'] = /(?:^|: |stream \d+, )([\d,]+) (?:kernels?|calls?|gaps?|times|waits?|rounds?|opens|reads|samples of|launches)\b(?: repeat ([\d,]+) times)?/u.exec(evidence.text) ?? [];
        const known = ['kernels', 'kernel_shape', 'idle_patterns', 'nvtx_ranges', 'gpu_active', 'run_info', 'launch_waits', 'memory_transfers', 'copy_rates', 'autotuning', 'mpi_calls', 'mpi_sizes', 'comm_ops', 'file_access', 'host_functions', 'cpu_threads', 'graph_savings'].includes(evidence.table) || (evidence.table === 'losses' && report.tables.losses.rows[evidence.row].some((cell) => MARKED.includes(cell)));
        if (!count || !known) continue;
        const { placed, events, gaps, text } = await page.evaluate((wanted) => {
          const { app } = globalThis.nsysAi;
          const placed = app.showEvidence(wanted);
          const { events, gaps, text } = app.timeline.search;
          return { placed, events, gaps: Boolean(gaps), text };
        }, evidence);
        check(placed, `in the timeline: ${evidence.text}`);
        const isListed = (report.tables.gpu_idle_gaps?.row_count ?? 0) === 0;
        if (events !== null && (isListed || !gaps)) equal([events, text.startsWith(`counted:${evidence.table} ${evidence.row}`)], [Number(count.replaceAll(',', '')) * Number(times.replaceAll(',', '')), true], evidence.text);
        last = text;
      }
      if (last) await page.waitForFunction((text) => new URLSearchParams(location.hash.slice(1)).get('q') === text, last); // in the link, a little later
    }),
  );
}

export async function evidenceTests(suite, path, { report, timeline }) {
  await suite.test('a gap tells what the launching thread did', () =>
    suite.page(path, { hash: '#v=timeline&g=0' }, async (page) => {
      const panel = page.locator('.panel');
      equal(await panel.locator('h2').innerText(), 'IDLE GAP');
      const table = report.tables.gpu_idle_gaps;
      const known = table.columns.some((column) => column.name === 'tid') && table.rows[0][table.columns.findIndex((column) => column.name === 'tid')] !== null;
      if (known) check((await panel.innerText()).includes('What the launching thread did'), 'layers');
      check(!(await panel.innerText()).includes('undefined'), 'no holes in the text');
      await page.locator('#timeline-canvas').focus();
      await page.keyboard.press('m');
      const cell = (name) => table.rows[0][table.columns.findIndex((column) => column.name === name)] - Number(timeline.origin_ns);
      equal((await timelineState(page)).range, [cell('gap_start_ns'), cell('gap_end_ns')], 'M selects its time');
    }),
  );

  await suite.test('minor findings are folded, open by a button, and open all at once', () =>
    suite.page(path, {}, async (page) => {
      const folded = page.locator('.finding.folded');
      const before = await folded.count();
      if (before === 0) return;
      equal(await folded.first().locator('.evidence').isVisible(), false);
      await folded.first().locator('.fold').press('Enter');
      equal(await folded.count(), before - 1);
      if (before > 1) await page.locator('.open-all').click();
      equal(await folded.count(), 0);
    }),
  );

  await suite.test('every column is explained, from each table and back', () =>
    suite.page(path, { hash: '#v=tables&t=kernels' }, async (page) => {
      await page.getByRole('button', { name: 'Columns', exact: true }).click();
      equal(await page.locator('.table-head h2').innerText(), 'What the tables hold');
      equal(await page.evaluate(() => globalThis.nsysAi.app.tables.rows.length), report.tables.kernels.columns.length);
      await page.locator('#table-filter').fill('');
      await page.waitForTimeout(200);
      const columns = Object.values(report.tables).reduce((sum, table) => sum + table.columns.length, 0);
      equal(await page.evaluate(() => globalThis.nsysAi.app.tables.rows.length), columns);
      await page.locator('#table-filter').fill('table=gpu_idle_gaps');
      await page.waitForTimeout(200);
      await page.locator('.vt tbody tr:not(.space) td').nth(1).click();
      equal(await page.locator('.table-head h2').innerText(), report.tables.gpu_idle_gaps.title);
    }),
  );

  await suite.test('zoomed in below a bin, utilization is that of the events', () =>
    suite.page(path, { hash: '#v=timeline' }, async (page) => {
      const kinds = await page.evaluate(() => {
        const { timeline: view, model } = globalThis.nsysAi.app;
        const data = model.timeline.utilization[0];
        const kind = () => view.painter.utilization(data, view.viewport.span / view.width).constructor === view.painter.sums.get(data).constructor;
        view.painter.utilization(data, data.bin_ns);
        const whole = view.painter.utilization(data, data.bin_ns) === view.painter.sums.get(data);
        view.viewport.set(model.startNs, model.startNs + data.bin_ns * 20);
        view.drawNow();
        return [whole, kind()];
      });
      equal(kinds, [true, false]);
    }),
  );

  await suite.test('a browser that cannot unpack the data keeps verdict and findings', async () => {
    const context = await suite.browser.newContext(WIDE);
    await context.addInitScript(() => delete globalThis.DecompressionStream);
    const page = await context.newPage();
    await page.goto(`file://${path}`);
    check((await page.locator('[role=alert]').innerText()).includes('may be too old'), 'it says so');
    equal(await page.locator('.finding').count(), report.findings.length);
    await context.close();
  });
}
