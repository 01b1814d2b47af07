import { check, equal, timelineState, WIDE } from './harness.mjs';

const integer = (value) => value.toLocaleString('en-US');

/** Clicks the heading of a column three times, without a way between processes for each: what it says, and what each click did. */
function clickThrice(page, position) {
  return page.evaluate((index) => {
    const heading = () => document.querySelectorAll('.table-main .vt thead th')[index];
    const { title } = heading().querySelector('button');
    const clicks = [1, 2, 3].map(() => {
      heading().querySelector('button').click();
      return { rows: [...globalThis.nsysAi.app.tables.rows], sort: heading().getAttribute('aria-sort') };
    });
    return { title, clicks };
  }, position);
}

/** `most`: so many tables, those with the most rows, have every column tried. */
export function tableTests(suite, path, truth, most = Infinity) {
  return suite.onOnePage(path, (onPage) => testsOfTables(suite, path, truth, most, onPage));
}

async function testsOfTables(suite, path, truth, most, onPage) {
  const { report } = truth;
  const names = Object.keys(report.tables).filter((name) => name !== 'nvtx_tree');
  const rows = (name) => report.tables[name].rows.length;
  const shownRows = (page) => page.evaluate(() => globalThis.nsysAi.app.tables.rows);

  await suite.test('every table is listed with its number of rows', () =>
    suite.page(path, { hash: '#v=tables' }, async (page) => {
      equal(await page.locator('.table-list button').count(), names.length + 1); // and that of all columns
      const listed = await page.locator('.table-list button:has(.count)').evaluateAll((list) => list.map((one) => [one.dataset.table, one.querySelector('.count').textContent]));
      equal(Object.fromEntries(listed), Object.fromEntries(listed.map(([name]) => [name, integer(rows(name))])));
      equal([...listed.map(([name]) => name)].sort(), [...names].sort());
      check(listed.findIndex(([, count]) => count === '0') === -1 || listed.slice(listed.findIndex(([, count]) => count === '0')).every(([, count]) => count === '0'), 'those without rows come last');
      if (names.includes('kernels') && rows('kernels') > 0) {
        equal(listed[0][0], 'kernels');
        equal(await page.locator('.table-head h2').innerText(), report.tables.kernels.title, 'it is the one that opens');
      }
    }),
  );

  for (const name of [...names].sort((a, b) => rows(b) - rows(a)).slice(0, most)) {
    const table = report.tables[name];
    await suite.test(`table ${name}: rows, every column sorts, filter`, () =>
      onPage(async (page) => {
        await page.evaluate((table) => (location.hash = `#v=tables&t=${table}`), name);
        await page.waitForFunction((title) => document.querySelector('.table-head h2')?.innerText === title, table.title);
        equal(await page.locator('.table-head h2').innerText(), table.title);
        equal(
          await page.locator('.table-main .search-status').innerText(),
          `${integer(table.rows.length)} ${table.rows.length === 1 ? 'row' : 'rows'}`,
        );
        equal(Number(await page.locator('.table-main .vt').getAttribute('aria-rowcount')), table.rows.length + 1);
        const columns = await page.evaluate(() => globalThis.nsysAi.app.tables.columns);
        equal(await page.locator('.table-main .vt thead th button').count(), columns.length);
        const inOrder = table.rows.map((_, index) => index);
        for (const [position, column] of columns.entries()) {
          const { name: heading, description = '', type } = table.columns[column];
          const { title, clicks } = await clickThrice(page, position);
          check(title.includes(heading) && title.includes(description), 'column help');
          for (const [click, descending] of (type === 'text' ? [false, true] : [true, false]).entries()) {
            const values = clicks[click].rows.map((row) => table.rows[row][column]).filter((value) => value !== null);
            const isSorted = values.every((value, index) => index === 0 || (descending ? values[index - 1] >= value : values[index - 1] <= value));
            check(isSorted, `${heading} ${descending ? 'descending' : 'ascending'}`);
            equal(clicks[click].sort, descending ? 'descending' : 'ascending');
          }
          equal(clicks[2].rows, inOrder, 'the third click restores the order');
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
        await page.getByRole('button', { name: 'Clear the filter' }).click();
        equal((await shownRows(page)).length, table.rows.length, 'all rows are back');
      }),
    );
  }

  if (report.tables.kernels?.rows.length > 1)
    await suite.test('every row of a share has its bar', () =>
      suite.page(path, { hash: '#v=tables&t=kernels' }, async (page) => {
        const bars = await page.locator('.table-main .vt td.bar').evaluateAll((list) => list.map((cell) => getComputedStyle(cell).backgroundImage));
        check(bars.length > 1 && bars.every((image) => image.includes('gradient')), 'bars on every other row only');
      }),
    );

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
        const shown = await page.evaluate(() => globalThis.nsysAi.app.tables.columns.length);
        for (const line of lines) equal(line.split('|').length, shown + 2, 'cells per line');
        check(!lines.some((line) => /[<>]/.test(line.replace(/`[^`]*`/g, ''))), 'no markup outside of code');
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
          .map((index) => table.rows[0][index] - Number(truth.timeline.origin_ns));
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
