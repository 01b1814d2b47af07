import { check, equal, near, settle, timelineState, PHONE, WIDE } from './harness.mjs';
import { covered } from './analyse.mjs';

const integer = (value) => value.toLocaleString('en-US');

export async function overviewTests(suite, path, truth) {
  const { report, timeline } = truth;
  const sum = (values) => values.reduce((total, value) => total + value, 0);

  await suite.test('overview shows verdict, findings and caveats', () =>
    suite.page(path, {}, async (page) => {
      equal(await page.locator('#verdict').innerText(), report.verdict.text);
      equal(await page.locator('.finding').count(), report.findings.length);
      for (const [index, finding] of report.findings.entries()) {
        const card = page.locator('.finding').nth(index);
        equal(await card.locator('h3').textContent(), finding.title);
        equal(await card.locator('[data-evidence]').count(), finding.evidence.length);
        equal(
          await card.locator('.evidence-link').allTextContents(),
          finding.evidence.map((evidence) => evidence.text),
        );
      }
      equal(await page.locator('.caveats li').count(), report.caveats.length);
      check(
        (await page.locator('.facts').innerText()).includes(`${integer(timeline.embedded_events)} events`),
        'number of events',
      );
    }),
  );

  await suite.test('utilisation adds up to the window and is drawn', () =>
    suite.page(path, {}, async (page) => {
      equal(await page.locator('.gpu-card').count(), timeline.utilization.length);
      for (const [index, data] of timeline.utilization.entries()) {
        const parts = [data.compute_ns, data.exposed_comm_ns, data.exposed_copy_ns, data.idle_ns].map(sum);
        const whole = sum(parts);
        const shown = await page.locator('.gpu-card').nth(index).locator('.shares b').allTextContents();
        equal(
          shown,
          parts.map((part) => `${((100 * part) / whole).toFixed(1)} %`),
        );
      }
      await settle(page);
      const filled = await page.locator('.util-chart').evaluateAll((list) =>
        list.map((canvas) =>
          canvas
            .getContext('2d')
            .getImageData(0, 0, canvas.width, canvas.height)
            .data.some((value) => value !== 0),
        ),
      );
      check(filled.every(Boolean), 'every chart is drawn');
      if (filled.length > 0) {
        await page.locator('.util-chart').first().click();
        equal((await timelineState(page)).view, 'timeline', 'a click on a chart opens the timeline');
      }
    }),
  );

  for (const [index, finding] of report.findings.entries()) {
    for (const [position, evidence] of finding.evidence.entries()) {
      await suite.test(`evidence ${finding.id}[${position}] leads to its place`, () =>
        suite.page(path, {}, async (page) => {
          await page.locator('.finding').nth(index).locator('.evidence-link').nth(position).click();
          const state = await timelineState(page);
          const known = evidence.name !== null && evidence.name !== undefined && timeline.names.includes(evidence.name);
          if (typeof evidence.start_ns === 'number') {
            const from = evidence.start_ns - Number(timeline.origin_ns);
            const to = (evidence.end_ns ?? evidence.start_ns) - Number(timeline.origin_ns);
            equal(state.view, 'timeline');
            check(state.from <= from + 1 && state.to >= to - 1, 'the window holds the evidence');
            check(to - from < 100 || state.to - state.from < (to - from) * 6, 'and is zoomed to it');
            check(state.selected >= 0 || state.range !== null || state.gap !== null, 'something is selected');
          } else if (known) {
            equal(state.view, 'timeline');
            if (state.selected >= 0) equal(truth.events[state.selected].text, evidence.name);
          } else if (evidence.table) {
            equal(state.view, 'tables');
            equal(await page.locator('.table-head h2').innerText(), report.tables[evidence.table].title);
          }
        }),
      );
    }
  }
}

export async function tableTests(suite, path, truth) {
  const { report } = truth;
  const names = Object.keys(report.tables).filter((name) => name !== 'nvtx_tree');
  const shownRows = (page) => page.evaluate(() => globalThis.nsysAi.app.tables.rows);

  await suite.test('every table is listed with its number of rows', () =>
    suite.page(path, { hash: '#v=tables' }, async (page) => {
      equal(await page.locator('.table-list button').count(), names.length);
      equal(
        await page.locator('.table-list .count').allTextContents(),
        names.map((name) => integer(report.tables[name].rows.length)),
      );
    }),
  );

  for (const name of names) {
    const table = report.tables[name];
    await suite.test(`table ${name}: rows, every column sorts, filter`, () =>
      suite.page(path, { hash: `#v=tables&t=${name}` }, async (page) => {
        equal(await page.locator('.table-head h2').innerText(), table.title);
        equal(
          await page.locator('.table-main .search-status').innerText(),
          `${integer(table.rows.length)} ${table.rows.length === 1 ? 'row' : 'rows'}`,
        );
        equal(Number(await page.locator('.table-main .vt table').getAttribute('aria-rowcount')), table.rows.length + 1);
        const columns = await page.evaluate(() => globalThis.nsysAi.app.tables.columns);
        const headings = page.locator('.table-main .vt thead th button');
        equal(await headings.count(), columns.length);
        for (const [position, column] of columns.entries()) {
          const title = await headings.nth(position).getAttribute('title');
          check(
            title.includes(table.columns[column].name) && title.includes(table.columns[column].description ?? ''),
            'column help',
          );
          for (const expectDescending of table.columns[column].type === 'text' ? [false, true] : [true, false]) {
            await headings.nth(position).click();
            const values = (await shownRows(page)).map((row) => table.rows[row][column]).filter((value) => value !== null);
            const sorted = values.every(
              (value, index) => index === 0 || (expectDescending ? values[index - 1] >= value : values[index - 1] <= value),
            );
            check(sorted, `${table.columns[column].name} ${expectDescending ? 'descending' : 'ascending'}`);
            equal(
              await page.locator('.table-main .vt thead th').nth(position).getAttribute('aria-sort'),
              expectDescending ? 'descending' : 'ascending',
            );
          }
          await headings.nth(position).click();
          equal(
            await shownRows(page),
            table.rows.map((_, index) => index),
            'the third click restores the order',
          );
        }
        if (table.rows.length === 0) return;
        const text = table.columns.findIndex((column) => column.type === 'text');
        const number = table.columns.findIndex((column) => column.type !== 'text');
        if (text >= 0) {
          const wanted = String(table.rows.at(-1)[text] ?? '')
            .replace(/"/g, ' ')
            .trim()
            .slice(0, 24);
          const expected = table.rows.filter((row) =>
            row.some((value) => value !== null && String(value).toLowerCase().includes(wanted.toLowerCase())),
          ).length;
          await page.locator('#table-filter').fill(`"${wanted}"`);
          await page.waitForFunction((count) => globalThis.nsysAi.app.tables.rows.length === count, expected);
        }
        if (number >= 0) {
          const limit = table.rows[Math.floor(table.rows.length / 2)][number];
          await page.locator('#table-filter').fill(`${table.columns[number].name}>=${limit}`);
          const expected = table.rows.filter((row) => typeof row[number] === 'number' && row[number] >= limit).length;
          await page.waitForFunction(
            (count) => globalThis.nsysAi.app.tables.rows.length === count,
            limit === null ? table.rows.length : expected,
          );
        }
        await page.locator('#table-filter').fill('no such text anywhere');
        await page.waitForFunction(() => globalThis.nsysAi.app.tables.rows.length === 0);
      }),
    );
  }

  const largest = names.reduce(
    (best, name) => (report.tables[name].rows.length > report.tables[best].rows.length ? name : best),
    names[0],
  );
  await suite.test(`the longest table (${largest}) holds only the rows in sight`, () =>
    suite.page(path, { hash: `#v=tables&t=${largest}` }, async (page) => {
      const count = report.tables[largest].rows.length;
      const elements = () => page.locator('.table-main .vt tbody tr:not(.space)').count();
      check((await elements()) <= Math.min(count, 90), 'few elements');
      await page.locator('.table-main .vt').evaluate((element) => (element.scrollTop = element.scrollHeight));
      await page.waitForFunction(
        (last) =>
          [...document.querySelectorAll('.table-main .vt tbody tr')].some(
            (row) => row.getAttribute('aria-rowindex') === String(last),
          ),
        count + 1,
      );
      check((await elements()) <= Math.min(count, 90), 'still few elements');
      await page.locator('.table-main .vt').focus();
      await page.keyboard.press('Home');
      await page.keyboard.press('ArrowDown');
      equal(await page.evaluate(() => globalThis.nsysAi.app.tables.grid.active), Math.min(1, count - 1), 'the arrow keys move');
      await page.keyboard.press(' ');
      check(await page.locator('.drawer').isVisible(), 'Space shows all fields');
    }),
  );

  const source = names.includes('kernels') ? 'kernels' : names[0];
  await suite.test('copies as CSV and Markdown', () =>
    suite.page(
      path,
      { hash: `#v=tables&t=${source}`, context: { ...WIDE, permissions: ['clipboard-read', 'clipboard-write'] } },
      async (page) => {
        const table = report.tables[source];
        const clipboard = () => page.evaluate(() => navigator.clipboard.readText());
        await page.getByRole('button', { name: 'Copy CSV' }).click();
        await page.waitForFunction(() => document.querySelector('.table-main [role=status]').textContent.includes('copied'));
        const rows = parseCsv(await clipboard());
        equal(
          rows[0],
          table.columns.map((column) => column.name),
        );
        equal(rows.length, table.rows.length + 1);
        table.rows.forEach((row, index) => {
          equal(
            rows[index + 1],
            row.map((value) =>
              value === null ? '' : typeof value === 'string' && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value),
            ),
          );
        });
        await page.getByRole('button', { name: 'Copy Markdown' }).click();
        await page.waitForTimeout(100);
        const lines = (await clipboard()).trim().split('\n');
        equal(lines.length, table.rows.length + 2);
        for (const line of lines) equal(line.split('|').length, table.columns.length + 2, 'cells per line');
        check(!lines.some((line) => /<script|<img/i.test(line)), 'no markup');
      },
    ),
  );

  if (report.tables.gpu_idle_gaps?.rows.length > 0)
    await suite.test('a row with times leads to the timeline', () =>
      suite.page(path, { hash: '#v=tables&t=gpu_idle_gaps' }, async (page) => {
        const table = report.tables.gpu_idle_gaps;
        await page.locator('.table-main .vt tbody tr:not(.space)').first().locator('td').nth(2).click();
        const state = await timelineState(page);
        equal(state.view, 'timeline');
        const [from, to] = table.columns
          .map((column, index) => (column.unit === 'timestamp_ns' ? index : -1))
          .filter((index) => index >= 0)
          .map((index) => table.rows[0][index] - Number(timeline(truth).origin_ns));
        check(state.from <= from && state.to >= to, 'the gap is in sight');
        check(state.gap !== null, 'and selected');
      }),
    );

  if (report.tables.kernels?.rows.length > 0)
    await suite.test('a kernel row leads to its longest run, and shows a histogram', () =>
      suite.page(path, { hash: '#v=tables&t=kernels' }, async (page) => {
        const table = report.tables.kernels;
        const device = table.columns.findIndex((column) => column.name === 'device_id');
        const full = table.columns.findIndex((column) => column.name === 'kernel_name');
        await page.locator('.row-more').first().click();
        check(await page.locator('.drawer').isVisible(), 'all fields');
        const runs = truth.events.filter(
          (event) =>
            event.lane.kind === 'kernel' && event.text === table.rows[0][full] && event.lane.gpu === table.rows[0][device],
        );
        equal(await page.locator('.drawer canvas.histogram').count(), runs.length > 1 ? 1 : 0);
        await page.locator('.table-main .vt tbody tr:not(.space)').first().locator('td').nth(2).click();
        const state = await timelineState(page);
        equal(state.view, 'timeline');
        if (runs.length > 0)
          equal(truth.events[state.selected].duration, Math.max(...runs.map((event) => event.duration)), 'the longest run');
      }),
    );
}

const timeline = (truth) => truth.timeline;

function parseCsv(text) {
  const rows = [[]];
  let field = '';
  let quoted = false;
  for (let i = 0; i < text.length; i++) {
    const character = text[i];
    if (quoted) {
      if (character !== '"') field += character;
      else if (text[i + 1] === '"') field += text[++i];
      else quoted = false;
    } else if (character === '"') quoted = true;
    else if (character === ',' || character === '\n') {
      rows.at(-1).push(field);
      field = '';
      if (character === '\n' && i + 1 < text.length) rows.push([]);
    } else field += character;
  }
  return rows;
}

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
        const bars = await page
          .locator('.phases .stack-bar')
          .evaluateAll((list) =>
            list.map((bar) => [...bar.children].reduce((sum, segment) => sum + Number(segment.style.flexGrow), 0)),
          );
        const sums = phases.columns.map((item, index) => phases.rows.reduce((sum, row) => sum + (Number(row[index]) || 0), 0));
        for (const bar of bars)
          check(
            sums.some((sum) => Math.abs(sum - bar) <= 1e-5 * bar),
            'a bar is the sum of a column',
          );
      }),
    );
}

export async function generalTests(suite, path, truth) {
  await suite.test('strict Content-Security-Policy, no inline styles or handlers', () =>
    suite.page(path, { ready: false }, async (page) => {
      const head = truth.html.slice(0, truth.html.indexOf('<style>'));
      check(
        /default-src 'none'; script-src 'sha256-[A-Za-z0-9+/=]{44}'; style-src 'sha256-[A-Za-z0-9+/=]{44}'/.test(head),
        'policy',
      );
      check(!/unsafe|https?:/.test(head), 'nothing weaker');
      const markup = truth.html.replace(/<script[\s\S]*?<\/script>/g, '').replace(/<style[\s\S]*?<\/style>/g, '');
      check(!/<[^>]+\s(style|on\w+)=/i.test(markup), 'no style or handler attributes');
      check(!/<(link|img|iframe|object|embed|script)[^>]+(src|href)="(?!data:,)/i.test(markup), 'nothing loaded');
      await page.waitForFunction(() => globalThis.nsysAi?.ready);
    }),
  );

  await suite.test('the policy stops injected script', async () => {
    const complaints = await suite.page(path, { expectErrors: true }, async (page) => {
      const ran = await page.evaluate(() => {
        const element = document.createElement('script');
        element.textContent = 'globalThis.injected = true';
        document.body.append(element);
        const image = document.createElement('div');
        image.innerHTML = '<img src="https://example.invalid/x.png" onerror="globalThis.injected = true">';
        document.body.append(image);
        return globalThis.injected === true;
      });
      await page.waitForTimeout(200);
      equal([ran, await page.evaluate(() => globalThis.injected === true)], [false, false]);
    });
    check(
      complaints.some((line) => line.includes('Content Security Policy')),
      'the browser reports the violation',
    );
  });

  await suite.test('readable without JavaScript', () =>
    suite.page(path, { ready: false, context: { ...WIDE, javaScriptEnabled: false } }, async (page) => {
      const text = await page.locator('body').innerText();
      check(text.includes(truth.report.verdict.text), 'verdict');
      for (const finding of truth.report.findings) {
        check(text.includes(finding.title), finding.title);
        for (const evidence of finding.evidence) check(text.includes(evidence.text.replace(/\s+/g, ' ')), evidence.text);
      }
      check(text.includes('need JavaScript'), 'explanation');
    }),
  );

  await suite.test('views open by tab and by key, controls have names', () =>
    suite.page(path, {}, async (page) => {
      for (const [key, view, label] of [
        ['2', 'timeline', 'Timeline'],
        ['3', 'tables', 'Tables'],
        ['4', 'nvtx', 'NVTX'],
        ['1', 'overview', 'Overview'],
      ]) {
        await page.keyboard.press(key);
        equal((await timelineState(page)).view, view);
        equal(await page.locator('#views [aria-current]').innerText(), label);
        const unnamed = await page.evaluate(() =>
          [...document.querySelectorAll('button, input, select, canvas, [role]')]
            .filter((element) => element.checkVisibility() && !element.closest('[aria-hidden=true]'))
            .filter(
              (element) =>
                !(
                  element.textContent.trim() ||
                  element.getAttribute('aria-label') ||
                  element.getAttribute('title') ||
                  element.labels?.length ||
                  element.matches('[aria-live], [role=status]')
                ),
            )
            .map((element) => element.outerHTML.slice(0, 120)),
        );
        equal(unnamed, [], `unnamed controls in ${view}`);
      }
      await page.keyboard.press('?');
      check(await page.locator('dialog.help').isVisible(), 'help');
      await page.keyboard.press('Escape');
      check(!(await page.locator('dialog.help').isVisible()), 'Escape closes it');
      await page.keyboard.press('Tab');
      check(await page.evaluate(() => document.activeElement !== document.body), 'Tab reaches a control');
    }),
  );

  await suite.test('theme: system, light, dark', () =>
    suite.page(path, { context: { ...WIDE, colorScheme: 'dark' } }, async (page) => {
      const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
      const dark = await background();
      const button = page.locator('.tools button', { hasText: 'Auto' });
      await button.click();
      const light = await background();
      check(light !== dark, 'light differs from the dark system theme');
      await page.locator('.tools button', { hasText: 'Light' }).click();
      equal(await background(), dark, 'dark');
      await page.reload();
      await page.waitForFunction(() => globalThis.nsysAi?.ready);
      equal(await background(), dark, 'the choice stays');
    }),
  );

  await suite.test('prints findings and tables', () =>
    suite.page(path, {}, async (page) => {
      check((await page.pdf()).length > 5000, 'overview');
      await page.keyboard.press('3');
      await page.emulateMedia({ media: 'print' });
      check(!(await page.locator('#views').isVisible()), 'controls stay off paper');
      check((await page.pdf()).length > 3000, 'table');
    }),
  );

  for (const view of ['overview', 'timeline', 'tables', 'nvtx']) {
    for (const [label, context] of [
      ['1280 px', WIDE],
      ['a phone', PHONE],
    ]) {
      await suite.test(`${view} fits ${label}`, () =>
        suite.page(path, { hash: `#v=${view}`, context }, async (page) => {
          await settle(page);
          const [inner, outer] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
          check(inner <= outer + 1, `the page is ${inner} px wide in a window of ${outer} px`);
          if (view === 'timeline') {
            const { width, height } = await timelineState(page);
            check(width > 200 && height > 250, `the canvas has ${width} x ${height} px`);
          }
        }),
      );
    }
  }
}

/** Idle bins must agree with the events: a check of the report, not only of the page. */
export async function consistencyTests(suite, truth) {
  await suite.test('idle gaps lie where no event runs', async () => {
    const table = truth.report.tables.gpu_idle_gaps;
    if (!table || truth.timeline.aggregated) return;
    const times = table.columns
      .map((column, index) => (column.unit === 'timestamp_ns' ? index : -1))
      .filter((index) => index >= 0);
    const device = table.columns.findIndex((column) => column.name === 'device_id');
    for (const row of table.rows.slice(0, 50)) {
      const [from, to] = times.map((index) => row[index] - Number(truth.timeline.origin_ns));
      const busy = truth.events.filter(
        (event) => event.lane.gpu === row[device] && ['kernel', 'copy', 'set', 'graph'].includes(event.lane.kind),
      );
      near(
        covered(
          busy.filter((event) => event.start < to && event.end > from).map((event) => [event.start, event.end]),
          from,
          to,
        ),
        0,
        0.5,
        'busy ns inside a gap',
      );
    }
  });
}
