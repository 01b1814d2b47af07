import { check, equal, settle, timelineState } from './harness.mjs';

const integer = (value) => value.toLocaleString('en-US');

export async function overviewTests(suite, path, truth) {
  const { report, timeline } = truth;
  const sum = (values) => values.reduce((total, value) => total + value, 0);

  await suite.test('overview shows verdict, findings and caveats', () =>
    suite.page(path, {}, async (page) => {
      const micro = (text) => text.replace(/(\d[ \u00a0])us\b/g, '$1µs');
      equal(await page.locator('#verdict').innerText(), micro(report.verdict.text));
      equal(await page.locator('.finding').count(), report.findings.length);
      for (const [index, finding] of report.findings.entries()) {
        const card = page.locator('.finding').nth(index);
        equal(await card.locator('h3').textContent(), micro(finding.title));
        equal(await card.locator('[data-evidence]').count(), finding.evidence.length);
        equal(
          await card.locator('.evidence-link').allTextContents(),
          finding.evidence.map((evidence) => micro(evidence.text)),
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
      const worked = timeline.utilization.filter((data) => sum([data.compute_ns, data.exposed_comm_ns, data.exposed_copy_ns, data.idle_ns].map(sum)) > 0);
      equal(await page.locator('.util-card').count(), worked.length);
      equal(await page.locator('.glance-line').count(), worked.length);
      for (const [index, data] of worked.entries()) {
        const parts = [data.compute_ns, data.exposed_comm_ns, data.exposed_copy_ns, data.idle_ns].map(sum);
        const whole = sum(parts);
        const shown = await page.locator('.util-card').nth(index).locator('.shares b').allTextContents();
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
          const card = page.locator('.finding').nth(index);
          if ((await card.getAttribute('class')).includes('folded')) await card.locator('.fold').click();
          await card.locator('.evidence-link').nth(position).click();
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
