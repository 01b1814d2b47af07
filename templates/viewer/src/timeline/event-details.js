/** @import { TimelineView } from './view.js' */
/** @import { Lane } from '../types.js' */
/** @import { Child } from '../dom.js' */
import { copyText, h, name } from '../dom.js';
import { bytes, duration, integer, percent } from '../format.js';
import { histogram } from '../histogram.js';
import { HOST_ROWS } from '../host-rows.js';
import { meanDuring, metricStrip } from '../metric-strip.js';
import { scatter } from '../scatter.js';
import { launchedBy } from './launched.js';
import { rearrange } from './rearrange.js';
import { callClass } from './stats.js';
import { trimNote } from './trim-note.js';

const LIST_MAX = 12;
const METRICS_MAX = 4;
/** @type {Record<string, string>} */
const KIND_LABELS = {
  kernel: 'Kernel',
  copy: 'Memory copy',
  set: 'Memory set',
  graph: 'CUDA graph',
  nvtx: 'NVTX range',
  nvtx_async: 'NVTX start/end range',
  api: 'CUDA API call',
};

/** No rate is shown that no memory reaches (docs/analyses.md, memory_transfers).
 * @param {number} size
 * @param {number} duration */
const isPossible = (size, duration) => duration > 0 && size / 100_000 <= Math.max(duration, 1000);

/** What of a host event lies outside of the page's time. */
const CUT = ['', 'it began before the first event of this page', 'it goes on after the last event of this page', 'it is longer than this page at either end'];

/** @param {[string, Child][]} rows */
export function fields(rows) {
  return h(
    'dl',
    { class: 'fields' },
    rows.flatMap(([label, value]) =>
      value === null || value === undefined || value === '' ? [] : [h('dt', {}, label), h('dd', {}, value)],
    ),
  );
}

/** A link to another event. @param {TimelineView} view @param {number} event */
function eventButton(view, event) {
  const { model } = view;
  const shown = model.shortNameOf(event);
  return h(
    'button',
    {
      type: 'button',
      class: 'link',
      title: model.nameOf(event),
      onclick: () => view.selectEvent(event, { reveal: true }),
    },
    name(shown),
  );
}

/** @param {TimelineView} view @param {number} event @param {Lane} lane @returns {[string, Child][]} */
function specificFields(view, event, lane) {
  const { model } = view;
  const { aux, corr, duration: durations, count, memory } = model.events;
  const value = aux[event];
  if (count[event] > 1) return [];
  switch (lane.kind) {
    case 'kernel': {
      const config = value > 0 ? model.timeline.configs[value - 1] : null;
      if (!config) return [['Correlation', String(corr[event])]];
      const [gridX, gridY, gridZ, blockX, blockY, blockZ, registers, fixed, dynamic] = config;
      return [
        ['Grid', `${gridX} × ${gridY} × ${gridZ}`],
        ['Block', `${blockX} × ${blockY} × ${blockZ}`],
        ['Threads', integer(gridX * gridY * gridZ * blockX * blockY * blockZ)],
        ['Registers', `${registers} per thread`],
        ['Shared memory', `${bytes(fixed)} static, ${bytes(dynamic)} dynamic`],
        ['Correlation', String(corr[event])],
      ];
    }
    case 'copy':
    case 'set': {
      const { from = null, to = null } = model.timeline.memory?.[memory[event]] ?? {};
      return [
        ['Memory', from && to ? `${from} to ${to}` : to],
        ['Size', `${bytes(value)} (${integer(value)} bytes)`],
        ['Throughput', isPossible(value, durations[event]) ? `${(value / durations[event]).toFixed(2)} GB/s` : null],
        ['Correlation', String(corr[event])],
      ];
    }
    case 'graph':
      return [
        ['Graph', String(value)],
        ['Correlation', String(corr[event])],
      ];
    case 'api':
      return [
        [
          'Behavior',
          callClass(value) === 1 ? h('span', { class: 'bad' }, 'blocks the host') : callClass(value) === 2 ? 'orders or polls' : 'returns at once',
        ],
        ['Correlation', String(corr[event])],
      ];
    case 'nvtx':
      return [
        ['Depth', String(value)],
        ['Row in the export', String(corr[event])],
      ];
    case 'nvtx_async':
      return [['Row in the export', String(corr[event])]];
    default:
      return [['Recorded', CUT[value & 3] || null]];
  }
}

/**
 * @param {TimelineView} view @param {number} event
 * @returns {{title: string, content: (Child | Child[])[]}}
 */
export function eventDetails(view, event) {
  const { model } = view;
  const { start, duration: durations, count, busy, name: nameIds } = model.events;
  const { clock } = model;
  const lane = model.laneOf(event);
  const onGpu = model.isOnGpu(lane);
  const many = count[event] > 1;
  const complete = model.completeName(nameIds[event]);
  const { rank, total } = model.rankOfName(event);
  const full = model.nameOf(event);
  /** @type {[string, Child][]} */
  const rows = [
    ['Start', clock.format(start[event])],
    [
      'Duration',
      h(
        'b',
        {},
        duration(durations[event]),
        durations[event] >= 1000 ? h('span', { class: 'muted' }, ` ${integer(durations[event])} ns`) : '',
      ),
    ],
    ['End', clock.format(model.end(event))],
    many ? ['Events', `${integer(count[event])}, busy ${duration(busy[event])} of it`] : ['', null],
    ['Category', onGpu ? model.category(nameIds[event]) : null],
    onGpu
      ? ['GPU', name(model.gpuLabels.get(lane.gpu) ?? String(lane.gpu))]
      : ['Thread', name(model.threadLabel(lane.pid, lane.tid))],
    ['Process', name(model.processLabel(lane.pid))],
    onGpu ? ['Stream', `${lane.stream}, context ${lane.context}`] : ['', null],
    ...specificFields(view, event, lane),
  ];
  const title = many ? `Block of ${integer(count[event])} events` : (KIND_LABELS[lane.kind] ?? HOST_ROWS[lane.kind].event);
  const content = [
    h(
      'p',
      { class: 'full-name' },
      many ? 'Among them: ' : '',
      name(full),
      h(
        'button',
        {
          type: 'button',
          class: 'quiet',
          title: 'Copy the name',
          'aria-label': 'Copy the name',
          onclick: () => void copyText(full),
        },
        'copy',
      ),
    ),
    h(
      'div',
      { class: 'buttons' },
      h('button', { type: 'button', title: 'Zoom to the event (F)', onclick: () => view.zoomToSelection() }, 'Zoom'),
      h(
        'button',
        {
          type: 'button',
          title: 'Previous of the same name ([)',
          'aria-label': 'Previous of the same name',
          onclick: () => view.step('name', -1),
        },
        '‹',
      ),
      h('span', { class: 'muted' }, complete ? `${integer(rank)} of ${integer(total)}` : 'same name'),
      h(
        'button',
        {
          type: 'button',
          title: 'Next of the same name (])',
          'aria-label': 'Next of the same name',
          onclick: () => view.step('name', 1),
        },
        '›',
      ),
      h(
        'button',
        { type: 'button', title: 'Highlight every event of this name', onclick: () => view.setSearchText(full) },
        'Highlight',
      ),
    ),
    fields(rows),
    ...links(view, event, lane),
    ...stack(view, event),
    ...(total > 1 && !many && complete ? distribution(view, event, lane) : []),
    ...mixture(view, event),
    trimNote(view, start[event], model.end(event)),
  ];
  return { title, content };
}

/** Launching call, or launched work. @param {TimelineView} view @param {number} event @param {Lane} lane @returns {Child[]} */
function links(view, event, lane) {
  const { model } = view;
  const { start, duration: durations } = model.events;
  if (model.isGpuLane(lane)) {
    const launch = model.launchOf(event);
    if (launch < 0) {
      const why = model.aggregated ? 'The launching call is not on the page.' : 'No launching call in the trace.';
      return [h('h3', {}, 'Launched by'), h('p', { class: 'muted' }, why)];
    }
    const thread = model.laneOf(launch);
    const wait = start[event] - model.end(launch);
    return [
      h('h3', {}, 'Launched by'),
      fields([
        ['Call', eventButton(view, launch)],
        ['Thread', name(model.threadLabel(thread.pid, thread.tid))],
        ['Call took', duration(durations[launch])],
        ['Launch latency', duration(start[event] - start[launch])],
        ['Queue delay', wait >= 0 ? duration(wait) : 'started before the call returned'],
      ]),
      pinButton(view, launch),
    ];
  }
  const { events: launched, whole } = launchedBy(model, event);
  if (!whole) return [h('h3', {}, 'GPU work launched'), h('p', { class: 'muted' }, 'Part of it is not on this page.')];
  if (launched.length === 0) return [];
  const sum = launched.reduce((total, item) => total + durations[item], 0);
  const begin = launched.reduce((least, item) => Math.min(least, start[item]), Infinity);
  const end = launched.reduce((most, item) => Math.max(most, model.end(item)), -Infinity);
  const first = [...launched].sort((a, b) => durations[b] - durations[a] || a - b).slice(0, LIST_MAX);
  return [
    h('h3', {}, 'GPU work launched'),
    fields([
      ['Operations', integer(launched.length)],
      ['GPU time', duration(sum)],
      ['First to last', duration(end - begin)],
    ]),
    h(
      'div',
      { class: 'buttons' },
      h('button', { type: 'button', onclick: () => view.showRange(begin, end) }, 'Show on the GPU'),
    ),
    h(
      'ol',
      { class: 'rank' },
      first.map((item) => h('li', {}, eventButton(view, item), h('span', { class: 'num' }, duration(durations[item])))),
    ),
  ];
}

/** @param {TimelineView} view @param {number} event @returns {Child[]} */
function stack(view, event) {
  const stack = view.model.contextStack(event);
  if (stack.length === 0) return [];
  const { duration: durations } = view.model.events;
  return [
    h('h3', {}, 'Inside the ranges'),
    h(
      'ol',
      { class: 'stack' },
      stack.map((range) => h('li', {}, eventButton(view, range), h('span', { class: 'num' }, duration(durations[range])))),
    ),
  ];
}

/** @param {TimelineView} view @param {number} event @param {Lane} lane @returns {Child[]} */
function distribution(view, event, lane) {
  const { model, theme, colors } = view;
  const nameId = model.events.name[event];
  const events = model.eventsOf(nameId, model.isGpuLane(lane) ? lane.gpu : null);
  if (events.length < 2) return [];
  const { start, duration: durations } = model.events;
  const color = colors.forLane(lane)(event);
  return [
    h('h3', {}, model.isGpuLane(lane) ? 'Durations of this name on this GPU, and over time' : 'Durations of this name, and over time'),
    histogram(events.map((other) => durations[other]), durations[event], color, theme.text),
    scatter(
      events.map((other) => ({ event: other, time: start[other], value: durations[other] })),
      event,
      { from: model.startNs, to: model.endNs, color, accent: theme.text, line: theme.line, select: (other) => view.selectEvent(other, { reveal: true }) },
    ),
    ...(model.isGpuLane(lane) ? metrics(view, events, lane.gpu) : []),
  ];
}

/** What the GPU's sampled metrics were over the same time. @param {TimelineView} view @param {number[]} events @param {number} gpu */
function metrics(view, events, gpu) {
  const { model, theme } = view;
  const charts = view.layout.tracks.flatMap(({ chart }) => (chart?.kind === 'metric' && chart.gpu === gpu ? [chart] : []));
  if (charts.length === 0) return [];
  const spans = events.map((event) => ({ start: model.events.start[event], end: model.end(event) }));
  return charts
    .flatMap((chart) => {
      const mean = meanDuring(chart, spans);
      return mean === null ? [] : [{ chart, mean }];
    })
    .slice(0, METRICS_MAX)
    .map(({ chart, mean }) => metricStrip(chart, mean, { from: model.startNs, to: model.endNs, color: theme.muted, line: theme.line }));
}

/** What an aggregate of kernels consists of. @param {TimelineView} view @param {number} event @returns {Child[]} */
function mixture(view, event) {
  const mix = view.model.mixOf(event);
  const whole = mix.reduce((sum, { ns }) => sum + ns, 0);
  if (mix.length === 0) return [];
  return [
    h('h3', {}, 'Kernel time by category'),
    fields(
      mix.map(({ category, ns }) => [view.model.timeline.categories[category], `${duration(ns)} (${percent(ns, whole)})`]),
    ),
  ];
}

/** Brings a far track beside the others. @param {TimelineView} view @param {number} event */
function pinButton(view, event) {
  const track = view.layout.find(event)?.track;
  if (!track || track.pinned) return null;
  return h(
    'div',
    { class: 'buttons' },
    h('button', { type: 'button', onclick: () => rearrange(view, (at) => at.togglePin(track.key)) }, 'Pin its track at the top'),
  );
}
