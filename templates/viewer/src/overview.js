/** @import { App } from './app.js' */
import { causeColor, causeName, UTILIZATION_PARTS } from './colors.js';
import { caveatsSection } from './caveats.js';
import { communicatorSection } from './communicators/card.js';
import { byId, fitCanvas, h, name, replace } from './dom.js';
import { bringFindingsAlive } from './findings.js';
import { bytes, duration, percent } from './format.js';
import { describeShares, glance } from './glance.js';
import { gpuLines } from './gpu-lines.js';
import { activeShares } from './gpu-summary.js';
import { highlights } from './highlights.js';
import { limitsSection } from './limits/card.js';
import { criticalPath, planBars } from './plan-bars.js';
import { columnIndex } from './table-schema.js';
import { stepStrips } from './step-strip.js';
import { UtilizationSums } from './timeline/utilization.js';

const CHART_HEIGHT = 76;
const LINE_HEIGHT = 18;
const CARDS_MAX = 4;
/** A cause below this share of the idle time would read 0.0 %. */
const LEAST_CAUSE = 0.0005;

/** Verdict, utilisation and findings. The findings' text stands in the page already; this adds what needs a program. */
export class Overview {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    /** @type {{canvas: HTMLCanvasElement, sums: UtilizationSums, height: number}[]} */
    this.charts = [];
    const { report, model } = app;
    /** What charts show: the time in which GPUs worked, ns after the origin. */
    this.from = Math.max(model.startNs, model.clock.relative(report.run.window_start_ns));
    this.to = Math.max(this.from + 1, model.clock.relative(report.run.window_end_ns));
    const verdict = byId('verdict');
    verdict.classList.add(`severity-${report.verdict.severity}`);
    // no break before a unit, and none in "2.8-5.7 %"
    verdict.textContent = report.verdict.text.replace(/(\d) (?=%|(?:ns|µs|ms|s|min|[KMG]iB|GB)\b)/g, '$1\u00a0').replace(/(\d)-(?=\d)/g, '$1-\u2060');
    const summary = byId('summary');
    summary.hidden = false;
    replace(summary, name(report.run.summary), ` · ${bytes(report.trace.size_bytes)}`);
    this.buildCharts(byId('charts'));
    const plan = planBars(app);
    if (plan) byId('verdict').after(plan);
    const path = criticalPath(app);
    if (path) (plan ?? byId('verdict')).after(path);
    this.steps = stepStrips(app);
    if (this.steps) byId('charts').after(this.steps.element);
    this.addRankings(byId('charts'));
    this.communicators = communicatorSection(app);
    this.limits = limitsSection(app);
    for (const section of [this.limits, this.communicators])
      if (section) (this.steps?.element ?? document.querySelector('.rankings') ?? byId('charts')).after(section.element);
    bringFindingsAlive(app);
    replace(byId('caveats'), ...caveatsSection(report, app.model.timeline.total_events));
    new ResizeObserver(() => this.draw()).observe(byId('charts'));
    this.openForPrint();
  }

  /** Paper cannot be unfolded: what is closed is open while it is printed. */
  openForPrint() {
    /** @type {HTMLDetailsElement[]} */
    let opened = [];
    window.addEventListener('beforeprint', () => {
      opened = [.../** @type {NodeListOf<HTMLDetailsElement>} */ (document.querySelectorAll('#view-overview .verify:not([open])'))];
      for (const element of opened.filter((candidate) => candidate.querySelector('pre'))) element.open = true;
    });
    window.addEventListener('afterprint', () => {
      for (const element of opened) element.open = false;
    });
  }

  /** @param {HTMLElement} host */
  buildCharts(host) {
    const { model } = this.app;
    const { timeline } = model;
    if (timeline.utilization.length === 0) return;
    if (timeline.utilization.length > CARDS_MAX) {
      replace(host, ...gpuLines(this.app, (canvas, sums) => this.charts.push({ canvas, sums, height: LINE_HEIGHT })));
      return;
    }
    const worked = timeline.utilization
      .map((data) => ({ id: data.device_id, data, totals: new UtilizationSums(data).between(-Infinity, Infinity) }))
      .filter(({ totals }) => totals.some((value) => value > 0));
    if (worked.length === 0) return;
    byId('verdict').after(glance(this.app, worked));
    const cards = worked.map(({ data, totals: all }) => {
      const sums = new UtilizationSums(data);
      const active = activeShares(model.table('gpu_active'), data.device_id);
      const totals = active?.totals ?? all;
      const whole = totals.reduce((sum, value) => sum + value, 0);
      const label = model.gpuLabels.get(data.device_id) ?? `GPU ${data.device_id}`;
      const canvas = h('canvas', {
        class: 'util-chart',
        role: 'img',
        'aria-label': `Utilization of ${label} over time. ${describeShares(totals, whole)}`,
        title: 'Click to open this time in the timeline',
        onclick: (/** @type {MouseEvent} */ event) => {
          const share = event.offsetX / canvas.clientWidth;
          const middle = this.from + share * (this.to - this.from);
          const span = (this.to - this.from) * 0.05;
          this.app.timeline.viewport.set(middle - span / 2, middle + span / 2);
          this.app.timeline.moved();
          this.app.open('timeline');
        },
      });
      this.charts.push({ canvas, sums, height: CHART_HEIGHT });
      return h(
        'article',
        { class: 'gpu-card util-card' },
        h('header', {}, h('h3', {}, name(label)), h('span', { class: 'muted' }, active ? `of ${duration(active.active)} active, without ${duration(active.window - active.active)} pauses` : `window ${duration(whole)}`)),
        h(
          'dl',
          { class: 'shares' },
          UTILIZATION_PARTS.map((part, index) =>
            h(
              'div',
              {},
              h('dt', {}, h('i', { class: `swatch util${part.variable}` }), part.label),
              h('dd', {}, h('b', {}, percent(totals[index], whole)), h('span', { class: 'muted' }, duration(totals[index]))),
            ),
          ),
        ),
        canvas,
        h(
          'div',
          { class: 'axis', 'aria-hidden': 'true' },
          [this.from, (this.from + this.to) / 2, this.to].map((time) => h('span', {}, duration(time))),
        ),
        this.causes(data.device_id, active ? 'active_ms' : 'total_ms'),
      );
    });
    replace(
      host,
      h('h2', {}, 'Where the GPU time goes'),
      h('div', { class: 'gpu-cards' }, cards),
    );
  }

  /** Rankings flow on beside the cards of few GPUs, and stand below the lines of many. @param {HTMLElement} host */
  addRankings(host) {
    const rankings = highlights(this.app);
    const cards = host.querySelector('.gpu-cards');
    if (cards) cards.append(...rankings);
    else if (rankings.length > 0) host.after(h('div', { class: 'gpu-cards rankings' }, rankings));
  }

  /** Idle time of a GPU by cause, in one line. @param {number} device @param {string} time  column */
  causes(device, time) {
    const table = this.app.model.table('idle_causes');
    if (!table) return null;
    const [deviceColumn, cause, total] = ['device_id', 'cause', time].map((key) => columnIndex(table, key));
    if (deviceColumn < 0 || cause < 0 || total < 0) return null;
    const rows = table.rows.filter((row) => row[deviceColumn] === device && Number(row[total]) > 0);
    if (rows.length === 0) return null;
    const idle = rows.reduce((sum, row) => sum + Number(row[total]), 0);
    const shown = rows.filter((row) => Number(row[total]) >= idle * LEAST_CAUSE);
    return h(
      'p',
      { class: 'causes' },
      h('span', { class: 'muted' }, 'Idle because '),
      shown
        .sort((a, b) => Number(b[total]) - Number(a[total]))
        .map((row) => {
          const key = String(row[cause]);
          const swatch = h('i', { class: 'swatch' });
          swatch.style.background = causeColor(key);
          return h(
            'button',
            {
              type: 'button',
              class: 'link',
              title: 'Its gaps in the table',
              onclick: () => this.app.showTable('gpu_idle_gaps', -1, `cause=${key} device_id=${device}`),
            },
            swatch,
            `${causeName(key)} ${percent(Number(row[total]), idle)}`,
          );
        }),
    );
  }

  draw() {
    this.steps?.draw();
    this.communicators?.draw();
    this.limits?.draw();
    const { theme } = this.app.timeline;
    for (const { canvas, sums, height } of this.charts) {
      const width = canvas.parentElement?.clientWidth ?? 0;
      const inner = Math.max(0, width - (height === LINE_HEIGHT ? 8 : 26));
      if (inner < 10) continue;
      const context = fitCanvas(canvas, inner, height);
      context.fillStyle = theme.background;
      context.clearRect(0, 0, inner, height);
      sums.paint(context, theme, this.from, this.to, 0, 0, inner, height, true);
    }
  }
}
