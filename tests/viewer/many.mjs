// Tests of the pages about many runs (index.html, trend.html, ranks.html) in headless Chromium.
//   node many.mjs PAGE.html...
import { basename, resolve } from 'node:path';
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
