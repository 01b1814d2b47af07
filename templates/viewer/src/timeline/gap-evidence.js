/** @import { Lane, Table } from '../types.js' */
/** @import { Model } from '../model.js' */
import { columnIndex } from '../table-schema.js';

/**
 * What one kind of evidence says about the thread that the GPU waited for.
 * @typedef {object} Layer
 * @property {string} title
 * @property {{name: string, note: string, ns: number | null, count: number | null}[]} rows  longest first
 * @property {boolean} recorded
 */

/** Evidence by the table's word and by the kind of its lane. */
const LAYERS = /** @type {const} */ ([
  { key: 'cuda_api', kind: 'api', title: 'CUDA calls' },
  { key: 'overhead', kind: 'overhead', title: 'Profiler and driver' },
  { key: 'os_runtime', kind: 'osrt', title: 'OS runtime calls' },
  { key: 'scheduling', kind: 'sched', title: 'Scheduling' },
  { key: 'samples', kind: 'sample', title: 'Samples' },
]);
const NS_PER_MS = 1e6;
const STATES = /** @type {Record<string, string>} */ ({ on_cpu: 'on a CPU', off_cpu: 'off the CPU', unknown: 'not known' });

/** @param {Table} table @param {string[]} names */
const positions = (table, names) => names.map((name) => columnIndex(table, name));

/** The gap's row in gap_activity, -1 when it is none of the longest. @param {Model} model @param {number} gpu @param {number} startNs  of the session */
export function subjectOf(model, gpu, startNs) {
  const table = model.table('gap_activity');
  if (!table) return -1;
  const [scope, device, start] = positions(table, ['scope', 'device_id', 'start_ns']);
  return table.rows.findIndex((row) => row[scope] === 'gap' && row[device] === gpu && row[start] === startNs);
}

/** The thread's lanes of one kind. @param {Model} model @param {string} kind @param {number} pid @param {number} tid */
const lanesOf = (model, kind, pid, tid) => model.lanes.filter((lane) => lane.kind === kind && lane.pid === pid && lane.tid === tid);

/** From the report's table, which knows callers. @param {Model} model @param {number} subject @param {number} pid @param {number} tid @returns {Layer[]} */
export function layersFromTable(model, subject, pid, tid) {
  const table = model.table('gap_functions');
  if (!table || subject < 0) return [];
  const [of, layer, kind, text, caller, time, count] = positions(table, ['subject', 'layer', 'class', 'function', 'caller', 'time_ms', 'count']);
  const own = table.rows.filter((row) => row[of] === subject);
  return LAYERS.map(({ key, kind: laneKind, title }) => ({
    title,
    recorded: own.some((row) => row[layer] === key) || lanesOf(model, laneKind, pid, tid).length > 0,
    rows: own
      .filter((row) => row[layer] === key && row[kind] !== 'rest')
      .map((row) => ({
        name: String(row[text] ?? STATES[String(row[kind])] ?? row[kind] ?? ''),
        note: row[caller] ? `called by ${row[caller]}` : '',
        ns: typeof row[time] === 'number' ? row[time] * NS_PER_MS : null,
        count: typeof row[count] === 'number' ? row[count] : null,
      }))
      .filter(({ ns }) => ns === null || ns > 0)
      .sort((a, b) => (b.ns ?? 0) - (a.ns ?? 0)),
  }));
}

/** Time of each name inside [from, to). @param {Model} model @param {Lane[]} lanes @param {number} from @param {number} to */
function inside(model, lanes, from, to) {
  const { start, name } = model.events;
  /** @type {Map<number, {ns: number, count: number}>} */
  const sums = new Map();
  for (const lane of lanes) {
    for (let i = lane.first; i < lane.first + lane.count && start[i] < to; i++) {
      const ns = Math.min(to, model.end(i)) - Math.max(from, start[i]);
      if (ns < 0 || (ns === 0 && start[i] < from)) continue;
      const sum = sums.get(name[i]) ?? { ns: 0, count: 0 };
      sums.set(name[i], sum);
      sum.ns += ns;
      sum.count += model.events.count[i];
    }
  }
  return sums;
}

/**
 * The same from the page's own events: of gaps that the table does not have.
 * @param {Model} model @param {number} pid @param {number} tid @param {number} from @param {number} to @returns {Layer[]}
 */
export function layersFromEvents(model, pid, tid, from, to) {
  if (!model.complete(from, to) || model.timeline.host_bucket_ns) return [];
  return LAYERS.map(({ kind, title }) => {
    const lanes = lanesOf(model, kind, pid, tid);
    const sums = inside(model, lanes, from, to);
    const timed = kind !== 'sample';
    return {
      title,
      recorded: lanes.length > 0,
      rows: [...sums]
        .map(([id, { ns, count }]) => ({ name: model.shortNames[id] || model.names[id], note: '', ns: timed ? ns : null, count }))
        .sort((a, b) => (b.ns ?? 0) - (a.ns ?? 0) || b.count - a.count),
    };
  });
}
