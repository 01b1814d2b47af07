/** @import { Model } from '../model.js' */
/** @import { Cell, Table } from '../types.js' */
import { placeColumns } from '../table-schema.js';
import { directiveWaitsOf, graphLaunchesOf, instantiationsOf, messagesOf, roundsOf, waitsOf } from './calls.js';
import { transfersOf } from './copies.js';
import { gapsOf, gapsOfThread } from './gaps.js';
import { accessesOf, hostFunctionsOf, samplesOf } from './host.js';
import { allKernels, communicationOf, kernelsOf, kernelsOfPartition, kernelsOfSize, kernelsOfStep, shapeOf, triedKernels } from './kernels.js';
import { ofLoss } from './losses.js';
import { sequenceOf } from './sequences.js';

/** The cells of a row by column name. @param {Table} table @param {number} row @returns {Record<string, Cell>} */
function recordOf(table, row) {
  return Object.fromEntries(table.columns.map(({ name }, column) => [name, table.rows[row][column]]));
}

/** Events of a name: of kernels on the row's GPU, of its shape where it has one; of a process's calls those. @param {Model} model @param {Table} table @param {number} row */
function ofName(model, table, row) {
  const [cells, values] = [table.rows[row], recordOf(table, row)];
  const own = placeColumns(table).name;
  const kernel = table.columns.findIndex(({ role }) => role === 'kernel_name');
  // "AllReduce" may be the name of a range, too: its kernel tells which events are meant.
  const columns = (table.columns[own]?.role === 'name' ? [kernel, own] : [own, kernel]).filter((column) => column >= 0);
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

/** Finders of what a row counts, of tables that do not name their events. @type {Record<string, (model: Model, of: Record<string, Cell>, part: string) => ((event: number) => boolean) | null>} */
const FINDERS = {
  losses: ofLoss,
  comm_ranks: communicationOf,
  launch_waits: waitsOf,
  call_rounds: roundsOf,
  memory_transfers: transfersOf,
  copy_rates: transfersOf,
  gpu_active: kernelsOf,
  autotuning: triedKernels,
  mpi_sizes: messagesOf,
  directive_waits: directiveWaitsOf,
  graphs: graphLaunchesOf,
  graph_calls: instantiationsOf,
  graph_savings: sequenceOf,
  host_functions: hostFunctionsOf,
  file_access: accessesOf,
  cpu_threads: samplesOf,
  steps: kernelsOfStep,
  comm_sizes: kernelsOfSize,
  sm_partitions: kernelsOfPartition,
  mpi_processes: messagesOf,
  run_info: allKernels,
};

/** Evidence that counts a part of what its row does: the table, its words, and how a search calls the part. @type {[string, RegExp, string][]} */
const PARTS = [
  ['losses', /copies (of [\d,]+ bytes) each/u, '$1'],
  ['losses', /times out and back/u, 'to the host'],
  ['copy_rates', /of 1 MiB or more/u, 'large'],
  ['copy_rates', /longer than later ones/u, 'first'],
  ['file_access', /opens of/u, 'open'],
  ['directive_waits', /at the end of OpenACC/u, 'all'],
  ['steps', /([^;:]+): [\d,]+ kernels instead of/u, '$1'],
  ['mpi_processes', /sends or receives/u, 'point to point'],
  ['gpu_active', /small kernels/u, 'small collectives'],
  ['gpu_active', /cop(?:y|ies) used for the first time/u, 'first copies'],
  ['gpu_active', /in partial last waves/u, 'in partial waves'],
  ['gpu_active', /with local memory/u, 'with local memory'],
  ['gpu_active', /[\d,]+ (kernels in) [\d,]+ calls? of (.+?)(?=,| that |$)/u, '$1 $2'],
  ['gpu_active', /in [\d,]+ calls? of (.+?)(?=,| that |$)/u, 'ranges $1'],
];

/** The search for what evidence counts. @param {string} table @param {number} row @param {string} text */
export function countedSearch(table, row, text) {
  const [, words, part] = PARTS.find(([of, pattern]) => of === table && pattern.test(text)) ?? [];
  const found = words ? (words.exec(text) ?? [''])[0].replace(words, part ?? '') : '';
  return `counted:${table} ${row}${found && ` ${found}`}`;
}

/**
 * The events, or idle gaps, that a row of a table counts: "losses 9"; or a part of them: "losses 9 of 1,024 bytes".
 * @param {Model} model @param {string} text
 * @returns {{test: (event: number) => boolean, gaps: Set<number> | null} | null}  gaps: rows of gpu_idle_gaps; null: of another table
 */
export function countedOf(model, text) {
  const [, name, row, part = ''] = /^(\w+)\s+(\d+)(?:\s+(.+))?$/u.exec(text.trim()) ?? [];
  const table = model.table(name ?? '');
  if (!table?.rows[Number(row)]) return null;
  const cells = recordOf(table, Number(row));
  if (name === 'idle_patterns' || name === 'idle_causes') return { test: () => false, gaps: gapsOf(model, cells) };
  if (name === 'gap_activity') return { test: () => false, gaps: gapsOfThread(model, cells) };
  const test = Object.hasOwn(FINDERS, name) ? FINDERS[name](model, cells, part) : ofName(model, table, Number(row));
  return test && { test, gaps: null };
}
