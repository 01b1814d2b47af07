/** @import { Cell, Column, TimeMode } from './types.js' */

const groups = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });
const INTEGER_LIMIT = 1e15;

/** @param {number} value */
export function integer(value) {
  return groups.format(value);
}

/** @param {number} value @param {string} one @param {string} [many] */
export function counted(value, one, many = `${one}s`) {
  return `${integer(value)} ${value === 1 ? one : many}`;
}

/** Four significant digits. @param {number} value */
function significant(value) {
  const size = Math.abs(value);
  if (size >= 1000) return groups.format(value);
  return value.toFixed(size >= 100 ? 1 : size >= 10 ? 2 : 3);
}

/** A long name without its middle: names differ at their ends. @param {string} text @param {number} most  characters */
export function shortened(text, most) {
  const letters = [...text];
  if (letters.length <= most) return text;
  const head = Math.ceil((most - 1) / 2);
  return `${letters.slice(0, head).join('')}…${letters.slice(letters.length - (most - 1 - head)).join('')}`;
}

/** @param {number} ns */
export function duration(ns) {
  const size = Math.abs(ns);
  if (size < 1e3) return `${Math.round(ns)} ns`;
  if (size < 1e6) return `${significant(ns / 1e3)} µs`;
  if (size < 1e9) return `${significant(ns / 1e6)} ms`;
  return `${significant(ns / 1e9)} s`;
}

/** @param {number} value */
export function bytes(value) {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let unit = 0;
  let scaled = value;
  while (Math.abs(scaled) >= 1024 && unit < units.length - 1) {
    scaled /= 1024;
    unit++;
  }
  return unit === 0 ? `${groups.format(value)} B` : `${scaled.toFixed(scaled >= 100 ? 0 : 1)} ${units[unit]}`;
}

/** As report.md has it: less than 1 % with two decimals, all of it is said of nothing less. @param {number} value */
export function percentage(value) {
  if (value > 0 && value < 0.005) return '<0.01 %';
  if (value >= 99.95 && value < 100 - 1e-9) return '>99.9 %';
  return `${value.toFixed(value !== 0 && Math.abs(value) < 0.995 ? 2 : 1)} %`;
}

/** @param {number} part @param {number} whole */
export const percent = (part, whole) => (whole > 0 ? percentage((100 * part) / whole) : '–');

/** @param {bigint} value ns @param {number} decimals */
function splitSeconds(value, decimals) {
  const sign = value < 0n ? '-' : '';
  const size = value < 0n ? -value : value;
  const fraction = (size % 1000000000n).toString().padStart(9, '0').slice(0, decimals);
  return { sign, seconds: size / 1000000000n, fraction: decimals > 0 ? `.${fraction}` : '' };
}

/** Turns times of the event arrays into text in the mode the reader chose. */
export class Clock {
  /**
   * @param {string} originNs  session time of t = 0
   * @param {string | null} utcEpochNs  UTC time of session time 0, null when the trace does not say
   */
  constructor(originNs, utcEpochNs) {
    this.origin = BigInt(originNs);
    this.utcEpoch = utcEpochNs === null || utcEpochNs === undefined ? null : BigInt(utcEpochNs);
    /** @type {TimeMode} */
    this.mode = 'relative';
  }

  /** Session time to ns after the origin. @param {number} sessionNs */
  relative(sessionNs) {
    return Number(BigInt(Math.round(sessionNs)) - this.origin);
  }

  /** @param {number} t  ns after the origin @param {number} [stepNs]  resolution wanted, 1 by default */
  format(t, stepNs = 1) {
    const decimals = Math.max(0, Math.min(9, Math.ceil(9 - Math.log10(Math.max(1, stepNs)))));
    if (this.mode === 'relative') return this.formatRelative(t, stepNs);
    const session = this.origin + BigInt(Math.round(t));
    if (this.mode === 'absolute' || this.utcEpoch === null) {
      const { sign, seconds, fraction } = splitSeconds(session, decimals);
      return `${sign}${seconds}${fraction} s`;
    }
    const { seconds, fraction } = splitSeconds(this.utcEpoch + session, decimals);
    return `${new Date(Number(seconds) * 1000).toISOString().slice(11, 19)}${fraction}`;
  }

  /** @param {number} t @param {number} stepNs */
  formatRelative(t, stepNs) {
    const size = Math.max(Math.abs(t), stepNs);
    const [scale, unit] = size >= 1e9 ? [1e9, 's'] : size >= 1e6 ? [1e6, 'ms'] : size >= 1e3 ? [1e3, 'µs'] : [1, 'ns'];
    const decimals = Math.max(0, Math.min(9, Math.ceil(Math.log10(scale / Math.max(1, stepNs)) - 1e-9)));
    return `${(t / scale).toFixed(decimals)} ${unit}`;
  }

  /** UTC date of the window's begin, for the wall clock. @param {number} t */
  date(t) {
    if (this.utcEpoch === null) return null;
    const { seconds } = splitSeconds(this.utcEpoch + this.origin + BigInt(Math.round(t)), 0);
    return new Date(Number(seconds) * 1000).toISOString().slice(0, 10);
  }
}

/** @type {Record<string, string>} */
const unitLabels = {
  ns: 'ns',
  us: 'µs',
  ms: 'ms',
  s: 's',
  bytes: 'bytes',
  B: 'B',
  KiB: 'KiB',
  MiB: 'MiB',
  GiB: 'GiB',
  TiB: 'TiB',
  percent: '%',
  per_second: '1/s',
  gb_per_s: 'GB/s',
  timestamp_ns: 'time',
};

/** @param {Column} column */
export function unitLabel(column) {
  return unitLabels[column.unit] ?? '';
}

/** Cell text with its unit, unless the text says it already. @param {string} text @param {Column} column */
export function withUnit(text, column) {
  const unit = column.unit === 'timestamp_ns' || column.unit === 'bytes' ? '' : unitLabel(column);
  return unit ? `${text} ${unit}` : text;
}

/** @type {Record<string, number>} */
const unitDecimals = { us: 3, ms: 3, s: 3, KiB: 1, MiB: 1, GiB: 1, TiB: 1, percent: 2, gb_per_s: 2, per_second: 0 };

/**
 * Cell text for people; exactCell has every digit.
 * @param {Cell} value @param {Column} column @param {Clock | null} clock
 */
export function cell(value, column, clock) {
  if (value === null || value === undefined) return '–';
  if (typeof value !== 'number') return String(value);
  if (column.unit === 'id') return String(value);
  if (column.unit === 'bytes') return bytes(value);
  if (column.unit === 'timestamp_ns' && clock) return clock.format(clock.relative(value));
  const decimals = unitDecimals[column.unit];
  if (column.unit === 'percent' && value < 100 && value.toFixed(decimals) === '100.00') return '>99.99';
  if (decimals !== undefined) {
    return value.toLocaleString('en-US', { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
  }
  if (column.type === 'int' || Number.isInteger(value)) {
    return Math.abs(value) < INTEGER_LIMIT ? groups.format(value) : String(value);
  }
  return value.toLocaleString('en-US', { maximumFractionDigits: 3 });
}

/** @typedef {[string, number][]} Units  names, and how much of the smallest one each is */
/** @type {Units}  ns */
const TIME_UNITS = [['ns', 1], ['us', 1e3], ['ms', 1e6], ['s', 1e9]];
/** @type {Units} */
const BYTE_UNITS = [['B', 1], ['KiB', 2 ** 10], ['MiB', 2 ** 20], ['GiB', 2 ** 30], ['TiB', 2 ** 40]];
const MANY = 1e4;
const TOO_MANY = 1e6;
const LITTLE = 0.01;

/**
 * The unit in which all of a column reads best: one in which its largest number is short, and a smaller one where that would
 * leave nothing of its small ones.
 * @param {Units} units @param {number[]} values  of the smallest unit @param {number} least  index of the smallest unit that will do
 */
function commonUnit(units, values, least = 0) {
  const sizes = values.filter((value) => value !== 0).map(Math.abs);
  const [low, high] = sizes.reduce(([smallest, largest], size) => [Math.min(smallest, size), Math.max(largest, size)], [Infinity, 0]);
  const short = units.findIndex(([, size]) => high / size < MANY);
  let at = Math.max(least, short < 0 ? units.length - 1 : short);
  while (at > least && low / units[at][1] < LITTLE && high / units[at - 1][1] < TOO_MANY) at--;
  return units[at];
}

/** Texts of times that stand below each other: all in one unit. @param {number[]} all  ns @returns {(ns: number) => string} */
export function durationsLike(all) {
  const [unit, size] = commonUnit(TIME_UNITS, all);
  return (ns) => {
    const text = size === 1 ? integer(Math.round(ns)) : ns === 0 ? '0' : significant(ns / size);
    return `${ns > 0 && text === '0.000' ? '<0.001' : text} ${unitLabels[unit]}`;
  };
}

/**
 * How a column of times or sizes is shown: all of it in one unit.
 * @typedef {{column: Column, factor: number}} Shown  factor: of the values
 *
 * @param {Column} column @param {Cell[]} values @returns {Shown}
 */
export function readable(column, values) {
  const [units, own] = column.unit === 'bytes' ? [BYTE_UNITS, 0] : [TIME_UNITS, TIME_UNITS.findIndex(([name]) => name === column.unit)];
  if (own < 0) return { column, factor: 1 };
  const scale = units[own][1];
  const [unit, size] = commonUnit(units, values.map((value) => (typeof value === 'number' ? value * scale : 0)), own);
  return { column: { ...column, unit }, factor: scale / size };
}

/** Text of a cell as its column is shown. @param {Cell} value @param {Shown} shown @param {Clock | null} clock */
export function shownCell(value, { column, factor }, clock) {
  if (typeof value !== 'number' || factor === 1) return cell(value, column, clock);
  const decimals = unitDecimals[column.unit];
  const last = 10 ** -decimals;
  return value > 0 && value * factor < last / 2 ? `<${last.toFixed(decimals)}` : cell(value * factor, column, clock);
}

/** @type {Record<string, string>} */
const HEADINGS = {
  device_id: 'GPU',
  pid: 'process',
  tid: 'thread',
  call_count: 'calls',
  kernel_name: 'kernel',
  range_name: 'range',
  api_name: 'call',
  pct_total_kernel_time: 'share',
  pct_of_device_kernel_time: 'share of its GPU',
  pct_of_thread_window: 'share of its thread',
  stddev_duration_us: 'std. dev.',
  p50_duration_us: 'median',
  p90_duration_us: 'p90',
  p99_duration_us: 'p99',
  avg_duration_us: 'mean',
  min_duration_us: 'min',
  max_duration_us: 'max',
  total_time_ms: 'total',
  attributed_gpu_time_ms: 'GPU time',
  self_gpu_time_ms: 'GPU time, self',
  attributed_kernel_time_ms: 'kernel time',
  self_kernel_time_ms: 'kernel time, self',
  attributed_kernel_count: 'kernels',
  attributed_graph_time_ms: 'graph time',
  attributed_copy_time_ms: 'copy time',
  self_time_ms: 'self',
  next_op: 'next GPU work',
  what: 'largest part',
  cause_ms: 'time of the cause',
  before_call_ms: 'before the call',
  in_call_ms: 'in the call',
  after_call_ms: 'after the call',
  gap_start_ns: 'start',
  gap_end_ns: 'end',
  gap_ms: 'length',
  stream_id: 'stream',
  op: 'operation',
  set_id: 'number of the collective',
  set_members: 'GPUs that take part',
  late_device_id: 'last to come, GPU',
  is_outlier: 'outlier',
  launch_api: 'launched by',
  launch_thread: 'launching thread',
  host_activity: 'host was in',
  nvtx_range: 'NVTX range',
};

/** Column name for people: underscores out, the unit moves to its own label. @param {string} name */
export function heading(name) {
  if (HEADINGS[name]) return HEADINGS[name];
  const words = name.replace(/_(ns|us|ms|bytes|pct)$/u, '').replace(/^pct_of_/u, 'share_of_').replace(/_/gu, ' ');
  return words.replace(/\b(gpu|cpu|nvtx|cuda|sm)\b/gu, (word) => word.toUpperCase());
}

/** A name whose numbers count what it names. @param {string} text */
export const folded = (text) => text.replace(/\d+/gu, '#');
