/** @import { App } from './app.js' */
/** @import { GpuShares } from './gpu-summary.js' */
import { UTILIZATION_PARTS } from './colors.js';
import { h, name } from './dom.js';
import { counted, percentage } from './format.js';
import { summariseGpus } from './gpu-summary.js';
import { UtilizationSums } from './timeline/utilization.js';

const SHOWN = 10;

/** @param {App} app @param {GpuShares} gpu @param {number} by @param {(canvas: HTMLCanvasElement, sums: UtilizationSums) => void} draw */
function line(app, { data, percent }, by, draw) {
  const label = app.model.gpuLabels.get(data.device_id) ?? `GPU ${data.device_id}`;
  const text = UTILIZATION_PARTS.map((part, index) => `${part.label} ${percentage(percent[index])}`).join(', ');
  const canvas = h('canvas', { class: 'gpu-strip', role: 'img', 'aria-label': `${label} over time. ${text}` });
  draw(canvas, new UtilizationSums(data));
  return h(
    'tr',
    {},
    h(
      'th',
      { scope: 'row' },
      h('button', { type: 'button', class: 'link', title: 'Show in the timeline', onclick: () => app.showGpu(data.device_id) }, name(label)),
    ),
    h('td', { class: 'gpu-strip-cell' }, canvas),
    percent.map((value, index) => h('td', { class: index === by ? 'num by' : 'num' }, percentage(value))),
  );
}

/**
 * Many GPUs: a line each, the ones that stand out first, below the spread over all.
 * @param {App} app @param {(canvas: HTMLCanvasElement, sums: UtilizationSums) => void} draw  later, when there is room
 */
export function gpuLines(app, draw) {
  const { gpus, spread, by } = summariseGpus(app.model.timeline.utilization, app.model.table('gpu_active'));
  const idle = app.model.timeline.utilization.length - gpus.length;
  /** @param {string} label @param {'least' | 'median' | 'most'} which */
  const summary = (label, which) =>
    h(
      'tr',
      { class: 'summary-line' },
      h('th', { scope: 'row' }, label),
      h('td', {}),
      spread.map((one, index) => h('td', { class: index === by ? 'num by' : 'num' }, percentage(one[which]))),
    );
  const lines = gpus.map((gpu) => line(app, gpu, by, draw));
  const table = h(
    'table',
    { class: 'gpu-lines' },
    h('colgroup', {}, h('col', { class: 'label' }), h('col', { class: 'strip' }), UTILIZATION_PARTS.map(() => h('col'))),
    h(
      'thead',
      {},
      h(
        'tr',
        {},
        h('th', { scope: 'col' }, 'GPU'),
        h('th', { scope: 'col' }, 'over time'),
        UTILIZATION_PARTS.map((part) =>
          h(
            'th',
            { scope: 'col', class: 'num', title: part.label },
            h('i', { class: `swatch util${part.variable}` }),
            part.label.replace('Exposed communication', 'Exposed comm.'),
          ),
        ),
      ),
    ),
    h('tbody', {}, summary('least', 'least'), summary('median', 'median'), summary('most', 'most')),
    h('tbody', {}, lines),
  );
  lines.forEach((element, index) => (element.hidden = index >= SHOWN));
  const rest = lines.length - SHOWN;
  const more = h(
    'button',
    {
      type: 'button',
      onclick: () => {
        lines.forEach((element) => (element.hidden = false));
        more.hidden = true;
      },
    },
    `Show ${counted(rest, 'more GPU')}`,
  );
  const range = `${percentage(spread[by].least)} to ${percentage(spread[by].most)}`;
  return [
    h('h2', {}, 'Where the GPU time goes'),
    h(
      'p',
      { class: 'muted' },
      `${counted(gpus.length, 'GPU')}, what stands out first. They differ most in ${UTILIZATION_PARTS[by].label.toLowerCase()}, ${range}.`,
      idle > 0 ? ` ${counted(idle, 'GPU')} did nothing.` : '',
    ),
    h('div', { class: 'gpu-lines-box' }, table),
    rest > 0 ? more : null,
  ];
}
