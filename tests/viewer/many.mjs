// Tests of the pages about many runs (index.html, trend.html, ranks.html) in headless Chromium.
//   node many.mjs PAGE.html...
import { basename, resolve } from 'node:path';
import { check, equal, openBrowser, PHONE, Suite, WIDE } from './lib/harness.mjs';

const browser = await openBrowser();
const suite = new Suite(browser);

/** The number that a cell begins with, in the smallest unit. */
const UNITS = { ns: 1, us: 1e3, ms: 1e6, s: 1e9, B: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 };
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
    if (basename(path) === 'index.html') {
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
