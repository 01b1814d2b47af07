// Tests of the pages about many runs (index.html, trend.html, ranks.html) in headless Chromium.
//   node many.mjs PAGE.html...
import { readFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { violations, withAxe } from './lib/access-tests.mjs';
import { check, equal, openBrowser, PHONE, Suite, WIDE } from './lib/harness.mjs';

const browser = await openBrowser();
const suite = new Suite(browser);

/** The number that a cell begins with, in the smallest unit. */
const UNITS = { ns: 1, us: 1e3, µs: 1e3, ms: 1e6, s: 1e9, B: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 };
const amount = (text) => {
  const [number, unit] = text.split(' ');
  return number === '-' ? -Infinity : Number(number.replaceAll(',', '')) * (UNITS[unit] ?? 1);
};

async function sorted(page, heading) {
  const button = page.locator('#runs').getByRole('button', { name: heading, exact: true });
  await button.focus();
  await button.press('Enter');
  const head = page.locator('#runs th[aria-sort]');
  equal(await head.count(), 1);
  const column = await head.evaluate((cell) => cell.cellIndex);
  return { way: await head.getAttribute('aria-sort'), cells: await page.locator(`#runs tbody tr td:nth-child(${column + 1})`).allInnerTexts() };
}

try {
  for (const path of process.argv.slice(2).map((name) => resolve(name))) {
    suite.prefix = `${basename(path)}: `;
    for (const [name, context] of Object.entries({ wide: WIDE, phone: PHONE })) {
      await suite.test(`${name}: style and script are allowed, nothing sticks out`, () =>
        suite.page(path, { ready: false, context }, async (page) => {
          // The style decides it: without one, or with one that the digest forbids, the body has the browser's margin.
          equal(await page.evaluate(() => getComputedStyle(document.body).paddingLeft), '16px');
          check(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth), 'the page is wider than the window');
        }),
      );
    }
    await suite.test('the theme is the one chosen, also for the next page', () =>
      suite.page(path, { ready: false, context: { ...WIDE, colorScheme: 'light' } }, async (page) => {
        const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
        const light = await paper();
        const theme = page.getByRole('button', { name: /Auto|Light|Dark/ });
        await theme.click();
        equal([await theme.innerText(), await paper()], ['◐ Light', light]);
        await theme.click();
        check((await theme.innerText()) === '◐ Dark' && (await paper()) !== light, 'dark');
        const dark = await paper();
        await page.reload();
        equal([await theme.innerText(), await paper()], ['◐ Dark', dark]);
        await page.emulateMedia({ media: 'print' });
        equal(await paper(), 'rgb(255, 255, 255)');
      }),
    );
    if (basename(path) === 'ranks.html') {
      await suite.test('a column without a value does not show', () =>
        suite.page(path, { ready: false, context: { viewport: { width: 1366, height: 768 } } }, async (page) => {
          const columns = await page.locator('.scroll table').evaluateAll((tables) =>
            tables.flatMap((table) => [...table.tHead.rows[0].cells].map((head, i) => [head.offsetWidth > 0, [...table.tBodies[0].rows].some((row) => !['', '-'].includes(row.cells[i].textContent.trim()))])),
          );
          check(columns.length > 20 && columns.every(([shows, filled]) => shows === filled), 'those with values show');
          check(columns.some(([shows]) => !shows), 'and there are others');
        }),
      );
    }
    if (basename(path) === 'ranks.html') {
      const [, ...bins] = readFileSync(join(dirname(path), 'tables', 'rank_timeline.csv'), 'utf8').trim().split('\n');
      const cells = (page) => page.locator('.columns tbody tr').evaluateAll((list) => list.map((row) => [...row.cells].map((cell) => cell.textContent)));
      /** Shares of the columns from .. to - 1 by rank, from the table. */
      const shares = (from, to) => {
        const all = bins.map((line) => line.split(','));
        const width = Number(all[1][2]);
        return [...new Set(all.map(([rank]) => rank))].map((rank) => {
          const own = all.filter(([name, bin]) => name === rank && from <= Number(bin) && Number(bin) < to);
          return [rank, ...[3, 4, 5, 6].map((state) => (100 * own.reduce((sum, row) => sum + Number(row[state]), 0)) / (width * (to - from)))];
        });
      };
      const agrees = async (page, from, to) => {
        const shown = await cells(page);
        const known = shares(from, to);
        equal(shown.map(([rank]) => rank), known.map(([rank]) => rank));
        for (const [row, [, ...values]] of shown.map((row, i) => [row, known[i]]))
          for (const [i, value] of values.entries()) check(Math.abs(parseFloat(row[i + 1]) - value) < 0.11, `${row} is not ${values}`);
      };
      await suite.test('a drag over the map of time says what each rank did, and leads to that time in its report', async () => {
        const complaints = await suite.page(path, { ready: false, context: WIDE, expectErrors: true }, async (page) => {
          const frame = page.locator('svg.map.time .frame');
          await frame.scrollIntoViewIfNeeded();
          const box = await frame.boundingBox();
          const at = (column) => [box.x + (box.width * (column + 0.5)) / 120, box.y + 8];
          await page.mouse.move(...at(12));
          await page.mouse.down();
          await page.mouse.move(...at(36), { steps: 4 });
          await page.mouse.up();
          await agrees(page, 12, 37);
          await page.reload();
          await agrees(page, 12, 37);
          const link = page.locator('.columns a').nth(1);
          const [, begin, end] = /#v=timeline&r=@(\d+)~(\d+)$/u.exec(await link.getAttribute('href'));
          await link.click();
          await page.waitForFunction(() => globalThis.nsysAi?.app?.timeline?.range);
          const [from, to, window] = await page.evaluate(() => {
            const { range, viewport, model } = globalThis.nsysAi.app.timeline;
            return [...range.map((edge) => edge + Number(model.clock.origin)), viewport.span];
          });
          equal([from, to], [Number(begin), Number(end)]);
          check(window > to - from && window < 2 * (to - from), 'shown with some room');
          await page.goBack();
          await page.keyboard.press('Escape');
          equal(await page.locator('.columns').count(), 0, 'cleared');
        });
        equal(complaints.map((text) => text.split('/').slice(-2)), [['rank1', 'report.html']], 'that page was asked for');
      });
      await suite.test('the keyboard chooses columns of the map of waits', () =>
        suite.page(path, { ready: false, context: WIDE }, async (page) => {
          await page.getByRole('region', { name: 'Who waited' }).focus();
          const count = Number(await page.locator('svg.map.wait').getAttribute('data-columns'));
          for (let i = 0; i < count + 2; i++) await page.keyboard.press('Shift+ArrowRight');
          const waited = (await cells(page)).map(([rank, text]) => [rank, amount(text)]);
          const ranks = readFileSync(join(dirname(path), 'tables', 'ranks.csv'), 'utf8').trim().split('\n').map((line) => line.split(','));
          const [name, wait] = ['rank', 'wait_ns'].map((key) => ranks[0].indexOf(key));
          for (const [i, [rank, ns]] of waited.entries()) {
            equal(rank, ranks[i + 1][name]);
            check(Math.abs(ns - Number(ranks[i + 1][wait])) < 0.006 * ns + 1, `${rank} waited ${ns}, not ${ranks[i + 1][wait]}`);
          }
          check((await page.evaluate(() => location.hash)).endsWith(`&columns=1~0~${count}`), 'in the link');
        }),
      );
      await suite.test('a row of a wait is chosen by a click, and by its link', () =>
        suite.page(path, { ready: false, context: WIDE }, async (page) => {
          const row = page.locator('tr[id^=collective-]').nth(2);
          const id = await row.getAttribute('id');
          await row.locator('td').nth(3).click();
          equal(await page.evaluate(() => decodeURIComponent(location.hash)), `#${id}`);
          await page.reload();
          equal(await page.evaluate(() => document.activeElement.id), id);
        }),
      );
      await suite.test('axe-core finds nothing while columns are chosen', () =>
        withAxe(suite, path, { ...WIDE, reducedMotion: 'reduce' }, async (page) => {
          await page.getByRole('region', { name: 'Ranks over time' }).focus();
          await page.keyboard.press('Shift+ArrowRight');
          equal(await violations(page, () => {}), []);
        }, false),
      );
    }
    await suite.test('? opens the help, Escape closes it', () =>
      suite.page(path, { ready: false }, async (page) => {
        await page.keyboard.press('?');
        check(await page.getByRole('dialog', { name: 'Help' }).isVisible(), 'open');
        await page.keyboard.press('Escape');
        equal(await page.getByRole('dialog').count(), 0);
      }),
    );
    for (const [name, context] of Object.entries({ wide: WIDE, phone: PHONE })) {
      for (const colorScheme of ['light', 'dark']) {
        await suite.test(`axe-core finds nothing, ${name}, ${colorScheme}`, () =>
          withAxe(suite, path, { ...context, colorScheme, reducedMotion: 'reduce' }, async (page) => {
            equal(await violations(page, () => {}), []);
            await page.keyboard.press('?');
            equal(await violations(page, () => {}), [], 'help');
          }, false),
        );
      }
    }
    if (basename(path) === 'trend.html') {
      await suite.test('the dot that is chosen stands in the link, which opens what hides it', () =>
        suite.page(path, { ready: false }, async (page) => {
          const dot = page.locator('svg a[id]').last();
          const id = await dot.getAttribute('id');
          await dot.evaluate((node) => {
            const hidden = node.closest('details');
            if (hidden) hidden.open = true;
            node.focus();
          });
          equal(await page.evaluate(() => decodeURIComponent(location.hash)), `#${id}`);
          await page.goto('about:blank');
          await page.goBack();
          await page.reload();
          equal(await page.evaluate(() => document.activeElement.id), id);
          check(await page.locator('svg a[id]').last().isVisible(), 'in sight');
          await page.goto(`${page.url().split('#')[0]}#%`);
          equal(await page.getByRole('button', { name: 'Link' }).count(), 1, 'an address of another kind');
        }),
      );
    }
    if (basename(path) === 'trend.html') {
      const unfold = (page) => page.evaluate(() => document.querySelectorAll('details').forEach((details) => (details.open = true)));
      const median = (list) => (list.sort((a, b) => a - b), (list[(list.length - 1) >> 1] + list[list.length >> 1]) / 2);
      /** What a chart says of the nights, and the same recounted from its dots. */
      const nightsOf = (page, first, last) =>
        page.evaluate(
          ([from, to]) => {
            const svg = document.querySelector('figure svg a[id]').closest('svg');
            const inside = [...svg.querySelectorAll('a[id]')].slice(from, to + 1);
            return {
              said: svg.parentElement.querySelector('p.nights')?.textContent ?? null,
              status: document.querySelector('main > p.nights').innerText,
              values: inside.map((link) => link.querySelector('title').textContent.split(/ \d{4}-/u)[0]),
              days: inside.map((link) => /\d{4}-\d\d-\d\d/u.exec(link.textContent)[0]),
              bands: [...document.querySelectorAll('figure svg')].filter((other) => other.querySelector('a[id]')).every((other) => other.querySelector('rect.nights')),
            };
          },
          [first, last],
        );
      const agrees = async (page, first, last) => {
        const { said, status, values, days, bands } = await nightsOf(page, first, last);
        const numbers = values.map((text) => amount(text));
        const [, count, middle, least, most] = /^(\d+) of these nights: median (.*), from (.*) to (.*)\.$/u.exec(said);
        equal([Number(count), amount(least), amount(most)], [values.length, Math.min(...numbers), Math.max(...numbers)]);
        const [low, high = low] = middle.split(' to ').map((text) => amount(text));
        equal((low + high) / 2, median(numbers), 'median');
        check(status.startsWith(`${values.length} nights, ${days[0]} to ${days.at(-1)}`), status);
        check(bands, 'each chart shows them');
      };
      await suite.test('a drag over a chart chooses nights, which the link keeps', () =>
        suite.page(path, { ready: false }, async (page) => {
          await unfold(page);
          const dots = page.locator('figure svg').first().locator('circle');
          const at = async (index) => {
            const box = await dots.nth(index).boundingBox();
            return [box.x + box.width / 2 + 2, box.y - 3];
          };
          await dots.first().scrollIntoViewIfNeeded();
          const [from, to] = [await at(1), await at(4)];
          await page.mouse.move(...from);
          await page.mouse.down();
          await page.mouse.move(...to, { steps: 5 });
          await page.mouse.up();
          await agrees(page, 1, 4);
          await page.reload();
          await agrees(page, 1, 4);
          await page.keyboard.press('Escape');
          equal((await nightsOf(page, 1, 4)).said, null, 'cleared');
        }),
      );
      await suite.test('the keyboard chooses nights from a dot to a dot', () =>
        suite.page(path, { ready: false }, async (page) => {
          await unfold(page);
          const links = page.locator('figure svg').first().locator('a[id]');
          await links.nth(2).focus();
          await page.keyboard.press('[');
          await links.nth(5).focus();
          await page.keyboard.press(']');
          await agrees(page, 2, 5);
          const id = await links.nth(5).getAttribute('id');
          check((await page.evaluate(() => decodeURIComponent(location.hash))).startsWith(`#${id}&nights=`), 'dot and nights are in the link');
          await page.getByRole('button', { name: '×' }).first().click();
          equal((await nightsOf(page, 2, 5)).said, null, 'cleared');
        }),
      );
      await suite.test('axe-core finds nothing while nights are chosen', () =>
        withAxe(suite, path, { ...WIDE, reducedMotion: 'reduce' }, async (page) => {
          await unfold(page);
          const links = page.locator('figure svg').first().locator('a[id]');
          await links.nth(2).focus();
          await page.keyboard.press('[');
          equal(await violations(page, () => {}), []);
        }, false),
      );
    }
    if (basename(path) === 'index.html') {
      await suite.test('what is chosen stands in the link', () =>
        suite.page(path, { ready: false }, async (page) => {
          const rows = () => page.locator('#runs tbody tr:visible').evaluateAll((all) => all.map((row) => row.dataset.id));
          await page.keyboard.press('/');
          await page.keyboard.type('0');
          await page.selectOption('#metric', { index: 1 });
          await sorted(page, 'size');
          await sorted(page, 'size');
          const [chosen, title] = [await rows(), await page.locator('th.metric').innerText()];
          check(chosen.length > 1 && title, 'rows and a metric');
          await page.goto('about:blank');
          await page.goBack();
          equal([await rows(), await page.locator('th.metric').innerText()], [chosen, title]);
          equal(await page.locator('#search').inputValue(), '0');
          equal(await page.locator('#runs th[aria-sort]').getAttribute('aria-sort'), 'ascending');
        }),
      );
      await suite.test('the keyboard sorts, and the heading says how', () =>
        suite.page(path, { ready: false }, async (page) => {
          for (const heading of ['window', 'size']) {
            const first = await sorted(page, heading);
            equal(first.way, 'descending');
            const values = first.cells.map(amount);
            equal(values, [...values].sort((a, b) => b - a));
            equal((await sorted(page, heading)).way, 'ascending');
          }
          equal((await sorted(page, 'status')).way, 'ascending');
        }),
      );
      await suite.test('filters leave what fits', () =>
        suite.page(path, { ready: false }, async (page) => {
          const rows = page.locator('#runs tbody tr:visible');
          const all = await rows.count();
          const id = await rows.first().getAttribute('data-id');
          await page.fill('#search', id);
          check((await rows.count()) >= 1 && (await rows.count()) < all, 'fewer rows');
          await page.fill('#search', 'no such words');
          equal(await rows.count(), 0);
        }),
      );
    }
  }
} finally {
  await browser.close();
}
process.exitCode = suite.finish();
