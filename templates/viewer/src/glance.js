/** @import { App } from './app.js' */
import { UTILIZATION_PARTS } from './colors.js';
import { h, name } from './dom.js';
import { duration, percent } from './format.js';
import { activeShares } from './gpu-summary.js';

/** @param {number[]} totals @param {number} whole */
export function describeShares(totals, whole) {
  return UTILIZATION_PARTS.map((part, index) => `${part.label} ${percent(totals[index], whole)}`).join(', ');
}

/** Parts of a whole beside each other. @param {number[]} totals @param {number} whole */
export function stackBar(totals, whole) {
  return h(
    'div',
    { class: 'stack-bar', role: 'img', 'aria-label': describeShares(totals, whole) },
    totals.map((value, index) => {
      if (value <= 0) return null;
      const part = UTILIZATION_PARTS[index];
      const segment = h('div', {
        class: `segment util${part.variable}`,
        title: `${part.label}: ${duration(value)}, ${percent(value, whole)}`,
      });
      segment.style.flexGrow = String(value);
      return segment;
    }),
  );
}

/**
 * Where the time of each GPU goes, a line each, before anything else is read: of a GPU that pauses the time between, as in the verdict.
 * @param {App} app @param {{id: number, totals: number[]}[]} gpus
 */
export function glance(app, gpus) {
  return h(
    'div',
    { class: 'glance' },
    gpus.map(({ id, totals: all }) => {
      const active = activeShares(app.model.table('gpu_active'), id);
      const totals = active?.totals ?? all;
      const whole = totals.reduce((sum, value) => sum + value, 0);
      return h(
        'div',
        { class: 'glance-line' },
        h(
          'button',
          { type: 'button', class: 'link', title: 'Show in the timeline', onclick: () => app.showGpu(id) },
          name(app.model.gpuLabels.get(id) ?? `GPU ${id}`),
        ),
        stackBar(totals, whole),
        h(
          'span',
          { class: 'glance-text' },
          UTILIZATION_PARTS.map((part, index) =>
            totals[index] > 0
              ? h('span', {}, h('i', { class: `swatch util${part.variable}` }), `${part.label.toLowerCase()} ${percent(totals[index], whole)}`)
              : null,
          ),
          active ? h('span', { class: 'muted' }, `of ${duration(active.active)} active`) : null,
        ),
      );
    }),
  );
}
