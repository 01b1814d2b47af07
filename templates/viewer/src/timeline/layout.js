/** @import { Lane, Utilization } from '../types.js' */
/** @import { Model } from '../model.js' */
/** @import { Row } from './rows.js' */
/** @import { Spans } from './spans.js' */
/** @import { Chart } from './charts.js' */
/** @import { Projected } from '../projection.js' */
import { duration } from '../format.js';
import { byStanding } from '../gpu-summary.js';
import { HOST_ROWS } from '../host-rows.js';
import { bisect } from '../model.js';
import { projectRanges } from '../projection.js';
import { columnIndex, placeColumns } from '../table-schema.js';
import { Arrangement } from './arrangement.js';
import { memoryCharts, metricCharts } from './charts.js';
import { launchCharts, LEAD_HINT, QUEUE_HINT } from './launch-lead.js';
import { PROJECTION_ROW, ProjectionRows } from './projection-rows.js';
import { rowsOf } from './rows.js';
import { activitySpans, collectiveSpans, pauses, stepSpans } from './spans.js';

export const ROW_HEIGHT = { gpu: 20, host: 17 };
const HEADER_HEIGHT = 24;
const THREAD_HEIGHT = 20;
const UTILIZATION_HEIGHT = 44;
const GAPS_HEIGHT = 20;
const CHART_HEIGHT = 38;
const OPEN_CHARTS = 4;
const MANY_OTHERS = 3;
const OTHERS_HINT = 'Threads without CUDA calls and NVTX ranges';
const OPEN_THREADS = 6;
const OPEN_GPUS = 4;
/** Of a page with more events, what is made from all launches is folded, and made when it is opened. */
const OPEN_LAUNCHES = 100_000;
const PROJECTION_HINT = 'NVTX ranges as the GPU ran them: from the start of the first operation that a range launched to the end of the last';
const LANE_ORDER = ['kernel', 'graph', 'copy', 'set', 'nvtx', 'nvtx_async', 'api', ...Object.keys(HOST_ROWS)];

/**
 * @typedef {object} Gaps  idle gaps of one GPU, by start
 * @property {Float64Array} start
 * @property {Float64Array} end
 * @property {Uint32Array} row  of the table gpu_idle_gaps
 * @property {string[]} cause  of a gap that is a pause the pause's
 * @property {Int32Array} pause  row of the table active_spans, -1 of what is no pause
 * @property {(time: number) => number} firstAfter  first gap that ends after a time
 *
 * @typedef {object} Track
 * @property {'gpu' | 'process' | 'thread' | 'utilization' | 'gaps' | 'spans' | 'chart' | 'projection' | 'events'} type
 * @property {string} key  stable across visits: it stands in links
 * @property {string} label
 * @property {string} [hint]
 * @property {string[]} parents  keys of the groups it is inside
 * @property {number} height
 * @property {number} top  set by place()
 * @property {number} rowHeight
 * @property {Lane} [lane]
 * @property {Row[]} [rows]
 * @property {Utilization} [utilization]
 * @property {Gaps} [gaps]
 * @property {Spans} [spans]
 * @property {Chart} [chart]
 * @property {ProjectionRows} [projection]  NVTX ranges as the GPU ran them
 * @property {(track: Track) => void} [fill]  makes what it shows when it is first in sight
 * @property {boolean} [pinned]  set by place(): stays in sight above the others
 * @property {number} [gpu]
 */

/** Which tracks there are, in which order, and where they stand. */
export class Layout {
  /** @param {Model} model */
  constructor(model) {
    this.model = model;
    /** @type {Track[]} */
    this.tracks = [];
    /** @type {Set<string>}  groups that a fresh visit shows closed */
    this.closed = new Set();
    /** @type {Track[]} */
    this.visible = [];
    this.height = 0;
    this.pinnedHeight = 0;
    this.memory = memoryCharts(model);
    /** @type {Map<number, Projected[]> | null} */
    this.projected = null;
    const host = model.lanes.filter((lane) => !model.isOnGpu(lane));
    this.processes = [...new Set(host.map((lane) => lane.pid))];
    /** @type {Map<number, number[]>}  GPUs that a process works on: it stands behind the last */
    this.gpusOf = new Map();
    for (const { id } of model.timeline.gpus) {
      for (const pid of new Set(model.lanes.filter((lane) => model.isGpuLane(lane) && lane.gpu === id).map((lane) => lane.pid)))
        this.gpusOf.set(pid, [...(this.gpusOf.get(pid) ?? []), id]);
    }
    this.addGpus(host);
    for (const pid of this.processes) if (!this.gpusOf.has(pid)) this.addProcess(pid, host);
    this.arrangement = new Arrangement(this.tracks, this.closed);
    this.place();
  }

  get collapsed() {
    return this.arrangement.folded;
  }

  /** @param {Partial<Track> & Pick<Track, 'type' | 'key' | 'label' | 'height'>} track */
  add(track) {
    this.tracks.push({ parents: [], top: 0, rowHeight: 0, ...track });
  }

  /** @param {Lane[]} host */
  addGpus(host) {
    const { model } = this;
    const gaps = readGaps(model);
    const [memory, metrics] = [this.memory, metricCharts(model)];
    const [activity, steps, collectives] = [activitySpans(model), stepSpans(model), collectiveSpans(model)];
    const order = byStanding(model.timeline.utilization);
    for (const gpu of [...model.timeline.gpus].sort((a, b) => order(a.id, b.id))) {
      const key = `g${gpu.id}`;
      const parents = [key];
      const utilization = model.timeline.utilization.find((candidate) => candidate.device_id === gpu.id);
      this.add({ type: 'gpu', key, label: model.gpuLabels.get(gpu.id) ?? gpu.label, height: HEADER_HEIGHT, gpu: gpu.id, utilization });
      if (model.timeline.gpus.length > OPEN_GPUS) this.closed.add(key);
      if (utilization) {
        this.add({
          type: 'utilization',
          key: `${key}u`,
          label: 'Utilization',
          height: UTILIZATION_HEIGHT,
          parents,
          utilization,
          gpu: gpu.id,
        });
      }
      this.addSpans(gpu.id, 'a', 'Activity', 'When the GPU works; gray: setup and pauses, which no share counts as idle', activity.get(gpu.id));
      this.addSpans(gpu.id, 's', 'Steps', 'Steps of the program; outliers are red, warm-up is gray', steps.get(gpu.id));
      const own = gaps.get(gpu.id);
      if (own) {
        this.add({
          type: 'gaps',
          key: `${key}i`,
          label: 'Idle gaps',
          height: GAPS_HEIGHT,
          parents,
          gaps: own,
          gpu: gpu.id,
          hint: 'Times when nothing ran on this GPU, colored by cause',
        });
      }
      this.addLaunchCharts(gpu.id);
      this.addSpans(gpu.id, 'c', 'Collectives', 'Pale: waits for the last rank; dark: transfers; gray: not known', collectives.get(gpu.id));
      const lanes = model.lanes.filter((lane) => model.isOnGpu(lane) && lane.gpu === gpu.id);
      const shared = new Set(lanes.map((lane) => lane.pid)).size > 1;
      this.addLanes(lanes, parents, ROW_HEIGHT.gpu, shared);
      this.addProjection(gpu.id);
      this.addCharts(key, [key], 'm', memory.filter((chart) => chart.gpu === gpu.id));
      this.addCounters(key, metrics.filter((chart) => chart.gpu === gpu.id));
      // Of many GPUs a process that has one of its own folds with it.
      for (const pid of this.processes) {
        const gpus = this.gpusOf.get(pid) ?? [];
        const inside = model.timeline.gpus.length > OPEN_GPUS && !shared && gpus.length === 1;
        if (gpus.at(-1) === gpu.id) this.addProcess(pid, host, inside ? parents : []);
      }
    }
  }

  /** @param {string} key  of the GPU @param {Chart[]} counters */
  addCounters(key, counters) {
    if (counters.length === 0) return;
    const group = `${key}m`;
    this.add({ type: 'thread', key: group, label: `Sampled counters (${counters.length})`, height: THREAD_HEIGHT, parents: [key] });
    if (counters.length > OPEN_CHARTS) this.closed.add(group);
    this.addCharts(group, [key, group], 'c', counters);
  }

  /** @param {string} key @param {string[]} parents @param {string} suffix @param {Chart[]} charts */
  addCharts(key, parents, suffix, charts) {
    charts.forEach((chart, index) => {
      const several = charts.some((other) => other.label === chart.label && other.pid !== chart.pid);
      const label = several ? `${chart.label} · ${chart.pid}` : chart.label;
      this.add({ type: 'chart', key: `${key}${suffix}${index}`, label, hint: chart.hint, height: CHART_HEIGHT, parents, chart, gpu: chart.gpu });
    });
  }

  /** Ranges with work on each GPU, made when first asked for. */
  get projections() {
    return (this.projected ??= projectRanges(this.model));
  }

  /** How far the CPU is ahead of a GPU. @param {number} gpu */
  addLaunchCharts(gpu) {
    const { aggregated, timeline, count } = this.model;
    const binned = timeline.queues?.find((queue) => queue.gpu === gpu);
    if (aggregated ? !binned : !hasRow(this.model, 'launch_breakdown', gpu, 'launch_count')) return;
    const key = `g${gpu}`;
    const parents = [key];
    const coarse = binned ? `. Least and most of each ${duration(binned.bin_ns)}` : '';
    if (!aggregated && count > OPEN_LAUNCHES) {
      parents.push(`${key}L`);
      this.add({ type: 'thread', key: `${key}L`, label: 'Launch queue', hint: QUEUE_HINT, height: THREAD_HEIGHT, parents: [key] });
      this.closed.add(`${key}L`);
    }
    /** @type {Chart[] | null} */
    let charts = null;
    [['q', 'Launch queue', QUEUE_HINT], ['l', 'Launch lead', LEAD_HINT]].forEach(([suffix, label, hint], index) =>
      this.add({
        type: 'chart',
        key: `${key}${suffix}`,
        label,
        hint: hint + coarse,
        height: CHART_HEIGHT,
        parents,
        gpu,
        fill: (track) => (track.chart = (charts ??= launchCharts(this.model, gpu))[index]),
      }),
    );
  }

  /** NVTX ranges as a GPU ran them: from the first operation that a range launched to the last. @param {number} gpu */
  addProjection(gpu) {
    const { model } = this;
    if (!hasRow(model, 'nvtx_projection', gpu, 'instances_with_work')) return;
    const hint = model.aggregated ? `${PROJECTION_HINT}. In stretches that have every event` : PROJECTION_HINT;
    const [key, group] = [`g${gpu}`, `g${gpu}n`];
    this.add({ type: 'thread', key: group, label: 'NVTX on the GPU', hint, height: THREAD_HEIGHT, parents: [key] });
    if (model.count > OPEN_LAUNCHES) this.closed.add(group);
    this.add({
      type: 'projection',
      key: `${group}p`,
      label: 'Projected ranges',
      hint,
      height: PROJECTION_ROW + 4,
      parents: [key, group],
      rowHeight: PROJECTION_ROW,
      gpu,
      fill: (track) => {
        track.projection = new ProjectionRows(model, this.projections.get(gpu) ?? []);
        track.height = Math.max(1, track.projection.rows.length) * PROJECTION_ROW + 4;
      },
    });
  }

  /** @param {number} gpu @param {string} suffix @param {string} label @param {string} hint @param {Spans | undefined} spans */
  addSpans(gpu, suffix, label, hint, spans) {
    if (!spans) return;
    const key = `g${gpu}`;
    this.add({ type: 'spans', key: `${key}${suffix}`, label, hint, height: GAPS_HEIGHT, parents: [key], spans, gpu });
  }

  /** @param {number} pid @param {Lane[]} host  lanes of all threads @param {string[]} [around]  the groups it is inside */
  addProcess(pid, host, around = []) {
    const { model, processes } = this;
    const key = `p${pid}`;
    this.add({ type: 'process', key, label: model.processLabel(pid), height: HEADER_HEIGHT, parents: around });
    const parents = [...around, key];
    const own = host.filter((lane) => lane.pid === pid);
    const tells = new Set(own.filter((lane) => !model.isHostLane(lane)).map((lane) => lane.tid));
    if (processes.length > OPEN_GPUS || tells.size === 0) this.closed.add(key);
    this.addCharts(key, parents, 'm', this.memory.filter((chart) => chart.gpu < 0 && chart.pid === pid));
    /** @type {Map<number, number>} */
    const sizes = new Map();
    for (const lane of own) sizes.set(lane.tid, (sizes.get(lane.tid) ?? 0) + (model.isHostLane(lane) ? 0 : lane.count));
    const busiest = [...sizes]
      .sort((a, b) => b[1] - a[1])
      .slice(0, OPEN_THREADS)
      .map(([tid]) => tid);
    /** @param {number} tid @param {string[]} inside */
    const addThread = (tid, inside) => {
      const threadKey = `${key}t${tid}`;
      this.add({ type: 'thread', key: threadKey, label: model.threadLabel(pid, tid), height: THREAD_HEIGHT, parents: inside });
      if (!busiest.includes(tid) || !tells.has(tid)) this.closed.add(threadKey);
      const lanes = own.filter((lane) => lane.tid === tid);
      this.addLanes(lanes, [...inside, threadKey], ROW_HEIGHT.host, false);
    };
    const others = [...sizes.keys()].filter((tid) => !tells.has(tid));
    for (const tid of sizes.keys()) if (tells.has(tid)) addThread(tid, parents);
    const apart = others.length >= MANY_OTHERS;
    const group = `${key}o`;
    if (apart) {
      this.add({ type: 'thread', key: group, label: `Other threads (${others.length})`, height: THREAD_HEIGHT, parents, hint: OTHERS_HINT });
      this.closed.add(group);
    }
    for (const tid of others) addThread(tid, apart ? [...parents, group] : parents);
  }

  /** @param {Lane[]} lanes @param {string[]} parents @param {number} rowHeight @param {boolean} nameProcess */
  addLanes(lanes, parents, rowHeight, nameProcess) {
    const { model } = this;
    const sorted = [...lanes].sort(
      (a, b) => a.pid - b.pid || a.context - b.context || a.stream - b.stream || LANE_ORDER.indexOf(a.kind) - LANE_ORDER.indexOf(b.kind),
    );
    for (const lane of sorted) {
      const rows = rowsOf(model, lane);
      const label = nameProcess ? `${model.laneLabel(lane)} · ${lane.pid}` : model.laneLabel(lane);
      this.add({
        type: 'events',
        key: `${parents.at(-1)}l${lane.pid}.${lane.context}.${lane.stream}.${lane.kind}`,
        label,
        lane,
        rows,
        parents,
        rowHeight,
        height: rows.length * rowHeight + 4,
        hint: model.isOnGpu(lane)
          ? `${model.laneLabel(lane)}, context ${lane.context}, ${model.processLabel(lane.pid)}`
          : HOST_ROWS[lane.kind]?.hint,
      });
    }
  }

  /** Recomputes positions after tracks were folded, hidden, pinned or moved. */
  place() {
    const { pinned, others } = this.arrangement.arrange(this.tracks);
    this.visible = [...pinned, ...others];
    for (const track of this.visible) {
      track.fill?.(track);
      delete track.fill;
    }
    let top = 0;
    this.visible.forEach((track, index) => {
      track.top = top;
      track.pinned = index < pinned.length;
      top += track.height;
      if (track.pinned) this.pinnedHeight = top;
    });
    if (pinned.length === 0) this.pinnedHeight = 0;
    this.height = top + 8;
  }

  /** Top of a visible track on the screen. @param {Track} track @param {number} scrollTop */
  screenTop(track, scrollTop) {
    return track.pinned ? track.top : track.top - scrollTop;
  }

  /** @param {string} key */
  toggle(key) {
    if (!this.arrangement.folded.delete(key)) this.arrangement.folded.add(key);
    this.place();
  }

  /** Brings a track to sight: unhides it, opens the groups around it, lets go of a filter. @param {Track} track */
  reveal(track) {
    if (this.visible.includes(track)) return false;
    const { arrangement } = this;
    for (const key of [track.key, ...track.parents]) arrangement.hidden.delete(key);
    for (const key of track.parents) arrangement.folded.delete(key);
    if (!track.parents.every((key) => this.visible.some((other) => other.key === key))) this.place();
    if (!arrangement.matchesFilter(track)) arrangement.filter = '';
    this.place();
    return true;
  }

  /** @param {number} event @returns {{track: Track, row: number} | null} */
  find(event) {
    const lane = this.model.laneOf(event);
    const track = this.tracks.find((candidate) => candidate.lane === lane);
    if (!track?.rows) return null;
    const row = track.rows.findIndex((candidate) => {
      const position = candidate.ids ? candidate.lowerBound(this.model.events.start[event]) : 0;
      for (let i = position; i < candidate.count; i++) {
        if (candidate.event(i) === event || !candidate.ids) return true;
        if (this.model.events.start[candidate.event(i)] > this.model.events.start[event]) break;
      }
      return false;
    });
    return { track, row: Math.max(0, row) };
  }

  /** The track at a place of the screen. @param {number} y  px from the top of the canvas @param {number} scrollTop */
  trackAt(y, scrollTop) {
    const pinned = y < this.pinnedHeight;
    const at = pinned ? y : y + scrollTop;
    return this.visible.find((track) => track.pinned === pinned && at >= track.top && at < track.top + track.height) ?? null;
  }
}

/** Whether a table counts anything for a GPU. @param {Model} model @param {string} name @param {number} gpu @param {string} column */
function hasRow(model, name, gpu, column) {
  const table = model.table(name);
  const [device, count] = ['device_id', column].map((wanted) => (table ? columnIndex(table, wanted) : -1));
  return table !== null && device >= 0 && count >= 0 && table.rows.some((row) => row[device] === gpu && Number(row[count]) > 0);
}

/** Idle gaps by GPU, from the report's table. @param {Model} model */
function readGaps(model) {
  /** @type {Map<number, Gaps>} */
  const result = new Map();
  const table = model.table('gpu_idle_gaps');
  if (!table) return result;
  const place = placeColumns(table);
  const cause = columnIndex(table, 'cause');
  if (place.start < 0 || place.end < 0 || place.device < 0) return result;
  const pauseAt = pauses(model);
  /** @type {Map<number, {start: number, end: number, row: number, cause: string, pause: number}[]>} */
  const byGpu = new Map();
  table.rows.forEach((row, index) => {
    const gpu = Number(row[place.device]);
    const list = byGpu.get(gpu) ?? [];
    byGpu.set(gpu, list);
    const pause = pauseAt(gpu, Number(row[place.start]));
    list.push({
      start: model.clock.relative(Number(row[place.start])),
      end: model.clock.relative(Number(row[place.end])),
      row: index,
      cause: pause?.cause ?? (cause >= 0 ? String(row[cause] ?? 'unknown') : 'unknown'),
      pause: pause?.row ?? -1,
    });
  });
  for (const [gpu, list] of byGpu) {
    list.sort((a, b) => a.start - b.start || a.row - b.row);
    // Gaps of one GPU never overlap: their ends ascend, too.
    const end = Float64Array.from(list, (gap) => gap.end);
    result.set(gpu, {
      start: Float64Array.from(list, (gap) => gap.start),
      end,
      firstAfter: (time) => bisect(0, end.length, (index) => end[index] > time),
      row: Uint32Array.from(list, (gap) => gap.row),
      cause: list.map((gap) => gap.cause),
      pause: Int32Array.from(list, (gap) => gap.pause),
    });
  }
  return result;
}
