import { check, equal, near, placeOf, timelineState } from './harness.mjs';
import { onGpu } from './read-report.mjs';

const integer = (value) => value.toLocaleString('en-US');

/** A launched kernel with room to be clicked, preferably with others of its name. */
export function pickKernel({ events }) {
  const kernels = events.filter(
    (event) => event.lane.kind === 'kernel' && event.link > 0 && event.count === 1 && event.duration > 0,
  );
  const counts = new Map();
  for (const kernel of kernels) counts.set(kernel.name, (counts.get(kernel.name) ?? 0) + 1);
  const repeated = kernels.filter((kernel) => counts.get(kernel.name) > 2);
  return (
    (repeated.length > 0 ? repeated : kernels).sort((a, b) => b.duration - a.duration)[
      Math.min(3, Math.max(0, repeated.length - 1))
    ] ??
    kernels[0] ??
    null
  );
}

/** Everything around one selected kernel. */
export async function kernelTests(suite, open, truth, kernel) {
  const { timeline, events } = truth;
  const select = (page) =>
    page.evaluate((event) => globalThis.nsysAi.app.timeline.selectEvent(event, { zoom: true, reveal: true }), kernel.index);

  await suite.test('a click selects an event and shows all its fields', () =>
    open('', async (page) => {
      await select(page);
      await page.evaluate(() => globalThis.nsysAi.app.timeline.clearSelection());
      const at = await placeOf(page, kernel.index);
      check(at !== null, 'zooming brings the event into sight');
      await page.mouse.click(at.x, at.y);
      equal((await timelineState(page)).selected, kernel.index);
      const panel = page.locator('.panel');
      equal(await panel.locator('.full-name bdi').textContent(), kernel.text, 'full name');
      const text = await panel.innerText();
      check(text.includes(`${integer(kernel.duration)} ns`) || kernel.duration < 1000, 'exact duration');
      const config = kernel.aux > 0 ? timeline.configs[kernel.aux - 1] : null;
      if (config) {
        check(text.includes(`${config[0]} × ${config[1]} × ${config[2]}`), 'grid');
        check(text.includes(`${config[3]} × ${config[4]} × ${config[5]}`), 'block');
        check(text.includes(`${config[6]} per thread`), 'registers');
      }
      check(text.includes(String(kernel.corr)), 'correlation');
      const same = events.filter((event) => event.name === kernel.name).length;
      check(text.includes(`of ${integer(same)}`), 'how many of this name');
      if (same > 1) check(await panel.locator('canvas.histogram').isVisible(), 'histogram');
      await page.mouse.dblclick(at.x, at.y);
      const { from, to } = await timelineState(page);
      check(from <= kernel.start && to >= kernel.end, 'double click zooms to it');
    }),
  );

  await suite.test('durations of a name over time: a click on a dot selects its event', () =>
    open('', async (page) => {
      await select(page);
      const same = events.filter((event) => event.name === kernel.name && event.lane.gpu === kernel.lane.gpu && event.count === 1);
      const canvas = page.locator('.panel canvas.scatter');
      if (same.length < 2 || !(await canvas.count())) return;
      check((await canvas.getAttribute('aria-label')).startsWith(`${integer(same.length)} durations`), 'every event is a dot');
      // The longest stands at the top, where its start is along the capture.
      const longest = same.reduce((best, event) => (event.duration > best.duration ? event : best));
      const { width } = await canvas.boundingBox();
      const share = (longest.start - timeline.start_ns) / (timeline.end_ns - timeline.start_ns);
      await canvas.click({ position: { x: Math.round(2 + share * (width - 4)), y: 5 } });
      const chosen = events[(await timelineState(page)).selected];
      equal(chosen.name, kernel.name);
      near(chosen.duration, longest.duration, longest.duration * 0.15, 'the longest, or one beside it');
      near(chosen.start, longest.start, ((timeline.end_ns - timeline.start_ns) * 13) / width, 'its time');
    }),
  );

  await suite.test('launching call, range stack and arrow', () =>
    open('', async (page) => {
      await select(page);
      const call = events[kernel.link - 1];
      const inside = events.filter(
        (event) =>
          event.lane.kind === 'nvtx' &&
          event.lane.pid === call.lane.pid &&
          event.lane.tid === call.lane.tid &&
          event.start <= call.start &&
          (event.end > call.start || event.start === call.start),
      );
      const shown = await page.locator('.panel .stack bdi').allTextContents();
      equal(shown.length, inside.length, 'depth of the range stack');
      const names = inside.sort((a, b) => a.aux - b.aux).map((event) => timeline.short_names[event.name] || event.text);
      equal(shown, names, 'range stack, outermost first');
      await page.keyboard.press('l');
      equal((await timelineState(page)).selected, call.index, 'L goes to the launching call');
      const launched = events.filter((event) => onGpu(event) && event.link === kernel.link);
      check((await page.locator('.panel').innerText()).includes('GPU work launched'), 'the call lists its work');
      await page.keyboard.press('l');
      equal((await timelineState(page)).selected, launched[0].index, 'L goes back to the work');
      await page.keyboard.press('f');
      // Everything in one picture, then the same without the selection: the arrow makes the difference.
      await page.evaluate(
        ([from, to]) => {
          const view = globalThis.nsysAi.app.timeline;
          view.layout.collapsed.clear();
          view.layout.place();
          view.viewport.focus(from, to, 0.8);
          view.drawNow();
        },
        [Math.min(call.start, kernel.start), Math.max(call.end, kernel.end)],
      );
      const arrow = await page.evaluate((event) => {
        const view = globalThis.nsysAi.app.timeline;
        const drawn = [];
        const original = view.painter.paintArrow;
        view.painter.paintArrow = function (context, frame, from, to) {
          drawn.push([from, to]);
          return original.call(this, context, frame, from, to);
        };
        view.selectEvent(event, {});
        view.drawNow();
        view.painter.paintArrow = original;
        return drawn;
      }, kernel.index);
      equal(arrow, [[call.index, kernel.index]], 'one arrow from call to kernel');
    }),
  );

  await suite.test('brackets walk through the events of one name', () =>
    open('', async (page) => {
      await select(page);
      const order = events
        .filter((event) => event.name === kernel.name)
        .sort((a, b) => a.start - b.start || a.index - b.index)
        .map((event) => event.index);
      const at = order.indexOf(kernel.index);
      await page.keyboard.press(']');
      equal((await timelineState(page)).selected, order[Math.min(at + 1, order.length - 1)], 'next');
      await page.keyboard.press('[');
      equal((await timelineState(page)).selected, order[at + 1 < order.length ? at : Math.max(0, at - 1)], 'previous');
      await select(page);
      await page.keyboard.press('.');
      const lane = kernel.lane;
      if (kernel.index + 1 < lane.first + lane.count)
        equal((await timelineState(page)).selected, kernel.index + 1, 'next on the track');
      await select(page);
      await page.keyboard.press('m');
      equal((await timelineState(page)).range, [kernel.start, kernel.end], 'M selects the range of the event');
    }),
  );

  await suite.test('a link restores the place', () =>
    open('', async (page) => {
      await select(page);
      await page.getByLabel('Color by').selectOption('name');
      await page.getByLabel('Time shown as').selectOption('absolute');
      await page.locator('#timeline-search').fill('a');
      await page.waitForTimeout(450);
      const before = await timelineState(page);
      const hash = await page.evaluate(() => location.hash);
      await open(hash.replace('#v=timeline', ''), async (other) => {
        const after = await timelineState(other);
        near(after.from, before.from, 1, 'left edge');
        near(after.to, before.to, 1, 'right edge');
        equal([after.selected, after.scrollTop, after.panel], [before.selected, before.scrollTop, true]);
        equal(await other.getByLabel('Color by').inputValue(), 'name');
        equal(await other.getByLabel('Time shown as').inputValue(), 'absolute');
        equal(await other.locator('#timeline-search').inputValue(), 'a');
      });
      await page.getByRole('button', { name: 'Tables', exact: true }).click();
      equal((await timelineState(page)).view, 'tables');
      await page.goBack();
      await page.waitForFunction(() => globalThis.nsysAi.app.view === 'timeline');
      equal((await timelineState(page)).selected, kernel.index, 'Back returns to the same place');
    }),
  );
}
