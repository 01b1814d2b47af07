/** @import { Lane } from './types.js' */
/** @import { Model } from './model.js' */
import { HOST_ROWS } from './host-rows.js';

/** Every colour here is dark enough for white labels, in either theme. */
const CATEGORY_COLORS = {
  communication: '#b45e15',
  attention: '#7658b8',
  gemm: '#386cbb',
  convolution: '#5560bd',
  normalization: '#23807a',
  softmax: '#2a7d9b',
  embedding: '#8a7024',
  optimizer: '#92664a',
  reduction: '#42823f',
  elementwise: '#697d2a',
  copy: '#b04f88',
  other: '#6c7783',
};
const NAME_COLORS = [
  '#3f6fb5',
  '#af6128',
  '#448244',
  '#7a5db0',
  '#a8517f',
  '#2f8079',
  '#8d6748',
  '#3d7c9e',
  '#877329',
  '#5a63b3',
  '#a8544f',
  '#647e39',
  '#84579a',
  '#3f7d62',
  '#6b7683',
  '#99643a',
];
const NVTX_COLORS = ['#4b6a8f', '#5f6f9c', '#4d7c86', '#6b6d94', '#55789b', '#5b7b71', '#75698f', '#4f7399'];
export const API_COLORS = { plain: '#6c767f', blocking: '#cc3b2f', ordering: '#9f6917' };
const GRAPH_COLOR = '#3f6f8f';

export const UTILIZATION_PARTS = /** @type {const} */ ([
  { key: 'compute_ns', label: 'Compute', variable: '--compute' },
  { key: 'exposed_comm_ns', label: 'Exposed communication', variable: '--comm' },
  { key: 'exposed_copy_ns', label: 'Exposed copy', variable: '--copy' },
  { key: 'idle_ns', label: 'Idle', variable: '--idle' },
]);

/** @type {Record<string, string>} */
export const CAUSE_COLORS = {
  blocking_call: '#cc3b2f',
  queue_drained: '#e0655a',
  host_code: '#b8921a',
  cuda_call: '#d9770f',
  in_launch_call: '#b35a00',
  allocation: '#a8488f',
  module_load: '#7a55b0',
  profiler: '#4a9a8f',
  launch_latency: '#5b8fc7',
  dependency: '#6b7f99',
  host_function: '#a3785a',
  page_migration: '#7f9a3c',
  input_wait: '#96702f',
  file_read: '#5f8f5a',
  sleep: '#7d74b5',
  wait: '#b0697f',
  os_call: '#3f8796',
  unknown: '#8d949c',
};

/** @type {Record<string, string>} */
export const CAUSE_LABELS = {
  blocking_call: 'the launching thread was in a call that waits for the GPU',
  queue_drained: 'the launch queue was empty after a wait, and the host had not refilled it',
  host_code: 'the CPU was busy between launches, outside CUDA calls',
  cuda_call: 'the launching thread was in another CUDA call',
  in_launch_call: 'the launching thread was inside the call that launched the next operation',
  allocation: 'the launching thread was in a call that allocates or frees memory',
  module_load: 'GPU code was loaded or compiled',
  profiler: 'the profiler flushed its buffers or did other work',
  launch_latency: 'from the end of the launch, or of the work before, to the start of the operation',
  dependency: 'the work was queued and waited for an event',
  host_function: 'the stream ran a function of the program on the host',
  page_migration: 'the next operation was a migration of managed memory',
  input_wait: 'a pause: the host waited for input',
  file_read: 'a pause: the host read files',
  sleep: 'a pause: the host slept on purpose',
  wait: 'a pause: the host waited for another thread or an event',
  os_call: 'a pause: the host was in another call of the operating system',
  unknown: 'the trace does not show why',
};

/** The labels of src/tables/values.c. @type {Record<string, string>} */
const CAUSE_NAMES = {
  profiler: 'profiler overhead',
  module_load: 'module loading',
  allocation: 'memory allocation',
  blocking_call: 'synchronization',
  queue_drained: 'starved after synchronization',
  in_launch_call: 'launch call',
  cuda_call: 'other CUDA call',
  host_code: 'host-bound',
  launch_latency: 'launch latency',
  dependency: 'dependency',
  host_function: 'host function',
  page_migration: 'page migration',
  input_wait: 'waiting for input',
  file_read: 'reading files',
  sleep: 'sleeping',
  wait: 'waiting for a thread',
  os_call: 'OS call',
  unknown: 'unknown',
  kernel: 'GPU kernels',
  communication: 'communication',
  copy: 'memory copies',
  memset: 'memsets',
  cuda_graph: 'CUDA graphs',
  host_bound: 'host code',
  launch_call: 'launch calls',
  sync_return: 'return of synchronization',
  queue_full: 'full launch queue',
  stream_gap: 'gaps between operations',
  device_busy: 'busy engine',
  unexplained: 'unexplained delay',
  not_recorded: 'time before the first recorded call',
};

/** A cause in a few words; CAUSE_LABELS explains it. @param {string} cause */
export function causeName(cause) {
  return CAUSE_NAMES[cause] ?? cause.replace(/_/gu, ' ');
}

/** Causes of the critical path that idle gaps have by another name. @type {Record<string, string>} */
const SAME_CAUSE = { host_bound: 'host_code', launch_call: 'in_launch_call', sync_return: 'blocking_call' };
/** Work on the critical path. @type {Record<string, string>} */
const WORK_COLORS = { kernel: CATEGORY_COLORS.gemm, communication: CATEGORY_COLORS.communication, copy: CATEGORY_COLORS.copy, memset: CATEGORY_COLORS.copy, cuda_graph: GRAPH_COLOR };

/** @param {string} cause */
export function causeColor(cause) {
  return WORK_COLORS[cause] ?? CAUSE_COLORS[SAME_CAUSE[cause] ?? cause] ?? CAUSE_COLORS.unknown;
}

/** @param {string} text */
export function hash(text) {
  let value = 2166136261;
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 16777619);
  return value >>> 0;
}

/** @param {string} category */
export function categoryColor(category) {
  return /** @type {Record<string, string>} */ (CATEGORY_COLORS)[category] ?? NAME_COLORS[hash(category) % NAME_COLORS.length];
}

/** Same name, same colour, in every view. @param {string} text */
export function nameColor(text) {
  return NAME_COLORS[hash(text) % NAME_COLORS.length];
}

/** For a handful of things beside each other: neighbours always differ. @param {number} index */
export function seriesColor(index) {
  return NAME_COLORS[index % NAME_COLORS.length];
}

/** @param {string} text */
export function rangeColor(text) {
  return NVTX_COLORS[hash(text) % NVTX_COLORS.length];
}

/** '#rrggbb' to [r, g, b]. @param {string} color */
export function rgb(color) {
  const value = parseInt(color.slice(1), 16);
  return [(value >> 16) & 255, (value >> 8) & 255, value & 255];
}

/** Colours of events, looked up by name so that drawing costs one array access. */
export class EventColors {
  /** @param {Model} model @param {'name' | 'category'} mode */
  constructor(model, mode) {
    this.model = model;
    this.mode = mode;
    const { names } = model;
    /** @type {string[]} */
    this.gpu = names.map((text, id) => {
      const category = model.category(id);
      return mode === 'category' ? categoryColor(category ?? 'other') : nameColor(text);
    });
    this.range = names.map((text) => (mode === 'category' ? rangeColor(text) : nameColor(text)));
    this.copy = mode === 'category' ? names.map(() => CATEGORY_COLORS.copy) : this.gpu;
    /** Functions are told apart by colour in either mode. */
    this.sample = names.map(nameColor);
    this.api = [API_COLORS.plain, API_COLORS.blocking, API_COLORS.ordering];
  }

  /** @param {Lane} lane @returns {(event: number) => string} */
  forLane(lane) {
    const { name, aux } = this.model.events;
    switch (lane.kind) {
      case 'kernel':
        return (event) => this.gpu[name[event]];
      case 'copy':
      case 'set':
        return (event) => this.copy[name[event]];
      case 'graph':
        return () => GRAPH_COLOR;
      case 'sample':
        return (event) => this.sample[name[event]];
      case 'api':
        return (event) => this.api[aux[event] & 3] ?? API_COLORS.plain;
      default: {
        const color = this.mode === 'name' ? null : HOST_ROWS[lane.kind]?.color;
        return color ? () => color : (event) => this.range[name[event]];
      }
    }
  }
}

/** Theme colours for canvases, read from the style sheet's variables. */
export function readTheme() {
  const style = getComputedStyle(document.documentElement);
  /** @param {string} name */
  const get = (name) => style.getPropertyValue(name).trim();
  return {
    background: get('--surface'),
    raised: get('--raised'),
    text: get('--text'),
    muted: get('--muted'),
    line: get('--line'),
    grid: get('--grid'),
    accent: get('--accent'),
    selection: get('--selection'),
    band: get('--band'),
    compute: get('--compute'),
    comm: get('--comm'),
    copy: get('--copy'),
    idle: get('--idle'),
    match: get('--match'),
    bad: get('--high'),
    font: '11px ' + get('--font'),
  };
}

/** @typedef {ReturnType<typeof readTheme>} Theme */
