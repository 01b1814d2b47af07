// What only a report made for the purpose can show: hostile names, aggregation, damage, empty traces.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeFixture } from '../make-fixture.mjs';
import { analyse } from './analyse.mjs';
import { renderReport } from './encode.mjs';
import { check, equal, near, settle, timelineState } from './harness.mjs';
import { HOSTILE, makePlan } from './synthetic.mjs';

function write(directory, html) {
  mkdirSync(directory, { recursive: true });
  const path = join(directory, 'report.html');
  writeFileSync(path, html);
  return path;
}

/** A run without any event, as from a trace with no GPU work. */
function emptyReport() {
  const { report, timeline } = analyse(makePlan({ steps: 1, layers: 1, hostile: false, noWallClock: true }));
  for (const table of Object.values(report.tables)) table.rows = [];
  Object.assign(timeline, {
    names: [],
    short_names: [],
    name_category: [],
    gpus: [],
    processes: [],
    threads: [],
    utilization: [],
    end_ns: 0,
    configs: [],
  });
  return renderReport({ ...report, findings: [], caveats: [] }, timeline, []);
}

/** The plan's kernels on GPU 0 in blocks of eight, as a trace beyond the limit is written. */
function aggregatedReport() {
  const plan = makePlan({ hostile: false });
  const { report, timeline } = analyse(plan);
  const total = plan.lanes.reduce((sum, lane) => sum + lane.events.length, 0);
  const lanes = plan.lanes.map((lane) => {
    if (lane.kind !== 'kernel') return lane;
    const events = [];
    for (let i = 0; i < lane.events.length; i += 8) {
      const group = lane.events.slice(i, i + 8);
      const end = Math.max(...group.map((event) => event.start + event.duration));
      events.push({
        ...group[0],
        link: null,
        duration: end - group[0].start,
        count: group.length,
        busy: group.length > 1 ? group.reduce((sum, event) => sum + event.duration, 0) : 0,
      });
    }
    return { ...lane, events };
  });
  const note = 'Kernels are aggregated outside the marked windows.';
  return {
    html: renderReport(
      report,
      { ...timeline, aggregated: true, note, total_events: total, detail_windows: [[1e6, 2e6]] },
      lanes,
    ),
    note,
    total,
  };
}

export async function fixtureTests(suite, scratch, fixture) {
  await suite.test('hostile names are shown literally everywhere', () =>
    suite.page(fixture.path, { hash: '#v=tables&t=kernels' }, async (page) => {
      for (const text of HOSTILE) {
        await page.evaluate((name) => {
          const { app } = globalThis.nsysAi;
          app.open('tables');
          app.tables.filter.value = '';
          app.tables.apply();
          const row = app.tables.rows.findIndex((index) => app.report.tables.kernels.rows[index][0] === name);
          app.tables.grid.setActive(row, true);
          app.tables.showDrawer(app.tables.rows[row]);
        }, text);
        check((await page.locator('.drawer bdi').allTextContents()).includes(text), `table: ${text}`);
        check((await page.locator('.vt tr.active bdi').allTextContents()).includes(text), `row: ${text}`);
        await page.locator('.drawer').getByRole('button', { name: 'Show in the timeline' }).click();
        equal(await page.locator('.panel .full-name bdi').textContent(), text, 'timeline');
        await settle(page);
      }
      equal(
        await page.evaluate(() => [
          document.querySelectorAll('img, iframe').length,
          document.querySelectorAll('script').length,
        ]),
        [0, 4],
        'no element came from a name',
      );
    }),
  );

  await suite.test('utilization and gaps equal the plan', () =>
    suite.page(fixture.path, {}, async (page) => {
      for (const [index, gpu] of fixture.perGpu.entries()) {
        equal(
          gpu.totals.reduce((sum, value) => sum + value, 0),
          gpu.window,
          'the partition is exact',
        );
        const parts = await page
          .locator('.glance .stack-bar')
          .nth(index)
          .locator('.segment')
          .evaluateAll((list) => list.map((segment) => Number(segment.style.flexGrow)));
        const expected = gpu.totals.filter((value) => value > 0);
        equal(parts.length, expected.length);
        // The browser keeps six digits of a flex factor.
        parts.forEach((part, position) => near(part, expected[position], expected[position] * 1e-5));
      }
      const gaps = await page.evaluate(() =>
        globalThis.nsysAi.app.timeline.layout.tracks.filter((track) => track.gaps).map((track) => track.gaps.start.length),
      );
      equal(
        gaps,
        fixture.perGpu.map((gpu) => gpu.gaps.length),
      );
    }),
  );

  await suite.test('aggregation is announced, counted and marked', async () => {
    const { html, note } = aggregatedReport();
    const path = write(join(scratch, 'aggregated'), html);
    await suite.page(path, { hash: '#v=timeline' }, async (page) => {
      const text = await page.locator('#view-timeline .notice').innerText();
      check(text.includes(note), 'note');
      const event = await page.evaluate(() => {
        const { model, timeline } = globalThis.nsysAi.app;
        const index = model.events.count.findIndex((count) => count > 1);
        timeline.selectEvent(index, { zoom: true });
        return { index, count: model.events.count[index] };
      });
      check((await page.locator('.panel').innerText()).includes(`Block of ${event.count} events`.toUpperCase()), 'members of the aggregate');
      check(await page.locator('.panel .trim[open] code').innerText().then((text) => text.includes('--trim 60.1')), 'the command for the rest');
    });
  });

  await suite.test('an empty trace gives a page without errors', async () => {
    const path = write(join(scratch, 'empty'), emptyReport());
    for (const view of ['overview', 'timeline', 'tables', 'nvtx']) {
      await suite.page(path, { hash: `#v=${view}` }, async (page) => {
        await settle(page);
        equal((await timelineState(page)).view, view);
        if (view === 'timeline')
          for (const key of ['w', 's', 'd', 'a', '0', '[', ']', 'n', 'm', 'l', 'f']) await page.keyboard.press(key);
      });
    }
  });

  await suite.test('a damaged event block is reported, findings stay readable', async () => {
    const html = readFileSync(fixture.path, 'utf8');
    const at = html.indexOf('id="nsys-ai-events">') + 200;
    const path = write(join(scratch, 'damaged'), `${html.slice(0, at)}AAAAAAAAAAAAAAAAAAAA${html.slice(at + 20)}`);
    await suite.page(path, { ready: false, expectErrors: true }, async (page) => {
      await page.waitForSelector('[role=alert]');
      check((await page.locator('[role=alert]').innerText()).includes('could not start'), 'message');
      equal(await page.locator('.finding').count(), fixture.report.findings.length);
    });
  });

  await suite.test('hostile fragments change nothing', async () => {
    for (const hash of [
      '#v=<script>',
      '#v=timeline&a=NaN&b=-1&e=1e99&r=~~&y=-5&x=!!!',
      '#v=tables&t=__proto__&s=constructor.desc&f=%22',
      '#v=nvtx&nr=%01%01&nm=x&ng=y',
      '#v=timeline&e=-1&g=999999&q=(&qx=1',
      '#%E0%A4%A',
    ]) {
      await suite.page(fixture.path, { hash }, async (page) => {
        await settle(page);
        check(await page.evaluate(() => Number.isFinite(globalThis.nsysAi.app.timeline.viewport.from)), hash);
      });
    }
  });

  await suite.test('a large report decodes, draws and searches', async () => {
    const { path } = makeFixture(join(scratch, 'large'), { events: 200000, hostile: false });
    await suite.page(path, { hash: '#v=timeline' }, async (page) => {
      await settle(page);
      const result = await page.evaluate(() => {
        const view = globalThis.nsysAi.app.timeline;
        const { from, to } = view.viewport;
        const { raster } = view.painter;
        // The summary of the whole row must cover what its events cover.
        const track = view.layout.tracks.find((candidate) => candidate.lane?.kind === 'kernel');
        raster.fill(track.rows[0], from, to, view.width);
        const scale = view.width / (to - from);
        let drawn = raster.coverage.reduce((sum, value) => sum + value, 0);
        for (let i = 0; i < raster.rects.length; i += 3) drawn += raster.rects[i + 2] - raster.rects[i + 1];
        const lane = track.lane;
        let expected = 0;
        for (let i = lane.first; i < lane.first + lane.count; i++) expected += view.model.events.duration[i] * scale;
        return { count: view.model.count, drawn, expected };
      });
      check(result.count >= 200000, 'events');
      check(
        Math.abs(result.drawn - result.expected) < result.expected * 0.001,
        `drawn ${result.drawn} px of ${result.expected} px`,
      );
    });
  });
}
