/** @import { TimelineView } from './view.js' */
/** @import { Lane } from '../types.js' */
/** @import { Track } from './layout.js' */
/** @import { Child } from '../dom.js' */
import { CAUSE_LABELS } from '../colors.js';
import { copyText, h, name, replace } from '../dom.js';
import { bytes, cell, counted, duration, heading, integer, percent, withUnit } from '../format.js';
import { histogram } from '../histogram.js';
import { rangeStats } from './stats.js';

const LIST_MAX = 12;
const KIND_LABELS = {
  kernel: 'Kernel',
  copy: 'Memory copy',
  set: 'Memory set',
  graph: 'CUDA graph',
  nvtx: 'NVTX range',
  nvtx_async: 'NVTX start/end range',
  api: 'CUDA API call',
};

/** Details of what is selected: an event, a gap or a time range. */
export class Panel {
  /** @param {TimelineView} view */
  constructor(view) {
    this.view = view;
    this.title = h('h2', {});
    this.content = h('div', { class: 'panel-content' });
    this.element = h(
      'aside',
      { class: 'panel', 'aria-label': 'Selection' },
      h(
        'header',
        {},
        this.title,
        h(
          'button',
          {
            type: 'button',
            class: 'quiet',
            'aria-label': 'Close',
            title: 'Close (Esc)',
            onclick: () => this.view.clearSelection(),
          },
          '×',
        ),
      ),
      this.content,
    );
    this.element.hidden = true;
    /** @type {() => void} */
    this.refresh = () => {};
  }

  close() {
    const wasHidden = this.element.hidden;
    this.element.hidden = true;
    this.refresh = () => {};
    if (!wasHidden) this.view.resizeInPlace();
  }

  /** @param {string} title @param {(Child | Child[])[]} content */
  show(title, content) {
    const wasHidden = this.element.hidden;
    this.element.hidden = false;
    this.title.textContent = title;
    replace(this.content, ...content);
    this.element.scrollTop = 0;
    // The panel takes room from the canvas.
    if (wasHidden) this.view.resizeInPlace();
  }

  /** @param {[string, Child][]} rows */
  fields(rows) {
    return h(
      'dl',
      { class: 'fields' },
      rows.flatMap(([label, value]) =>
        value === null || value === undefined || value === '' ? [] : [h('dt', {}, label), h('dd', {}, value)],
      ),
    );
  }

  /** @param {number} event @param {boolean} [zoom] */
  eventButton(event, zoom = false) {
    const { model } = this.view;
    const shown = model.shortNameOf(event);
    return h(
      'button',
      {
        type: 'button',
        class: 'link',
        title: model.nameOf(event),
        onclick: () => this.view.selectEvent(event, { reveal: true, zoom }),
      },
      name(shown),
    );
  }

  /** @param {number} event @param {Lane} lane @returns {[string, Child][]} */
  specificFields(event, lane) {
    const { model } = this.view;
    const { aux, corr, duration: durations, count } = model.events;
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
      case 'set':
        return [
          ['Size', `${bytes(value)} (${integer(value)} bytes)`],
          ['Throughput', durations[event] > 0 ? `${(value / durations[event]).toFixed(2)} GB/s` : null],
          ['Correlation', String(corr[event])],
        ];
      case 'graph':
        return [
          ['Graph', String(value)],
          ['Correlation', String(corr[event])],
        ];
      case 'api':
        return [
          [
            'Behaviour',
            value === 1 ? h('span', { class: 'bad' }, 'blocks the host') : value === 2 ? 'orders or polls' : 'returns at once',
          ],
          ['Correlation', String(corr[event])],
        ];
      case 'nvtx':
        return [
          ['Depth', String(value)],
          ['Row in the export', String(corr[event])],
        ];
      default:
        return [['Row in the export', String(corr[event])]];
    }
  }

  /** @param {number} event */
  showEvent(event) {
    this.refresh = () => this.showEvent(event);
    const { view } = this;
    const { model } = view;
    const { start, duration: durations, count, busy, name: nameIds } = model.events;
    const { clock } = model;
    const lane = model.laneOf(event);
    const onGpu = model.isGpuLane(lane);
    const many = count[event] > 1;
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
      many
        ? [
            'Aggregate',
            `${integer(count[event])} events, busy ${duration(busy[event])} (${percent(busy[event], durations[event])})`,
          ]
        : ['', null],
      ['Category', onGpu ? model.category(nameIds[event]) : null],
      onGpu
        ? ['GPU', name(model.gpuLabels.get(lane.gpu) ?? String(lane.gpu))]
        : ['Thread', name(model.threadLabel(lane.pid, lane.tid))],
      ['Process', name(model.processLabel(lane.pid))],
      onGpu ? ['Stream', `${lane.stream}, context ${lane.context}`] : ['', null],
      ...this.specificFields(event, lane),
    ];
    this.show(many ? 'Aggregated events' : KIND_LABELS[lane.kind], [
      h(
        'p',
        { class: 'full-name' },
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
        h('span', { class: 'muted' }, `${integer(rank)} of ${integer(total)}`),
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
      this.fields(rows),
      ...this.links(event, lane),
      ...this.stack(event),
      ...(total > 1 && !many ? this.distribution(event, lane) : []),
    ]);
  }

  /** Launching call, or launched work. @param {number} event @param {Lane} lane @returns {Child[]} */
  links(event, lane) {
    const { model } = this.view;
    const { start, duration: durations } = model.events;
    if (model.isGpuLane(lane)) {
      const launch = model.launchOf(event);
      if (launch < 0) return [h('h3', {}, 'Launched by'), h('p', { class: 'muted' }, 'No launching call in the trace.')];
      const thread = model.laneOf(launch);
      const wait = start[event] - model.end(launch);
      return [
        h('h3', {}, 'Launched by'),
        this.fields([
          ['Call', this.eventButton(launch)],
          ['Thread', name(model.threadLabel(thread.pid, thread.tid))],
          ['Call took', duration(durations[launch])],
          ['Launch latency', duration(start[event] - start[launch])],
          ['Queue delay', wait >= 0 ? duration(wait) : 'started before the call returned'],
        ]),
      ];
    }
    const [low, high] = lane.kind === 'api' ? [event, event + 1] : [0, 0];
    const launched =
      lane.kind === 'api' ? model.launchedBy(low, high) : lane.kind === 'nvtx' ? this.launchedInside(event, lane) : [];
    if (launched.length === 0) return [];
    const sum = launched.reduce((total, item) => total + durations[item], 0);
    const begin = launched.reduce((least, item) => Math.min(least, start[item]), Infinity);
    const end = launched.reduce((most, item) => Math.max(most, model.end(item)), -Infinity);
    const first = [...launched].sort((a, b) => durations[b] - durations[a] || a - b).slice(0, LIST_MAX);
    return [
      h('h3', {}, 'GPU work launched'),
      this.fields([
        ['Operations', integer(launched.length)],
        ['GPU time', duration(sum)],
        ['First to last', duration(end - begin)],
      ]),
      h(
        'div',
        { class: 'buttons' },
        h('button', { type: 'button', onclick: () => this.view.showRange(begin, end) }, 'Show on the GPU'),
      ),
      h(
        'ol',
        { class: 'rank' },
        first.map((item) => h('li', {}, this.eventButton(item), h('span', { class: 'num' }, duration(durations[item])))),
      ),
    ];
  }

  /** GPU work whose launching call began inside a range, on the range's thread. @param {number} range @param {Lane} lane */
  launchedInside(range, lane) {
    const { model } = this.view;
    /** @type {number[]} */
    const found = [];
    for (const calls of model.lanes) {
      if (calls.kind !== 'api' || calls.pid !== lane.pid || calls.tid !== lane.tid) continue;
      const low = model.lowerBound(calls, model.events.start[range]);
      const high = model.lowerBound(calls, model.end(range));
      if (high > low) for (const event of model.launchedBy(low, high)) found.push(event);
    }
    return found;
  }

  /** @param {number} event @returns {Child[]} */
  stack(event) {
    const stack = this.view.model.contextStack(event);
    if (stack.length === 0) return [];
    const { duration: durations } = this.view.model.events;
    return [
      h('h3', {}, 'Inside the ranges'),
      h(
        'ol',
        { class: 'stack' },
        stack.map((range) => h('li', {}, this.eventButton(range), h('span', { class: 'num' }, duration(durations[range])))),
      ),
    ];
  }

  /** @param {number} event @param {Lane} lane @returns {Child[]} */
  distribution(event, lane) {
    const { model, theme, colors } = this.view;
    const nameId = model.events.name[event];
    const values = model.durationsOf(nameId, model.isGpuLane(lane) ? lane.gpu : null);
    if (values.length < 2) return [];
    return [
      h('h3', {}, model.isGpuLane(lane) ? 'Durations of this name on this GPU' : 'Durations of this name'),
      histogram(values, model.events.duration[event], colors.forLane(lane)(event), theme.text),
    ];
  }

  /** @param {Track} track @param {number} index */
  showGap(track, index) {
    this.refresh = () => this.showGap(track, index);
    const { gaps } = track;
    const { model } = this.view;
    const table = model.table('gpu_idle_gaps');
    if (!gaps || !table) return;
    const row = table.rows[gaps.row[index]];
    const cause = gaps.cause[index];
    this.show('Idle gap', [
      h(
        'p',
        { class: 'full-name' },
        `${model.gpuLabels.get(track.gpu ?? -1) ?? 'GPU'} idle for ${duration(gaps.end[index] - gaps.start[index])}`,
      ),
      h('p', {}, `Cause: ${CAUSE_LABELS[cause] ?? cause}.`),
      h(
        'div',
        { class: 'buttons' },
        h('button', { type: 'button', onclick: () => this.view.zoomToSelection() }, 'Zoom'),
        h(
          'button',
          { type: 'button', onclick: () => this.view.selectRange(gaps.start[index], gaps.end[index], true) },
          'What happened meanwhile',
        ),
        h(
          'button',
          { type: 'button', onclick: () => this.view.app.showTable('gpu_idle_gaps', gaps.row[index]) },
          'Row in the table',
        ),
      ),
      this.fields(
        table.columns.map((column, position) => [
          heading(column.name),
          name(withUnit(cell(row[position], column, model.clock), column)),
        ]),
      ),
    ]);
  }

  /** @param {number} from @param {number} to */
  showRange(from, to) {
    this.refresh = () => this.showRange(from, to);
    const { view } = this;
    const { model } = view;
    const stats = rangeStats(model, from, to);
    const span = to - from;
    /** @param {{name: number, count: number, ns: number}[]} totals @param {number} whole */
    const ranking = (totals, whole) =>
      h(
        'table',
        { class: 'mini' },
        h(
          'thead',
          {},
          h(
            'tr',
            {},
            h('th', {}, 'Name'),
            h('th', { class: 'num' }, 'Count'),
            h('th', { class: 'num' }, 'Time'),
            h('th', { class: 'num' }, 'Share'),
          ),
        ),
        h(
          'tbody',
          {},
          totals
            .slice(0, LIST_MAX)
            .map((entry) =>
              h(
                'tr',
                {},
                h(
                  'td',
                  {},
                  h(
                    'button',
                    {
                      type: 'button',
                      class: 'link',
                      title: model.names[entry.name],
                      onclick: () => view.setSearchText(model.names[entry.name]),
                    },
                    name(model.shortNames[entry.name] || model.names[entry.name]),
                  ),
                ),
                h('td', { class: 'num' }, integer(entry.count)),
                h('td', { class: 'num' }, duration(entry.ns)),
                h('td', { class: 'num' }, percent(entry.ns, whole)),
              ),
            ),
        ),
      );
    this.show('Time range', [
      this.fields([
        ['From', model.clock.format(from)],
        ['To', model.clock.format(to)],
        ['Length', h('b', {}, duration(span))],
        ...stats.gpus.map(
          (gpu) =>
            /** @type {[string, Child]} */ ([
              `GPU ${gpu.gpu}`,
              `busy ${percent(gpu.busyNs, span)} (${duration(gpu.busyNs)}), ${counted(gpu.kernels, 'kernel')}, ${counted(gpu.copies, 'copy', 'copies')}` +
                (gpu.copiedBytes > 0 ? `, ${bytes(gpu.copiedBytes)}` : ''),
            ]),
        ),
        ['Kernels', `${integer(stats.kernelCount)}, ${duration(stats.kernelNs)} in total`],
        ['Launches', `${integer(stats.launches)} of ${counted(stats.apiCalls, 'call')}`],
        ['Host blocked', duration(stats.blockedNs)],
      ]),
      stats.approximate
        ? h('p', { class: 'notice' }, 'Parts of this range are aggregated: counts and times are those of whole aggregates.')
        : null,
      h('div', { class: 'buttons' }, h('button', { type: 'button', onclick: () => view.zoomToSelection() }, 'Zoom')),
      h('h3', {}, 'Top kernels'),
      stats.kernels.length > 0 ? ranking(stats.kernels, stats.kernelNs) : h('p', { class: 'muted' }, 'None.'),
      h('h3', {}, 'CUDA calls'),
      stats.apis.length > 0
        ? ranking(
            stats.apis,
            stats.apis.reduce((sum, entry) => sum + entry.ns, 0),
          )
        : h('p', { class: 'muted' }, 'None.'),
    ]);
    // For tests and scripts: the numbers behind the text.
    this.lastStats = stats;
  }
}
