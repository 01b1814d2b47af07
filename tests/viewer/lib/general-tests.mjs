import { check, equal, near, settle, timelineState, PHONE, WIDE } from './harness.mjs';
import { covered } from './analyse.mjs';

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
          [...document.querySelectorAll('button, input, select, canvas, [role]:not([role=presentation], [role=gridcell])')]
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
      equal(await page.locator('dialog.help dd', { hasText: 'Overview, ' }).textContent(), (await page.locator('#views button').allInnerTexts()).join(', '));
      await page.keyboard.press('Escape');
      check(!(await page.locator('dialog.help').isVisible()), 'Escape closes it');
      // From where the dialog was, at the end of the page, the first may lead out of it, and the next back to its beginning.
      const focused = () => page.evaluate(() => document.activeElement !== document.body);
      for (let presses = 0; presses < 3 && !(await focused()); presses++) {
        await page.keyboard.press('Tab');
        await settle(page);
      }
      check(await focused(), 'Tab reaches a control');
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

  for (const [label, context] of [
    ['1280 px', WIDE],
    ['a phone', PHONE],
  ]) {
    await suite.test(`every view fits ${label}`, () =>
      suite.page(path, { context }, async (page) => {
        for (const view of await page.evaluate(() => globalThis.nsysAi.app.views.map(([key]) => key))) {
          await page.evaluate((key) => globalThis.nsysAi.app.open(key), view);
          await settle(page);
          const [inner, outer] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
          check(inner <= outer + 1, `${view} is ${inner} px wide in a window of ${outer} px`);
          if (view === 'overview' && context === PHONE)
            equal(await page.locator('.ranking li .link').evaluateAll((list) => list.filter((link) => link.scrollWidth > link.clientWidth + 1).map((link) => link.textContent)), [], 'names that are cut');
          if (view === 'iterations')
            equal(await page.locator('#view-iterations .toolbar :is(select, button)').evaluateAll((list) => list.filter((one) => one.getBoundingClientRect().right > innerWidth).length), 0, 'controls beyond the edge');
          if (view === 'timeline') {
            const { width, height } = await timelineState(page);
            check(width > 200 && height > 250, `the canvas has ${width} x ${height} px`);
          }
        }
      }),
    );
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
