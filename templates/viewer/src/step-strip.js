/** @import { App } from './app.js' */
/** @import { Spans } from './timeline/spans.js' */
import { fitCanvas, h, name } from './dom.js';
import { counted, duration, integer } from './format.js';
import { byStanding } from './gpu-summary.js';
import { axisEnd, medianOf } from './iterations/instances.js';

const HEIGHT = 70;
const CUT_PX = 10;
const SHOWN = 4;

/** What the bars say, in words and numbers. @param {Spans} spans */
export function describeSteps(spans) {
  const lengths = [...spans.start.keys()].map((i) => spans.end[i] - spans.start[i]);
  const steady = lengths.filter((_, i) => spans.tone[i] !== 'pale');
  const outliers = spans.tone.filter((tone) => tone === 'bad').length;
  const end = axisEnd(lengths);
  const cut = lengths.filter((ns) => ns > end).length;
  return {
    lengths,
    end,
    cut,
    steady: steady.length,
    outliers,
    text: `${counted(lengths.length, 'step')}${steady.length > 0 ? `, median ${duration(medianOf(steady))} of ${counted(steady.length, 'steady one')}` : ''}, ${counted(outliers, 'outlier')}${cut > 0 ? `; ${integer(cut)} longer than ${duration(end)}, cut there` : ''}`,
  };
}

/**
 * Durations of the steps of each GPU as bars, outliers in red; a click shows the step. Those with outliers first, then GPUs that stand out.
 * @param {App} app @returns {{element: HTMLElement, draw: () => void} | null}
 */
export function stepStrips(app) {
  const tracks = app.timeline.layout.tracks.filter((track) => track.spans?.table === 'steps');
  if (tracks.length === 0) return null;
  const order = byStanding(app.model.timeline.utilization);
  const strips = tracks
    .map((track) => ({ spans: /** @type {Spans} */ (track.spans), gpu: track.gpu ?? -1 }))
    .map(({ spans, gpu }) => ({ spans, gpu, facts: describeSteps(spans) }))
    .sort((a, b) => b.facts.outliers - a.facts.outliers || order(a.gpu, b.gpu) || a.gpu - b.gpu)
    .slice(0, SHOWN)
    .map(({ spans, gpu, facts }) => {
      const label = app.model.gpuLabels.get(gpu) ?? `GPU ${gpu}`;
      const at = (/** @type {MouseEvent} */ event) => Math.max(0, Math.min(facts.lengths.length - 1, Math.floor((event.offsetX / canvas.clientWidth) * facts.lengths.length)));
      const canvas = h('canvas', {
        class: 'step-strip',
        role: 'img',
        'aria-label': `Step durations of ${label}: ${facts.text}`,
        onmousemove: (/** @type {MouseEvent} */ event) => {
          const i = at(event);
          canvas.title = `${spans.label[i]}: ${duration(facts.lengths[i])}\nClick shows it in the timeline`;
        },
        onclick: (/** @type {MouseEvent} */ event) => {
          const i = at(event);
          app.open('timeline');
          app.timeline.showRange(spans.start[i], spans.end[i]);
        },
      });
      return { spans, facts, canvas, label };
    });
  const element = h(
    'section',
    { 'aria-label': 'Steps' },
    h('h2', {}, 'Steps'),
    h(
      'div',
      { class: 'gpu-cards' },
      strips.map(({ canvas, facts, label }) =>
        h('article', { class: 'gpu-card' }, h('header', {}, h('h3', { title: label }, name(label)), h('span', { class: 'muted' }, facts.text)), canvas),
      ),
    ),
    h('button', { type: 'button', class: 'link', onclick: () => app.showTable('steps') }, 'all steps'),
  );
  const draw = () => {
    const { theme } = app.timeline;
    for (const { spans, facts, canvas } of strips) {
      const width = Math.max(0, (canvas.parentElement?.clientWidth ?? 0) - 26);
      if (width < 10) continue;
      const context = fitCanvas(canvas, width, HEIGHT);
      context.clearRect(0, 0, width, HEIGHT);
      const step = width / facts.lengths.length;
      const room = HEIGHT - 4 - (facts.cut > 0 ? CUT_PX : 0);
      facts.lengths.forEach((ns, i) => {
        const cut = ns > facts.end;
        const size = cut ? HEIGHT : Math.max(1, (ns / facts.end) * room);
        context.fillStyle = { plain: theme.compute, pale: theme.idle, bad: theme.bad }[spans.tone[i]];
        context.fillRect(i * step, HEIGHT - size, Math.max(0.5, step - (step > 3 ? 1 : 0)), size);
        // A break in the bar: it goes on beyond the axis.
        if (cut) context.clearRect(i * step, CUT_PX / 2, Math.max(1, step), 2);
      });
    }
  };
  return { element, draw };
}
