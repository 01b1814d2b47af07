/** @import { Model } from './model.js' */
/** @import { Cell, Lane, Table } from './types.js' */
import { placeColumns, records } from './table-schema.js';

const MAX_TINY_BYTES = 65_536;
const [BLOCKS, WAIT_SHIFT] = [1, 3]; // in `aux` of a call

/** The cells of a row by column name. @param {Table} table @param {number} row @returns {Record<string, Cell>} */
function recordOf(table, row) {
  return Object.fromEntries(table.columns.map(({ name }, column) => [name, table.rows[row][column]]));
}

/** Grid and block of a kernel as tables write them. @param {Model} model @param {number} event */
function shapeOf(model, event) {
  const config = model.timeline.configs[model.events.aux[event] - 1] ?? [];
  return [config.slice(0, 3).join('x'), config.slice(3, 6).join('x')];
}

/** Events of a name: of kernels on the row's GPU, of its shape where it has one; of a process's calls those. @param {Model} model @param {Table} table @param {number} row */
function ofName(model, table, row) {
  const [cells, values] = [table.rows[row], recordOf(table, row)];
  const columns = [placeColumns(table).name, table.columns.findIndex(({ role }) => role === 'kernel_name')].filter((column) => column >= 0);
  const column = columns.find((each) => model.nameIndex.has(String(cells[each])));
  if (column === undefined) return null;
  const name = model.nameIndex.get(String(cells[column]));
  const { role } = table.columns[column];
  const kinds = role === 'kernel_name' ? ['kernel', 'copy', 'set'] : role === 'range_name' ? ['nvtx', 'nvtx_async'] : ['api', 'copy', 'set', 'mpi'];
  const pid = table.columns.find((each) => each.name === 'pid')?.key ? values.pid : null;
  return (/** @type {number} */ event) => {
    if (model.events.name[event] !== name) return false;
    const lane = model.laneOf(event);
    if (!kinds.includes(lane.kind) || (typeof pid === 'number' && lane.pid !== pid)) return false;
    if (model.isGpuLane(lane) && typeof values.device_id === 'number' && lane.gpu !== values.device_id) return false;
    const [grid, block] = values.grid ? shapeOf(model, event) : [];
    return !values.grid || (values.grid === grid && values.block === block);
  };
}

/** Whether the call waits for a copy that starts then, or the thread's next call does, which does nothing else. @param {Model} model @param {number} call @param {number} start */
function isWaitedFor(model, call, start) {
  const { events } = model;
  const lane = model.laneOf(call);
  if ((events.aux[call] & 3) === BLOCKS && model.end(call) > start) return true;
  let next = model.lowerBound(lane, model.end(call));
  if (next === call) next++;
  return next < lane.first + lane.count && (events.aux[next] & 7) === BLOCKS && !model.timeline.allocations?.includes(events.name[next]);
}

/** Stretches of the GPU's active time, in order. @param {Model} model @param {Cell} gpu @returns {[number, number][]}  ns after the origin */
function activeSpans(model, gpu) {
  return records(model.table('active_spans'))
    .filter((span) => span.kind === 'active' && span.device_id === gpu)
    .map((span) => [model.clock.relative(Number(span.start_ns)), model.clock.relative(Number(span.end_ns))]);
}

/** Whether a time is in one of them. @param {[number, number][]} spans @param {number} at */
const isIn = (spans, at) => spans.some(([from, to]) => from <= at && at < to);

/** Where so much of the active time is over. @param {[number, number][]} spans @param {number} part */
function timeOf(spans, part) {
  let left = part * spans.reduce((sum, [from, to]) => sum + to - from, 0);
  for (const [from, to] of spans) {
    if (left < to - from) return from + left;
    left -= to - from;
  }
  return Infinity;
}

const WARM_UP = 0.2;

/** Calls of the GPU's processes that allocate or release in its active time, behind the warm-up and each function's first. @param {Model} model @param {Cell} gpu @param {[number, number][]} spans */
function allocationsOf(model, gpu, spans) {
  const { name, start } = model.events;
  const begin = timeOf(spans, WARM_UP);
  const processes = new Set(model.lanes.filter((lane) => model.isGpuLane(lane) && lane.gpu === gpu).map(({ pid }) => pid));
  const [names, seen, found] = [new Set(model.timeline.allocations), new Set(), new Set()];
  for (const { kind, pid, first, count } of model.lanes) {
    if (kind !== 'api' || !processes.has(pid)) continue;
    for (let call = first; call < first + count; call++) {
      const key = `${pid} ${name[call]}`;
      if (!names.has(name[call])) continue;
      if (seen.has(key) && start[call] >= begin && isIn(spans, start[call])) found.add(call);
      seen.add(key);
    }
  }
  return found;
}

const WARP = 32;

/** Kernels of a GPU whose shape is one of these. @param {Model} model @param {Cell} gpu @param {(shape: Record<string, Cell>) => boolean} isWanted */
function ofShapes(model, gpu, isWanted) {
  const shapes = new Set(
    records(model.table('kernel_shape'))
      .filter((shape) => shape.device_id === gpu && isWanted(shape))
      .map(({ kernel_name: name, grid, block }) => [name, grid, block].join()),
  );
  return (/** @type {number} */ event) => {
    const { kind, gpu: own } = model.laneOf(event);
    return kind === 'kernel' && own === gpu && shapes.has([model.nameOf(event), ...shapeOf(model, event)].join());
  };
}

const REPEATS = 5;

/** Copies between host and GPU in the GPU's active time of which five or more have one direction, size and memory. @param {Model} model @param {Cell} gpu */
function repeatedCopies(model, gpu) {
  const { name, aux, start, memory } = model.events;
  const spans = activeSpans(model, gpu);
  /** @type {Map<string, number[]>} */
  const sizes = new Map();
  for (const { kind, gpu: own, first, count } of model.lanes) {
    for (let copy = first; copy < first + count && kind === 'copy' && own === gpu; copy++) {
      if (!model.nameOf(copy).includes('Host') || !isIn(spans, start[copy])) continue;
      const key = `${name[copy]} ${aux[copy]} ${memory[copy]}`;
      const same = sizes.get(key);
      if (same) same.push(copy);
      else sizes.set(key, [copy]);
    }
  }
  return new Set([...sizes.values()].filter(({ length }) => length >= REPEATS).flat());
}

/** Copies or memsets of a direction on a GPU, from and to such memory. @param {Model} model @param {Record<string, Cell>} of */
function transfersOf(model, { device_id: gpu, direction, src_kind: from, dst_kind: to }) {
  const { memory } = model.events;
  const kinds = (model.timeline.memory ?? []).map((kind) => kind.from === from && kind.to === to);
  return (/** @type {number} */ event) => {
    const lane = model.laneOf(event);
    return (lane.kind === 'copy' || lane.kind === 'set') && lane.gpu === gpu && model.nameOf(event) === direction && kinds[memory[event]] === true;
  };
}

/** Copies between GPU and host, or another GPU, in active time on streams that compute then, too. @param {Model} model @param {Cell} gpu */
function copiesBetweenKernels(model, gpu) {
  const { name, start } = model.events;
  const spans = activeSpans(model, gpu);
  const streamOf = (/** @type {Lane} */ { pid, context, stream }) => [pid, context, stream].join();
  const streams = new Set();
  /** @type {number[]} */
  const copies = [];
  for (const lane of model.lanes.filter((each) => each.gpu === gpu)) {
    const { kind, first, count } = lane;
    const computes = (/** @type {number} */ event) => kind === 'graph' || (kind === 'kernel' && model.category(name[event]) !== 'communication');
    for (let event = first; event < first + count && !streams.has(streamOf(lane)); event++) if (computes(event) && isIn(spans, start[event])) streams.add(streamOf(lane));
    for (let event = first; event < first + count && kind === 'copy'; event++) if (/Host|Peer/u.test(model.nameOf(event)) && isIn(spans, start[event])) copies.push(event);
  }
  return new Set(copies.filter((event) => streams.has(streamOf(model.laneOf(event)))));
}

const TIMES_THE_MEDIAN = 10;

/** What table losses counts on a GPU: what could be fused stands two or more in a row on a stream. @param {Model} model @param {Record<string, Cell>} loss */
function ofLoss(model, { what, device_id: gpu, example, low_median_us: median }) {
  const { events, timeline } = model;
  const own = (/** @type {number} */ event, /** @type {string} */ kind) => model.laneOf(event).kind === kind && model.laneOf(event).gpu === gpu;
  if (what === 'unfused' || what === 'casts') {
    const names = new Set(what === 'casts' ? timeline.casts : timeline.fusable);
    return (/** @type {number} */ event) => {
      if (!names.has(events.name[event]) || !own(event, 'kernel')) return false;
      const { first, count } = model.laneOf(event);
      return what === 'casts' || [event - 1, event + 1].some((at) => at >= first && at < first + count && names.has(events.name[at]));
    };
  }
  const spans = activeSpans(model, gpu);
  if (what === 'tiny_copies')
    return (/** @type {number} */ event) => {
      const isTiny = own(event, 'copy') && model.nameOf(event).includes('Host') && events.aux[event] <= MAX_TINY_BYTES;
      const launch = isTiny && isIn(spans, events.start[event]) ? model.launchOf(event) : -1;
      return launch >= 0 && isWaitedFor(model, launch, events.start[event]);
    };
  const finders = new Map([
    ['allocation', () => allocationsOf(model, gpu, spans)],
    ['repeated_copies', () => repeatedCopies(model, gpu)],
    ['copies_on_compute_stream', () => copiesBetweenKernels(model, gpu)],
  ]);
  const found = finders.get(String(what))?.();
  if (found) return (/** @type {number} */ event) => found.has(event);
  if (what === 'long_calls')
    return (/** @type {number} */ event) => own(event, 'kernel') && model.nameOf(event) === example && events.duration[event] > TIMES_THE_MEDIAN * 1000 * Number(median);
  if (what === 'underfilled') return ofShapes(model, gpu, ({ fill }) => fill === 'underfilled');
  return what === 'small_blocks' ? ofShapes(model, gpu, (shape) => Number(shape.threads_per_block) < WARP) : null;
}

/** Calls that a row of launch_waits counts, one call perhaps for several GPUs. @param {Model} model @param {Record<string, Cell>} of */
function waitsOf(model, { device_id: gpu, place }) {
  const { events, timeline } = model;
  const waits = timeline.waits ?? [];
  const isOwn = (/** @type {number} */ number) => {
    for (let at = number; at > 0; at = waits[at - 1].before) if (waits[at - 1].gpu === gpu && waits[at - 1].place === (place ?? '')) return true;
    return false;
  };
  const own = waits.map((_, at) => isOwn(at + 1));
  return (/** @type {number} */ event) => model.laneOf(event).kind === 'api' && own[(events.aux[event] >> WAIT_SHIFT) - 1] === true;
}

/** The first call of each round that a row of call_rounds counts: the outermost calls of a thread from a launch behind a wait to the next one. @param {Model} model @param {Record<string, Cell>} of */
function roundsOf(model, { pid, round_calls: wanted }) {
  const { start, aux } = model.events;
  const launches = new Set(records(model.table('call_rounds')).map((each) => String(each.round_calls).split(', ')[0]));
  const found = new Set();
  for (const { kind, pid: own, first, count } of model.lanes) {
    let round = { call: -1, names: [''], waited: false };
    const close = () => round.waited && round.names.join(', ') === wanted && found.add(round.call);
    let until = -Infinity;
    for (let call = first; call < first + count && kind === 'api' && own === pid; call++) {
      if (start[call] < until) continue;
      until = model.end(call);
      const name = model.nameOf(call);
      if (launches.has(name) && (round.call < 0 || round.waited)) {
        close();
        round = { call, names: [name], waited: false };
      }
      if (round.names[round.names.length - 1] !== name) round.names.push(name);
      round.waited ||= (aux[call] & 3) === BLOCKS;
    }
    close();
  }
  return (/** @type {number} */ event) => found.has(event);
}

/** @param {Model} model */
const allKernels = (model) => (/** @type {number} */ event) => model.laneOf(event).kind === 'kernel';

/** Communication kernels of a process on a GPU. @param {Model} model @param {Record<string, Cell>} of */
function communicationOf(model, { device_id: gpu, pid }) {
  return (/** @type {number} */ event) => {
    const { kind, gpu: own, pid: process } = model.laneOf(event);
    return kind === 'kernel' && own === gpu && process === pid && model.category(model.events.name[event]) === 'communication';
  };
}

/** Kernels of a GPU in its active time. @param {Model} model @param {Record<string, Cell>} of */
function activeKernels(model, { device_id: gpu }) {
  const spans = activeSpans(model, gpu);
  return (/** @type {number} */ event) => {
    const { kind, gpu: own } = model.laneOf(event);
    return kind === 'kernel' && own === gpu && isIn(spans, model.events.start[event]);
  };
}

const SHORTEST_NS = 4000;
const SAME = ['next_op', 'launch_api', 'nvtx_range'];

/** Whether patterns count the gap. @param {Record<string, Cell>} gap */
const isPatterned = (gap) => Number(gap.gap_end_ns) - Number(gap.gap_start_ns) >= SHORTEST_NS;

/** Rows of gpu_idle_gaps in which a thread did what a row of gap_activity says. @param {Model} model @param {Record<string, Cell>} of */
function gapsOfThread(model, of) {
  const same = of.scope === 'gap' ? ['device_id', 'start_ns'] : ['device_id', 'cause', 'pid', 'tid', ...SAME];
  const gaps = records(model.table('gpu_idle_gaps')).map((gap) => ({ ...gap, start_ns: gap.gap_start_ns }));
  const isOne = (/** @type {Record<string, Cell>} */ gap) => same.every((column) => gap[column] === of[column]) && (of.scope === 'gap' || isPatterned(gap));
  return new Set(gaps.filter(isOne).map(({ row }) => row));
}

/** Rows of gpu_idle_gaps that a pattern of gaps counts, or a cause: gaps within active spans of which a part has it. @param {Model} model @param {Record<string, Cell>} of */
function gapsOf(model, of) {
  const spans = records(model.table('active_spans')).filter(({ kind, device_id: gpu }) => kind === 'active' && gpu === of.device_id);
  const isPattern = 'next_op' in of;
  const has = (/** @type {Record<string, Cell>} */ gap) =>
    (gap.cause === of.cause || (!isPattern && `, ${gap.other_causes}`.includes(`, ${of.cause} `))) &&
    (!isPattern || (isPatterned(gap) && SAME.every((column) => gap[column] === of[column]))) &&
    spans.some((span) => Number(span.start_ns) <= Number(gap.gap_start_ns) && Number(gap.gap_end_ns) <= Number(span.end_ns));
  return new Set(records(model.table('gpu_idle_gaps')).filter((gap) => gap.device_id === of.device_id && has(gap)).map(({ row }) => row));
}

/**
 * The events, or idle gaps, that a row of a table counts: "losses 9".
 * @param {Model} model @param {string} text
 * @returns {{test: (event: number) => boolean, gaps: Set<number> | null} | null}  gaps: rows of gpu_idle_gaps; null: of another table
 */
export function countedOf(model, text) {
  const [, name, row] = /^(\w+)\s+(\d+)$/u.exec(text.trim()) ?? [];
  const table = model.table(name ?? '');
  if (!table?.rows[Number(row)]) return null;
  const cells = recordOf(table, Number(row));
  if (name === 'idle_patterns' || name === 'idle_causes') return { test: () => false, gaps: gapsOf(model, cells) };
  if (name === 'gap_activity') return { test: () => false, gaps: gapsOfThread(model, cells) };
  const own = { losses: ofLoss, comm_ranks: communicationOf, launch_waits: waitsOf, call_rounds: roundsOf, memory_transfers: transfersOf, gpu_active: activeKernels, run_info: allKernels }[name];
  const test = own ? own(model, cells) : ofName(model, table, Number(row));
  return test && { test, gaps: null };
}
