import { pathToFileURL } from 'node:url';
import { check, equal, near, settle, timelineState, PHONE } from './harness.mjs';
import { kernelTests, pickKernel } from './kernel-tests.mjs';
import { rangeTruth } from './read-report.mjs';
import { searchTests } from './search-tests.mjs';

/** Causes as the page says them. */
const CAUSE_WORDS = {
  profiler: 'profiler overhead',
  allocation: 'memory allocation',
  blocking_call: 'synchronization',
  queue_drained: 'starved after synchronization',
  host_code: 'host-bound',
  cuda_call: 'other CUDA call',
  in_launch_call: 'launch call',
  module_load: 'module loading',
  launch_latency: 'launch latency',
  page_migration: 'page migration',
  unknown: 'unknown',
};

/** Lanes of what threads did beside CUDA, not counted as events of the capture. */
const HOST_ROWS = ['overhead', 'mpi', 'openacc', 'osrt', 'sched', 'sample'];

const box = async (page, selector) => page.locator(selector).boundingBox();
const integer = (value) => value.toLocaleString('en-US');

/** The panel's statistics of the selected range against a recount; returns them. */
async function compareStatistics(page, truth) {
  const { range } = await timelineState(page);
  const stats = await page.evaluate(() => {
    const { model, panel } = globalThis.nsysAi.app.timeline;
    return {
      ...panel.lastStats,
      kernels: panel.lastStats.kernels.map((entry) => [model.names[entry.name], entry.count, entry.ns]),
    };
  });
  const expected = rangeTruth(truth, range[0], range[1]);
  if (!truth.timeline.aggregated) {
    equal(stats.kernelCount, expected.kernelCount, 'kernels');
    equal(stats.apiCalls, expected.apiCalls, 'calls');
    equal(stats.launches, expected.launches, 'launches');
    near(stats.blockedNs, expected.blockedNs, 1, 'blocked');
    equal(stats.kernels.length, expected.kernels.size, 'names');
    for (const [text, count, ns] of stats.kernels) {
      equal(count, expected.kernels.get(text).count, text);
      near(ns, expected.kernels.get(text).ns, 1, text);
    }
    stats.gpus.forEach((gpu, index) => near(gpu.busyNs, expected.busy[index], 1, 'busy'));
  }
  return stats;
}

export async function timelineTests(suite, path, truth) {
  const { timeline, events } = truth;
  const open = (hash, body, context) => suite.page(path, { hash: `#v=timeline${hash}`, context }, body);
  const span = timeline.end_ns - timeline.start_ns;

  await suite.test('timeline decodes every event', () =>
    open('', async (page) => {
      const counts = await page.evaluate(() => {
        const { model } = globalThis.nsysAi.app;
        const sum = (values) => values.reduce((total, value) => total + value, 0);
        return {
          count: model.count,
          start: sum(model.events.start),
          duration: sum(model.events.duration),
          link: sum(model.events.link),
          corr: sum(model.events.corr),
          aux: sum(model.events.aux),
        };
      });
      // What the host did beside CUDA is not among the events of the capture.
      const beside = timeline.lanes.filter((lane) => HOST_ROWS.includes(lane.kind));
      equal(counts.count - beside.reduce((total, lane) => total + lane.count, 0), timeline.embedded_events);
      equal(counts.count, events.length);
      for (const key of ['start', 'duration', 'link', 'corr', 'aux'])
        equal(
          counts[key],
          events.reduce((total, event) => total + event[key], 0),
          key,
        );
    }),
  );

  await suite.test('every lane has a track, every GPU, process and thread a group', () =>
    open('', async (page) => {
      const tracks = await page.evaluate(() => globalThis.nsysAi.app.timeline.layout.tracks.map((track) => (track.type === 'thread' && track.parents[0].startsWith('g') ? 'part' : track.type)));
      const of = (type) => tracks.filter((candidate) => candidate === type).length;
      equal(of('events'), timeline.lanes.length);
      equal(of('gpu'), timeline.gpus.length);
      const host = timeline.lanes.filter((lane) => ['nvtx', 'nvtx_async', 'api', ...HOST_ROWS].includes(lane.kind));
      equal(of('process'), new Set(host.map((lane) => lane.pid)).size);
      equal(of('thread'), new Set(host.map((lane) => `${lane.pid}/${lane.tid}`)).size);
      equal(of('utilization'), timeline.utilization.length);
      const group = page.locator('.tl-fold').first();
      equal(await group.getAttribute('aria-expanded'), 'true');
      const before = await page.locator('.tl-labels > *').count();
      await group.click();
      equal(await page.locator('.tl-fold').first().getAttribute('aria-expanded'), 'false');
      check((await page.locator('.tl-labels > *').count()) < before, 'folding hides tracks');
      await page.waitForTimeout(350);
      check((await page.evaluate(() => location.hash)).includes('x='), 'folding stands in the link');
      await page.reload();
      await page.waitForFunction(() => globalThis.nsysAi?.ready);
      equal(await page.locator('.tl-fold').first().getAttribute('aria-expanded'), 'false', 'folding survives a reload');
    }),
  );

  await suite.test('Ctrl + wheel zooms at the cursor, the wheel alone scrolls', () =>
    open('', async (page) => {
      const canvas = await box(page, '.tl-canvas');
      const before = await timelineState(page);
      await page.mouse.move(canvas.x + canvas.width * 0.25, canvas.y + 100);
      const room = await page.evaluate(() => globalThis.nsysAi.app.timeline.layout.height - globalThis.nsysAi.app.timeline.height);
      await page.mouse.wheel(0, 40);
      await settle(page);
      const scrolled = await timelineState(page);
      equal([scrolled.from, scrolled.to], [before.from, before.to], 'the wheel does not zoom');
      near(scrolled.scrollTop, Math.max(0, Math.min(40, room)), 1, 'it scrolls');
      check(await page.locator('.tl-stage .tooltip').isHidden(), 'the tooltip of what was there is gone');
      await page.mouse.wheel(0, -40);
      await page.keyboard.down('Control');
      await page.mouse.wheel(0, -600);
      await settle(page);
      const after = await timelineState(page);
      check(after.to - after.from < (before.to - before.from) * 0.6, 'zoomed in');
      const share = (canvas.width * 0.25) / before.width;
      near(
        after.from + (after.to - after.from) * share,
        before.from + (before.to - before.from) * share,
        span * 0.002,
        'time under the cursor',
      );
      await page.mouse.wheel(0, 600);
      await page.keyboard.up('Control');
      await settle(page);
      const back = await timelineState(page);
      near(back.to - back.from, before.to - before.from, span * 0.05, 'zoomed back out');
    }),
  );

  await suite.test('keys zoom, move, fit and scroll', () =>
    open('', async (page) => {
      const width = async (key) => {
        await page.keyboard.press(key);
        const { from, to } = await timelineState(page);
        return { from, to, span: to - from };
      };
      let last = await width('0');
      for (const key of ['w', '+', '=']) {
        const now = await width(key);
        check(now.span < last.span, `${key} zooms in`);
        last = now;
      }
      for (const [key, sign] of [
        ['d', 1],
        ['ArrowRight', 1],
        ['a', -1],
        ['ArrowLeft', -1],
      ]) {
        const now = await width(key);
        check(Math.sign(now.from - last.from) === sign, `${key} moves`);
        near(now.span, last.span, 1e-6 * span, `${key} keeps the width`);
        last = now;
      }
      for (const key of ['s', '-']) {
        const now = await width(key);
        check(now.span > last.span, `${key} zooms out`);
        last = now;
      }
      last = await width('0');
      equal([last.from, last.to], [timeline.start_ns, timeline.end_ns], 'fit shows the whole trace');
      const { scrollTop } = await timelineState(page);
      const scrolls = await page.evaluate(
        () => globalThis.nsysAi.app.timeline.layout.height > globalThis.nsysAi.app.timeline.height,
      );
      await page.keyboard.press('ArrowDown');
      if (scrolls) check((await timelineState(page)).scrollTop > scrollTop, 'ArrowDown scrolls');
    }),
  );

  await suite.test('dragging selects, Shift moves; the other way round by choice', () =>
    open('', async (page) => {
      await page.keyboard.press('w');
      await page.keyboard.press('w');
      const drag = async (fromX, toX, key) => {
        const canvas = await box(page, '.tl-canvas');
        if (key) await page.keyboard.down(key);
        await page.mouse.move(canvas.x + fromX, canvas.y + 60);
        await page.mouse.down();
        await page.mouse.move(canvas.x + toX, canvas.y + 70, { steps: 5 });
        check(await page.locator('.tl-stage .tooltip').isHidden(), 'no tooltip while dragging');
        await page.mouse.up();
        if (key) await page.keyboard.up(key);
        return timelineState(page);
      };
      const before = await timelineState(page);
      const selects = async (key) => {
        const selected = await drag(100, 400, key);
        near(selected.range[1] - selected.range[0], ((before.to - before.from) * 300) / before.width, (before.to - before.from) * 0.01, 'selects');
        near((selected.to - selected.from) / selected.width, (before.to - before.from) / before.width, 1, 'and does not zoom');
        await page.keyboard.press('Escape');
        equal((await timelineState(page)).range, null);
      };
      const moves = async (key) => {
        const first = await timelineState(page);
        const then = await drag(300, 200, key);
        near(then.from - first.from, ((first.to - first.from) * 100) / first.width, (first.to - first.from) * 0.01, 'moves by 100 px');
        equal(then.range, null, 'and selects nothing');
        await drag(200, 300, key);
      };
      await selects();
      await moves('Shift');
      await page.keyboard.press('?');
      const scrolls = () => page.locator('dialog.help dd', { hasText: 'Scroll the tracks' }).locator('xpath=preceding-sibling::dt[1]').last().innerText();
      equal(await scrolls(), 'Wheel');
      await page.getByLabel('Mouse in the timeline').selectOption('zoom');
      equal(await scrolls(), 'Alt + wheel', 'the help says what is chosen');
      await page.keyboard.press('Escape');
      await moves();
      await selects('Shift');
      await page.mouse.wheel(0, -600);
      await settle(page);
      const zoomed = await timelineState(page);
      check(zoomed.to - zoomed.from < (before.to - before.from) * 0.6, 'then the wheel alone zooms');
      await page.getByRole('button', { name: 'Select range' }).click();
      check((await drag(50, 150)).range !== null, 'the select tool selects');
    }),
  );

  await suite.test('a search moves nothing; keys work after its boxes; Escape clears it whole', () =>
    open('', async (page) => {
      const top = async () => (await box(page, '.tl-canvas')).y;
      const before = await top();
      await page.locator('#timeline-search').fill('a');
      await page.waitForFunction(() => document.querySelector('.search-status').textContent !== '');
      equal(await top(), before, 'the tracks stay where they are');
      await page.getByLabel('only').click();
      const { from, to } = await timelineState(page);
      await page.keyboard.press('w');
      const zoomed = await timelineState(page);
      check(zoomed.to - zoomed.from < to - from, 'keys work after a box was ticked');
      await page.keyboard.press('Escape');
      equal(await page.evaluate(() => {
        const { search } = globalThis.nsysAi.app.timeline;
        return [search.text, search.only];
      }), ['', false], 'nothing hides what the next search does not match');
      check(!(await page.getByLabel('only').isChecked()), 'the box says so');
    }),
  );

  await suite.test('pinch zooms', () =>
    open(
      '',
      async (page) => {
        const before = await timelineState(page);
        const canvas = await box(page, '.tl-canvas');
        const session = await page.context().newCDPSession(page);
        const touch = (type, points) =>
          session.send('Input.dispatchTouchEvent', {
            type,
            touchPoints: points.map((x, id) => ({ x: canvas.x + x, y: canvas.y + 60, id })),
          });
        await touch('touchStart', [120, 180]);
        for (let i = 1; i <= 5; i++) await touch('touchMove', [120 - i * 12, 180 + i * 12]);
        await touch('touchEnd', []);
        const after = await timelineState(page);
        check(after.to - after.from < (before.to - before.from) * 0.6, 'fingers apart zoom in');
      },
      PHONE,
    ),
  );

  await suite.test('range statistics equal a recount', () =>
    open('', async (page) => {
      const ruler = await box(page, '.tl-ruler');
      await page.mouse.move(ruler.x + ruler.width * 0.2, ruler.y + 10);
      await page.mouse.down();
      await page.mouse.move(ruler.x + ruler.width * 0.45, ruler.y + 10, { steps: 6 });
      await page.mouse.up();
      const stats = await compareStatistics(page, truth);
      const shown = await page.locator('.panel').innerText();
      check(shown.includes(integer(stats.kernelCount)), 'the panel shows the number of kernels');
      const launched = events.find(
        (event) => event.lane.kind === 'kernel' && event.link > 0 && events[event.link - 1].duration > 2,
      );
      if (!launched) return;
      const call = events[launched.link - 1];
      await page.evaluate(
        ([from, to]) => globalThis.nsysAi.app.timeline.selectRange(from, to, true),
        [call.start + 1, Math.max(call.end, launched.end - 1)],
      );
      await compareStatistics(page, truth);
    }),
  );

  await suite.test('two ranges stand beside each other, also by their link', () =>
    open('', async (page) => {
      const [a, b] = [[0.1, 0.3], [0.5, 0.8]].map((shares) => shares.map((share) => Math.round(span * share)));
      const select = (range) => page.evaluate(([from, to]) => globalThis.nsysAi.app.timeline.selectRange(from, to, true), range);
      await select(a);
      await page.keyboard.press('c');
      check(await page.getByRole('button', { name: 'Kept as A' }).isDisabled(), 'says that it is kept');
      await select(b);
      const shown = () =>
        page.evaluate(() => {
          const { panel, kept, range } = globalThis.nsysAi.app.timeline;
          return { kept, range, kernels: [panel.lastBeside.kernelCount, panel.lastStats.kernelCount], text: panel.element.innerText, hash: panel.view.app.state.link() };
        });
      const before = await shown();
      if (!timeline.aggregated) {
        equal(before.kernels, [rangeTruth(truth, ...a).kernelCount, rangeTruth(truth, ...b).kernelCount], 'kernels of both');
        check(before.kernels.every((count) => before.text.includes(integer(count))), 'the panel says both');
      }
      if (!timeline.aggregated) equal(before.kept, a, 'kept');
      await page.goto('about:blank');
      await page.goto(pathToFileURL(path).href + before.hash);
      await page.waitForFunction(() => globalThis.nsysAi?.ready);
      equal((await shown()).kernels, before.kernels, 'by its link');
      await page.keyboard.press('Escape');
      await page.keyboard.press('Escape');
      equal(await page.evaluate(() => globalThis.nsysAi.app.timeline.kept), null, 'Escape lets go');
    }),
  );

  await suite.test('tables of the panel sort and widen, and copy whole names', () =>
    open('', async (page) => {
      await page.evaluate(([from, to]) => globalThis.nsysAi.app.timeline.selectRange(from, to, true), [0, timeline.end_ns]);
      const table = page.locator('.panel h3:text-is("Top kernels") + table');
      if ((await table.count()) === 0) return;
      const calls = () => table.locator('tbody tr td:nth-child(2)').allTextContents().then((list) => list.map((text) => Number(text.replaceAll(',', ''))));
      await table.getByRole('button', { name: 'Calls' }).click();
      const down = await calls();
      equal(down, [...down].sort((x, y) => y - x), 'most first');
      await table.getByRole('button', { name: 'Calls' }).click();
      const up = await calls();
      equal(up, [...up].sort((x, y) => x - y), 'fewest first');
      equal(await table.locator('th').nth(1).getAttribute('aria-sort'), 'ascending');
      const width = () => table.locator('th').nth(1).evaluate((element) => element.offsetWidth);
      const before = await width();
      const grip = await table.locator('.grip').first().boundingBox();
      await page.mouse.move(grip.x + 3, grip.y + 8);
      await page.mouse.down();
      await page.mouse.move(grip.x - 27, grip.y + 8, { steps: 3 });
      await page.mouse.up();
      near((await width()) - before, 30, 2, 'as wide as dragged');
      const panel = () => page.locator('.panel').evaluate((element) => element.offsetWidth);
      const narrow = await panel();
      await page.locator('.panel-edge').focus();
      await page.keyboard.press('ArrowLeft');
      near((await panel()) - narrow, 40, 2, 'the panel, too');
      const whole = await table.locator('[data-full]').first().getAttribute('data-full');
      await page.evaluate(() => Object.defineProperty(navigator, 'clipboard', { value: { writeText: async (text) => (globalThis.copied = text) } }));
      await page.getByRole('button', { name: 'Copy the selection as Markdown' }).click();
      const copied = await page.evaluate(() => globalThis.copied);
      check(copied.includes(whole.slice(0, 60).replace(/[|`].*$/u, '')), 'the whole name is copied');
    }),
  );

  await suite.test('a drag over tracks selects them', () =>
    open('', async (page) => {
      const canvas = await box(page, '.tl-canvas');
      const tracks = await page.evaluate(() => globalThis.nsysAi.app.timeline.layout.visible.map(({ key, top, height, lane }) => ({ key, top, height, kind: lane?.kind ?? null })));
      const at = tracks.findIndex(({ kind, top }) => kind !== null && top > 60 && top < canvas.height - 60);
      if (at < 0) return;
      const { top } = tracks[at];
      await page.mouse.move(canvas.x + 100, canvas.y + top - 50);
      await page.mouse.down();
      await page.mouse.move(canvas.x + 400, canvas.y + top + 3, { steps: 5 });
      await page.mouse.up();
      const { area, gpus, under, hash } = await page.evaluate(() => {
        const { timeline: view, state } = globalThis.nsysAi.app;
        const shown = view.layout.tracks.filter(
          ({ key, lane, parents }) => lane && view.model.isGpuLane(lane) && (view.area.includes(key) || parents.some((p) => view.area.includes(p) && view.layout.collapsed.has(p))),
        );
        return { area: view.area, gpus: view.panel.lastStats.gpus.length, under: new Set(shown.map(({ lane }) => lane.gpu)).size, hash: state.link() };
      });
      check(area?.includes(tracks[at].key), 'the track where it ends');
      check(!area.includes(tracks.at(-1).key) || at === tracks.length - 1, 'not what lies below');
      check(hash.includes('ra='), 'in the link');
      if (!timeline.aggregated) equal(gpus, under, 'of the GPUs under it');
      await page.getByRole('button', { name: 'all tracks' }).click().catch(() => check(timeline.aggregated, 'the way back'));
      if (!timeline.aggregated) equal(await page.evaluate(() => globalThis.nsysAi.app.timeline.area), null, 'all again');
    }),
  );

  const kernel = pickKernel(truth);
  if (kernel) await kernelTests(suite, open, truth, kernel);

  await searchTests(suite, open, truth, kernel ?? events[0]);

  await suite.test('colours and times can be switched', () =>
    open('', async (page) => {
      const picture = () => page.evaluate(() => globalThis.nsysAi.app.timeline.canvas.toDataURL());
      await settle(page);
      const category = await picture();
      await page.getByLabel('Color by').selectOption('name');
      await settle(page);
      if (kernel) check((await picture()) !== category, 'colour by name looks different');
      const time = () => page.evaluate(() => globalThis.nsysAi.app.model.clock.format(1500000));
      equal(await time(), '1.500000 ms');
      await page.getByLabel('Time shown as').selectOption('absolute');
      const absolute = BigInt(timeline.origin_ns) + 1500000n;
      equal(await time(), `${absolute / 1000000000n}.${String(absolute % 1000000000n).padStart(9, '0')} s`);
      if (truth.report.run.utc_epoch_ns !== null) {
        await page.getByLabel('Time shown as').selectOption('wall');
        const wall = BigInt(truth.report.run.utc_epoch_ns) + absolute;
        equal(
          await time(),
          `${new Date(Number(wall / 1000000n)).toISOString().slice(11, 19)}.${String(wall % 1000000000n).padStart(9, '0')}`,
        );
      } else {
        check(
          await page.locator('#view-timeline option[value=wall]').evaluate((option) => option.disabled),
          'no wall clock without an epoch',
        );
      }
    }),
  );

  await suite.test('the overview strip moves the window', () =>
    open('', async (page) => {
      await page.evaluate(() => {
        const view = globalThis.nsysAi.app.timeline;
        view.viewport.set(view.model.startNs, view.model.startNs + (view.model.endNs - view.model.startNs) / 10);
        view.moved();
      });
      await settle(page);
      const strip = await box(page, '.tl-strip');
      await page.mouse.click(strip.x + strip.width * 0.7, strip.y + strip.height / 2);
      const { from, to } = await timelineState(page);
      near((from + to) / 2, timeline.start_ns + span * 0.7, span * 0.01, 'a click centres the window');
      near(to - from, span / 10, span * 0.001, 'and keeps its width');
      await page.mouse.move(strip.x + strip.width * 0.75, strip.y + 8);
      await page.mouse.down();
      await page.mouse.move(strip.x + strip.width * 0.85, strip.y + 8, { steps: 3 });
      await page.mouse.up();
      const resized = await timelineState(page);
      near(resized.from, from, span * 0.005, 'the left edge stays');
      near(resized.to, timeline.start_ns + span * 0.85, span * 0.01, 'the right edge follows');
    }),
  );

  const gaps = truth.report.tables.gpu_idle_gaps;
  if (gaps && gaps.rows.length > 0)
    await suite.test('idle gaps show their cause', () =>
      open('', async (page) => {
        await page.evaluate(() => globalThis.nsysAi.app.timeline.selectGapByRow(0, true));
        await settle(page);
        const at = await page.evaluate(() => {
          const view = globalThis.nsysAi.app.timeline;
          const track = view.layout.tracks.find((candidate) => candidate.gaps && candidate.gpu === view.selectedGap.gpu);
          const { start, end } = track.gaps;
          const canvas = view.canvas.getBoundingClientRect();
          const index = view.selectedGap.index;
          return {
            x: canvas.x + view.viewport.x((start[index] + end[index]) / 2, view.width),
            y: canvas.y + track.top - view.scrollTop + track.height / 2,
          };
        });
        await page.keyboard.press('Escape');
        equal((await timelineState(page)).gap, null);
        await page.mouse.move(at.x, at.y);
        const cause = String(gaps.rows[0][gaps.columns.findIndex((column) => column.name === 'cause')]);
        await page.mouse.click(at.x, at.y);
        check((await timelineState(page)).gap !== null, 'a click selects the gap');
        const shown = await page.locator('.panel').innerText();
        check(shown.includes(CAUSE_WORDS[cause] ?? cause), `the panel names the cause ${cause}`);
        await page.getByRole('button', { name: 'Row in the table' }).click();
        equal((await timelineState(page)).view, 'tables');
        equal(await page.locator('.table-head h2').innerText(), gaps.title);
      }),
    );
}
