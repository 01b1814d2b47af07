/** @import { App } from './app.js' */
/** @import { Finding } from './types.js' */
import { CAUSE_COLORS, causeName, UTILIZATION_PARTS } from './colors.js';
import { copyButton } from './copy-button.js';
import { byId, fitCanvas, h, name, replace } from './dom.js';
import { bytes, duration, integer, percent } from './format.js';
import { gpuLines } from './gpu-lines.js';
import { highlights } from './highlights.js';
import { columnIndex } from './table-schema.js';
import { stepStrips } from './step-strip.js';
import { UtilizationSums } from './timeline/utilization.js';
import { withMicro } from './words.js';

const CHART_HEIGHT = 76;
const LINE_HEIGHT = 18;
const CARDS_MAX = 4;

/** The page's own texts come with "us" as terminals need it. @param {Element} element */
function spellUnits(element) {
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (node.parentElement?.closest('pre, code')) continue;
    const text = withMicro(node.nodeValue ?? '');
    if (text !== node.nodeValue) node.nodeValue = text;
  }
}

/** Verdict, utilisation and findings. The findings' text stands in the page already; this adds what needs a program. */
export class Overview {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    /** @type {{canvas: HTMLCanvasElement, sums: UtilizationSums, height: number}[]} */
    this.charts = [];
    const { report } = app;
    byId('verdict').classList.add(`severity-${report.verdict.severity}`);
    const summary = byId('summary');
    summary.hidden = false;
    replace(summary, name(report.run.summary), ` · ${bytes(report.trace.size_bytes)}`);
    this.buildCharts(byId('charts'));
    this.steps = stepStrips(app);
    if (this.steps) byId('charts').after(this.steps.element);
    const rankings = highlights(app);
    if (rankings) byId('charts').after(rankings);
    for (const id of ['verdict', 'view-overview']) spellUnits(byId(id));
    this.linkEvidence();
    this.buildCaveats(byId('caveats'));
    new ResizeObserver(() => this.draw()).observe(byId('charts'));
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
    const legend = h(
      'div',
      { class: 'legend' },
      UTILIZATION_PARTS.map((part) => h('span', {}, h('i', { class: `swatch util${part.variable}` }), part.label)),
    );
    const cards = timeline.utilization.map((data) => {
      const sums = new UtilizationSums(data);
      const totals = sums.between(-Infinity, Infinity);
      const whole = totals.reduce((sum, value) => sum + value, 0);
      const label = model.gpuLabels.get(data.device_id) ?? `GPU ${data.device_id}`;
      const canvas = h('canvas', {
        class: 'util-chart',
        role: 'img',
        'aria-label': `Utilisation of ${label} over time. ${this.describe(totals, whole)}`,
        title: 'Click to open this time in the timeline',
        onclick: (/** @type {MouseEvent} */ event) => {
          const share = event.offsetX / canvas.clientWidth;
          const middle = model.startNs + share * (model.endNs - model.startNs);
          const span = (model.endNs - model.startNs) * 0.05;
          this.app.timeline.viewport.set(middle - span / 2, middle + span / 2);
          this.app.timeline.moved();
          this.app.open('timeline');
        },
      });
      this.charts.push({ canvas, sums, height: CHART_HEIGHT });
      return h(
        'article',
        { class: 'gpu-card' },
        h('header', {}, h('h3', {}, name(label)), h('span', { class: 'muted' }, `window ${duration(whole)}`)),
        h(
          'div',
          { class: 'stack-bar', role: 'img', 'aria-label': this.describe(totals, whole) },
          totals.map((value, index) => this.segment(value, whole, index)),
        ),
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
          h('span', {}, duration(0)),
          h('span', {}, duration((model.endNs - model.startNs) / 2)),
          h('span', {}, duration(model.endNs - model.startNs)),
        ),
        this.causes(data.device_id),
      );
    });
    replace(
      host,
      h('h2', {}, 'Where the GPU time goes'),
      timeline.utilization.length > 1 ? legend : null,
      h('div', { class: 'gpu-cards' }, cards),
    );
    if (timeline.utilization.length > 1) legend.remove();
  }

  /** @param {number[]} totals @param {number} whole */
  describe(totals, whole) {
    return UTILIZATION_PARTS.map((part, index) => `${part.label} ${percent(totals[index], whole)}`).join(', ');
  }

  /** @param {number} value @param {number} whole @param {number} index */
  segment(value, whole, index) {
    if (value <= 0) return null;
    const part = UTILIZATION_PARTS[index];
    const segment = h('div', {
      class: `segment util${part.variable}`,
      title: `${part.label}: ${duration(value)}, ${percent(value, whole)}`,
    });
    segment.style.flexGrow = String(value);
    return segment;
  }

  /** Idle time of a GPU by cause, in one line. @param {number} device */
  causes(device) {
    const table = this.app.model.table('idle_causes');
    if (!table) return null;
    const [deviceColumn, cause, total] = ['device_id', 'cause', 'total_ms'].map((key) => columnIndex(table, key));
    if (deviceColumn < 0 || cause < 0 || total < 0) return null;
    const rows = table.rows.filter((row) => row[deviceColumn] === device && Number(row[total]) > 0);
    if (rows.length === 0) return null;
    const idle = rows.reduce((sum, row) => sum + Number(row[total]), 0);
    return h(
      'p',
      { class: 'causes' },
      h('span', { class: 'muted' }, 'Idle because '),
      [...rows]
        .sort((a, b) => Number(b[total]) - Number(a[total]))
        .map((row) => {
          const key = String(row[cause]);
          const swatch = h('i', { class: 'swatch' });
          swatch.style.background = CAUSE_COLORS[key] ?? CAUSE_COLORS.unknown;
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
    const { theme } = this.app.timeline;
    const { model } = this.app;
    for (const { canvas, sums, height } of this.charts) {
      const width = canvas.parentElement?.clientWidth ?? 0;
      const inner = Math.max(0, width - (height === LINE_HEIGHT ? 8 : 26));
      if (inner < 10) continue;
      const context = fitCanvas(canvas, inner, height);
      context.fillStyle = theme.background;
      context.clearRect(0, 0, inner, height);
      sums.paint(context, theme, model.startNs, model.endNs, 0, 0, inner, height, true);
    }
  }

  /** Every evidence line becomes a button that shows its place. */
  linkEvidence() {
    for (const element of document.querySelectorAll('[data-finding]')) {
      const finding = this.app.report.findings[Number(element.getAttribute('data-finding'))];
      if (!finding) continue;
      for (const item of element.querySelectorAll('[data-evidence]')) {
        const evidence = finding.evidence[Number(item.getAttribute('data-evidence'))];
        if (!evidence) continue;
        const button = h(
          'button',
          {
            type: 'button',
            class: 'link evidence-link',
            title: this.app.canPlace(evidence) ? 'Show in the timeline' : 'Show in the tables',
            onclick: () => {
              if (!this.app.showEvidence(evidence) && evidence.table) this.app.showTable(evidence.table, evidence.row ?? -1);
            },
          },
          name(withMicro(evidence.text)),
        );
        replace(
          item,
          button,
          evidence.table && this.app.model.table(evidence.table)
            ? h(
                'button',
                {
                  type: 'button',
                  class: 'link small',
                  title: 'Row in the table',
                  onclick: () => this.app.showTable(String(evidence.table), evidence.row ?? -1),
                },
                'table',
              )
            : null,
        );
      }
      this.addCopy(element, finding);
      const links = finding.links ?? [];
      if (links.length > 0 && !element.querySelector('details + details, .prose + details')) element.append(h('p', { class: 'muted background' }, 'Background: ', name(links.join(', '))));
    }
  }

  /** @param {Element} element @param {Finding} finding */
  addCopy(element, finding) {
    const code = element.querySelector('pre');
    if (!code) return;
    const label = `Copy the command that verifies: ${finding.title}`;
    const button = copyButton('copy', { class: 'quiet copy', 'aria-label': label }, () => code.querySelector('code')?.textContent ?? '');
    code.append(button);
  }

  /** @param {HTMLElement} host */
  buildCaveats(host) {
    const { report, model } = this.app;
    const { trace, generator } = report;
    const facts = [
      `nsys ${trace.product_version ?? 'unknown'}`,
      `schema ${trace.schema_version ?? 'unknown'}`,
      `${integer(model.timeline.embedded_events)} events in the timeline`,
      `${generator.name} ${generator.version}`,
    ];
    if (report.caveats.length > 0) {
      host.append(
        h(
          'section',
          { 'aria-label': 'Caveats' },
          h('h2', {}, 'Caveats'),
          h(
            'ul',
            { class: 'caveats' },
            report.caveats.map((caveat) => h('li', { class: `caveat-${caveat.severity}` }, name(withMicro(caveat.text ?? caveat.id)))),
          ),
        ),
      );
    }
    host.append(h('p', { class: 'muted facts' }, facts.join(' · ')));
  }
}
