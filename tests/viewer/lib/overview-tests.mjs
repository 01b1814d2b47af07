import { check, equal, near, settle, timelineState } from './harness.mjs';
import { onGpu } from './read-report.mjs';

/** Whether a gap of the table, or an event on the GPU or thread, takes exactly a time: then evidence means that, not the time. */
function exactly({ report, timeline, events }, evidence, from, to) {
  const rows = (name) => {
    const table = report.tables[name];
    return (table?.rows ?? []).map((row) => Object.fromEntries(table.columns.map((column, index) => [column.name, row[index]])));
  };
  const origin = Number(timeline.origin_ns);
  const here = (row, start, end) => row.device_id === evidence.device_id && row[start] - origin === from && row[end] - origin === to;
  const known = (value) => typeof value === 'number';
  const fits = ({ lane, start, end, count = 1 }) =>
    start === from && end === to && count === 1 &&
    (known(evidence.pid) ? lane.pid === evidence.pid : true) &&
    (onGpu({ lane }) ? !known(evidence.device_id) || lane.gpu === evidence.device_id : !known(evidence.tid) || lane.tid === evidence.tid);
  // A step or collective is shown as such, with its parts on all GPUs.
  const span = rows('comm_instances').some((row) => here(row, 'start_ns', 'end_ns')) || rows('steps').some((row) => here(row, 'gpu_start_ns', 'gpu_end_ns'));
  return { gap: rows('gpu_idle_gaps').some((row) => here(row, 'gap_start_ns', 'gap_end_ns')), event: !span && events.some(fits) };
}

/** @returns {Promise<[number, number]>} of the selected gap or event */
function selectedTime(page) {
  return page.evaluate(() => {
    const { selected, selectedGap, layout, model } = globalThis.nsysAi.app.timeline;
    if (selected >= 0) return [model.events.start[selected], model.end(selected)];
    const { gaps } = layout.tracks.find((track) => track.gaps && track.gpu === selectedGap.gpu);
    return [gaps.start[selectedGap.index], gaps.end[selectedGap.index]];
  });
}

const integer = (value) => value.toLocaleString('en-US');

/** What a click on evidence shows. */
async function evidenceShows(page, truth, evidence, which) {
  const { report, timeline } = truth;
  const state = await timelineState(page);
  const table = report.tables[evidence.table];
  const named = (table?.columns ?? []).flatMap(({ key, role }, column) => (key && ['kernel_name', 'range_name'].includes(role) ? [table.rows[evidence.row]?.[column]] : []));
  const names = [evidence.name, ...named].filter((name) => timeline.names.includes(name));
  if (typeof evidence.start_ns === 'number') {
    const from = evidence.start_ns - Number(timeline.origin_ns);
    const to = (evidence.end_ns ?? evidence.start_ns) - Number(timeline.origin_ns);
    equal(state.view, 'timeline', which);
    check(state.from <= from + 1 && state.to >= to - 1, `${which}the window holds the evidence`);
    check(to - from < 100 || state.to - state.from < (to - from) * 6, `${which}and is zoomed to it`);
    check(state.selected >= 0 || state.range !== null || state.gap !== null, `${which}something is selected`);
    const mine = exactly(truth, evidence, from, to);
    if (mine.gap) check(state.gap !== null, `${which}its gap is selected`);
    else if (mine.event) check(state.selected >= 0, `${which}its event is selected`);
    if (mine.gap || mine.event) equal(await selectedTime(page), [from, to], which);
    check(await page.locator('.panel').isVisible(), `${which}details are shown`);
  } else if (names.length > 0) {
    equal(state.view, 'timeline', which);
    if (state.selected >= 0) check(names.includes(truth.events[state.selected].text), which);
  } else if (evidence.table) {
    equal(state.view, 'tables', which);
    equal(await page.locator('.table-head h2').innerText(), table.title, which);
  }
}

export function overviewTests(suite, path, truth) {
  return suite.onOnePage(path, (onPage) => testsOfOverview(suite, path, truth, onPage));
}

/** `onPage`: for tests that change nothing, and after them for those that follow a link first. */
async function testsOfOverview(suite, path, truth, onPage) {
  const { report, timeline } = truth;
  const sum = (values) => values.reduce((total, value) => total + value, 0);

  await suite.test('the critical path is a line', () =>
    onPage(async (page) => {
      const table = report.tables.critical_path_summary;
      const [scope, summary] = ['scope', 'summary'].map((name) => table?.columns.findIndex((column) => column.name === name));
      const said = (table?.rows ?? []).filter((row) => row[scope] === 'window' && row[summary] !== null).map((row) => row[summary]);
      const lines = await page.locator('.critical-path').allInnerTexts();
      equal(lines.length, said.length, 'lines');
      said.forEach((text, i) => check(/^Critical path of the window \([\d.]+ .+\): /u.test(lines[i]) && lines[i].replace(/[\u2066-\u2069]/gu, '').includes(`): ${text}`), `${lines[i]} for ${text}`));
    }));

  await suite.test('the simulated plan and savings are bars', () =>
    onPage(async (page) => {
      const table = report.tables.what_if_plan;
      const cell = (row, name) => row[table.columns.findIndex((column) => column.name === name)];
      const planned = (table?.rows ?? []).filter((row) => cell(row, 'after_ns') !== null);
      equal(await page.locator('.plan-row').count(), planned.length > 0 ? planned.length + 1 : 0, 'changes');
      for (const [index, row] of planned.entries()) {
        const line = page.locator('.plan-row').nth(index + 1);
        check((await line.innerText()).includes(cell(row, 'title')), 'title');
        const widths = await line.locator('.plan-bar i').evaluateAll((parts) => parts.map((part) => parseFloat(part.style.width)));
        const now = cell(planned[0], 'before_ns');
        const wanted = [cell(row, 'after_high_ns'), cell(row, 'after_low_ns') - cell(row, 'after_high_ns'), cell(row, 'before_ns') - cell(row, 'after_low_ns')];
        wanted.forEach((ns, part) => near(widths[part], (100 * Math.max(0, ns)) / now, 0.01, 'width'));
      }
      const savings = report.findings.map((finding) => finding.saving_ns ?? 0);
      const bars = await page.locator('.saving-bar').evaluateAll((list) => list.map((bar) => [...bar.children].reduce((all, part) => all + parseFloat(part.style.width), 0)));
      equal(bars.length, savings.filter((ns) => ns > 0).length, 'bars of savings');
      savings.filter((ns) => ns > 0).forEach((ns, i) => near(bars[i], (100 * ns) / Math.max(...savings), 0.01, 'saving'));
      const simulated = report.findings.flatMap((finding) => finding.simulated ?? []).filter(({ now_ns: ns }) => ns > 0);
      const shown = await page.locator('.simulated').evaluateAll((list) => list.map((one) => [...one.querySelectorAll('.plan-bar i')].map((part) => parseFloat(part.style.width))));
      equal(shown.length, simulated.length, 'bars of simulations');
      simulated.forEach(({ now_ns: whole, saving_low_ns: low, saving_ns: likely, saving_high_ns: high }, i) =>
        [low, likely, high].forEach((ns, upTo) => near(shown[i].slice(0, upTo + 1).reduce((all, width) => all + width, 0), (100 * Math.min(ns, whole)) / whole, 0.01, 'simulated')),
      );
    }),
  );

  await suite.test('limits are shown where they are known', () =>
    onPage(async (page) => {
      const rows = (name) => (report.tables[name]?.rows ?? []).map((row) => Object.fromEntries(report.tables[name].columns.map((column, i) => [column.name, row[i]])));
      const known = new Set([
        ...rows('copy_rates').filter((row) => row.p50_pct_of_limit !== null).map((row) => `${row.direction}, ${row.src_kind} to ${row.dst_kind}`),
        ...rows('peer_copies').filter((row) => row.p50_pct_of_link !== null).map((row) => `${row.src_cuda_device} ${row.dst_cuda_device}`),
        ...rows('comm_ops').filter((row) => row.link_pct !== null).map((row) => `${row.op} ${row.dtype}`),
        ...rows('gemm_shapes').filter((row) => row.pct_of_roofline !== null).map((row) => [row.op, row.batch, row.m, row.n, row.k, row.dtype].join()),
        ...rows('mfu').filter((row) => row.mfu_pct !== null).map(() => 'mfu'),
      ]);
      if (known.size <= 6) equal(await page.locator('.limits li').count(), known.size, 'limits');
      equal(await page.locator('section[aria-label="Limits"]').count() > 0, known.size > 0, 'section');
    }),
  );

  await suite.test('a collective of the overview leads to its time', () =>
    suite.page(path, {}, async (page) => {
      const table = report.tables.comm_instances;
      const at = (name) => table.columns.findIndex((column) => column.name === name);
      const rows = (table?.rows ?? []).filter((row) => row[at('skew_us')] !== null || row[at('busbw')] !== null);
      const section = page.locator('section[aria-label="Communicators"]');
      if (rows.length === 0) return equal(await section.count(), (report.tables.comm_peers?.rows ?? []).length > 0 ? 1 : 0, 'section');
      const picture = section.locator('canvas');
      const box = await picture.boundingBox();
      await picture.click({ position: { x: box.width - 4, y: box.height - 8 } });
      const state = await timelineState(page);
      const origin = BigInt(timeline.origin_ns);
      check(rows.some((row) => Number(BigInt(row[at('start_ns')]) - origin) === Math.round(state.range[0])), 'begins with a collective');
      return check(rows.some((row) => Number(BigInt(row[at('end_ns')]) - origin) === Math.round(state.range[1])), 'ends with one');
    }),
  );

  await suite.test('on a wide screen nothing of the overview lies over anything else', () =>
    suite.page(path, { context: { viewport: { width: 1920, height: 1080 } } }, async (page) => {
      const boxes = await page.locator('#view-overview > *').evaluateAll((list) => list.map((one) => ({ id: one.id || one.className || one.ariaLabel, ...one.getBoundingClientRect().toJSON() })).filter(({ height }) => height > 0));
      for (const [i, a] of boxes.entries())
        for (const b of boxes.slice(i + 1))
          check(a.bottom <= b.top + 0.5 || b.bottom <= a.top + 0.5 || a.right <= b.left || b.right <= a.left, `${a.id} over ${b.id}`);
    }),
  );

  await suite.test('on paper nothing of a card is cut off', () =>
    suite.page(path, {}, async (page) => {
      // As printing does it: nothing is painted again for the narrower page.
      await page.evaluate(() => (globalThis.nsysAi.app.overview.draw = () => {}));
      await page.emulateMedia({ media: 'print' });
      await page.setViewportSize({ width: 690, height: 1000 });
      const cut = await page.locator('#view-overview :is(.gpu-card, .ranking, .finding, .plan)').evaluateAll((cards) =>
        cards.flatMap((card) => {
          const edge = card.getBoundingClientRect().right;
          const beyond = [...card.querySelectorAll('*')].filter((one) => one.getBoundingClientRect().width > 0 && one.getBoundingClientRect().right > edge + 1);
          return beyond.filter((one) => !one.closest('.matrix-box, .saving-bar, .plan-bar')).map((one) => `${card.className}: ${one.tagName} ${one.className}`);
        }),
      );
      equal(cut, [], 'beyond the edge');
    }),
  );

  await suite.test('overview shows verdict, findings and caveats', () =>
    onPage(async (page) => {
      const shown = await page.locator('#verdict').innerText();
      equal(shown.replaceAll('\u00a0', ' ').replaceAll('\u2060', ''), report.verdict.text);
      check(!/\d %|\d-\d/.test(shown), 'a line may break between a number and %, or in a range of numbers');
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
      const said = new Set(report.caveats.map((caveat) => caveat.text ?? caveat.id)); // each once
      equal(await page.locator('.caveats li').count(), said.size);
      check(
        (await page.locator('.facts').innerText()).includes(`${integer(timeline.total_events)} events`),
        'number of events',
      );
    }),
  );

  await suite.test('utilization adds up to the window and is drawn', () =>
    suite.page(path, {}, async (page) => {
      const worked = timeline.utilization.filter((data) => sum([data.compute_ns, data.exposed_comm_ns, data.exposed_copy_ns, data.idle_ns].map(sum)) > 0);
      equal(await page.locator('.util-card').count(), worked.length);
      equal(await page.locator('.glance-line').count(), worked.length);
      for (const [index, data] of worked.entries()) {
        const names = ['compute_ns', 'exposed_comm_ns', 'exposed_copy_ns', 'idle_ns'];
        const at = (name) => report.tables.gpu_active?.columns.findIndex((column) => column.name === name);
        // Of a GPU that pauses what lies between, as the verdict has it.
        const active = report.tables.gpu_active?.rows.find((row) => row[at('device_id')] === data.device_id && row[at('active_ns')] < row[at('window_ns')]);
        const parts = names.map((name) => (active ? active[at(name)] : sum(data[name])));
        const whole = sum(parts);
        const shares = parts.map((part) => (100 * part) / whole);
        const shown = await page.locator('.util-card').nth(index).locator('.shares b').allTextContents();
        equal(
          shown,
          shares.map((share) => `${share.toFixed(share > 0 && share < 0.995 ? 2 : 1)} %`),
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
    await suite.test(`evidence of ${finding.id} leads to its place`, () =>
      onPage(async (page) => {
        for (const [position, evidence] of finding.evidence.entries()) {
          // A link without a place is a fresh page: nothing is selected, nothing searched for.
          await page.evaluate(() => (location.hash = '#v=overview'));
          await page.waitForFunction(() => globalThis.nsysAi.app.view === 'overview');
          const card = page.locator('.finding').nth(index);
          if ((await card.getAttribute('class')).includes('folded')) await card.locator('.fold').click();
          await card.locator('.evidence-link').nth(position).click();
          await evidenceShows(page, truth, evidence, `${position}: `);
        }
      }),
    );
  }
}
