/** @import { Cell } from '../types.js' */
/** @import { Model } from '../model.js' */
import { columnIndex, records } from '../table-schema.js';

const NS_PER_US = 1e3;

/**
 * What one GPU did of a collective.
 * @typedef {object} Member
 * @property {number} device
 * @property {number | null} late  ns after the first GPU's arrival; null where nothing tells
 * @property {number | null} busbw  GB/s
 * @property {number} row  of comm_instances
 *
 * @typedef {object} Collective
 * @property {string} op
 * @property {number} start  ns after the origin, of the first member
 * @property {number} end  of the last
 * @property {number | null} skew  ns
 * @property {number | null} last  GPU that came last
 * @property {Member[]} members
 *
 * @typedef {object} Communicator
 * @property {string | null} id  null: of all whose communicator nobody tells
 * @property {number[]} devices  those that came last most often first
 * @property {string[]} ops  the most frequent first
 * @property {number} exposed  ns
 * @property {Collective[]} collectives  by start
 */

const COLUMNS = ['device_id', 'op', 'dtype', 'start_ns', 'end_ns', 'exposed_us', 'set_id', 'wait_us', 'skew_us', 'late_device_id', 'busbw', 'communicator'];

/** @param {Cell} value @param {number} [factor] */
const known = (value, factor = 1) => (typeof value === 'number' ? value * factor : null);

/** Entries of a map, the largest first. @template K @param {Map<K, number>} counts @returns {K[]} */
const byCount = (counts) => [...counts].sort((a, b) => b[1] - a[1]).map(([key]) => key);

/** @param {Communicator} communicator */
export const knowsArrivals = ({ collectives }) => collectives.some(({ skew }) => skew !== null);
/** @param {Communicator} communicator */
export const knowsRates = ({ collectives }) => collectives.some(({ members }) => members.some(({ busbw }) => busbw !== null));

/** @param {Model} model @returns {Communicator[]}  with the most exposed time first */
export function communicatorsOf(model) {
  const table = model.table('comm_instances');
  const at = COLUMNS.map((name) => (table ? columnIndex(table, name) : -1));
  if (!table || at.includes(-1)) return [];
  /** @type {Map<Cell, Communicator>} */
  const found = new Map();
  /** @type {Map<Cell, Collective>} */
  const sets = new Map();
  table.rows.forEach((cells, row) => {
    const [device, op, dtype, start, end, exposed, set, wait, skew, late, busbw, id] = at.map((column) => cells[column]);
    const communicator = found.get(id) ?? { id: id === null ? null : String(id), devices: [], ops: [], exposed: 0, collectives: [] };
    found.set(id, communicator);
    communicator.exposed += Number(exposed) * NS_PER_US;
    const [begin, done] = [start, end].map((time) => model.clock.relative(Number(time)));
    let collective = set === null ? undefined : sets.get(set);
    if (!collective) {
      collective = { op: dtype === null ? String(op) : `${op} ${dtype}`, start: begin, end: done, skew: known(skew, NS_PER_US), last: known(late), members: [] };
      communicator.collectives.push(collective);
      if (set !== null) sets.set(set, collective);
    }
    collective.start = Math.min(collective.start, begin);
    collective.end = Math.max(collective.end, done);
    const arrived = typeof skew === 'number' && typeof wait === 'number' ? Math.max(0, (skew - wait) * NS_PER_US) : null;
    collective.members.push({ device: Number(device), late: arrived, busbw: known(busbw), row });
  });
  for (const communicator of found.values()) summarise(communicator);
  return [...found.values()].sort((a, b) => b.exposed - a.exposed);
}

/** @param {Communicator} communicator */
function summarise(communicator) {
  const { collectives } = communicator;
  collectives.sort((a, b) => a.start - b.start);
  /** @type {Map<number, number>} */
  const lasts = new Map();
  /** @type {Map<string, number>} */
  const ops = new Map();
  for (const { op, last, members } of collectives) {
    ops.set(op, (ops.get(op) ?? 0) + 1);
    for (const { device } of members) lasts.set(device, (lasts.get(device) ?? 0) + (device === last ? 1 : 0));
  }
  communicator.ops = byCount(ops);
  communicator.devices = byCount(new Map([...lasts].sort((a, b) => a[0] - b[0])));
}

/** Peak of the links between GPUs in one direction, GB/s; null where it is not known, or differs. @param {Model} model */
export function linkPeak(model) {
  const peaks = new Set(records(model.table('comm_ops')).map(({ link_gb_per_s: peak }) => peak).filter((peak) => typeof peak === 'number'));
  return peaks.size === 1 ? [...peaks][0] : null;
}

/** The parallelism a communicator serves, where the trace tells. @param {Model} model @param {string | null} id */
export function purposeOf(model, id) {
  const row = records(model.table('communicators')).find(({ communicator, purpose }) => communicator === id && purpose);
  if (row?.confidence === 'members') return `World: ${row.evidence}.`;
  return row ? `Parallelism: ${row.purpose} (${row.confidence}; ${row.evidence}).` : '';
}

/**
 * Bytes from rank to rank of a communicator: as the sender says, else as the receiver does.
 * @param {Model} model @param {string | null} id @returns {{ranks: number[], bytes: Map<string, number>, largest: number} | null}  bytes: by "from>to"
 */
export function trafficOf(model, id) {
  const rows = records(model.table('comm_peers')).filter((row) => row.communicator === id && typeof row.rank === 'number');
  if (id === null || rows.length === 0) return null;
  /** @type {Map<string, number>} */
  const bytes = new Map();
  for (const { rank, peer, received_bytes: received } of rows) if (Number(received) > 0) bytes.set(`${peer}>${rank}`, Number(received));
  for (const { rank, peer, sent_bytes: sent } of rows) if (Number(sent) > 0) bytes.set(`${rank}>${peer}`, Number(sent));
  const ranks = [...new Set(rows.flatMap(({ rank, peer }) => [Number(rank), Number(peer)]))].sort((a, b) => a - b);
  return { ranks, bytes, largest: Math.max(1, ...bytes.values()) };
}
