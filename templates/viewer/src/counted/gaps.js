/** @import { Model } from '../model.js' */
/** @import { Cell } from '../types.js' */
import { records } from '../table-schema.js';

const SHORTEST_NS = 4000;
const SAME = ['next_op', 'launch_api', 'nvtx_range'];

/** Whether patterns count the gap. @param {Record<string, Cell>} gap */
const isPatterned = (gap) => Number(gap.gap_end_ns) - Number(gap.gap_start_ns) >= SHORTEST_NS;

/** Rows of gpu_idle_gaps in which a thread did what a row of gap_activity says. @param {Model} model @param {Record<string, Cell>} of */
export function gapsOfThread(model, of) {
  const same = of.scope === 'gap' ? ['device_id', 'start_ns'] : ['device_id', 'cause', 'pid', 'tid', ...SAME];
  const gaps = records(model.table('gpu_idle_gaps')).map((gap) => ({ ...gap, start_ns: gap.gap_start_ns }));
  const isOne = (/** @type {Record<string, Cell>} */ gap) => same.every((column) => gap[column] === of[column]) && (of.scope === 'gap' || isPatterned(gap));
  return new Set(gaps.filter(isOne).map(({ row }) => row));
}

/** Rows of gpu_idle_gaps that a pattern of gaps counts, or a cause: gaps within active spans of which a part has it. @param {Model} model @param {Record<string, Cell>} of */
export function gapsOf(model, of) {
  const spans = records(model.table('active_spans')).filter(({ kind, device_id: gpu }) => kind === 'active' && gpu === of.device_id);
  const isPattern = 'next_op' in of;
  const has = (/** @type {Record<string, Cell>} */ gap) =>
    (gap.cause === of.cause || (!isPattern && `, ${gap.other_causes}`.includes(`, ${of.cause} `))) &&
    (!isPattern || (isPatterned(gap) && SAME.every((column) => gap[column] === of[column]))) &&
    spans.some((span) => Number(span.start_ns) <= Number(gap.gap_start_ns) && Number(gap.gap_end_ns) <= Number(span.end_ns));
  return new Set(records(model.table('gpu_idle_gaps')).filter((gap) => gap.device_id === of.device_id && has(gap)).map(({ row }) => row));
}
