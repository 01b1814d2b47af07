/** @import { App } from './app.js' */
/** @import { Cell, Table } from './types.js' */
import { categoryColor, nameColor } from './colors.js';
import { h, name } from './dom.js';
import { duration, integer, percent } from './format.js';
import { columnIndex, rowCount } from './table-schema.js';

const ROWS = 8;
const NS_PER_MS = 1e6;

/**
 * A short ranking taken from a table: which column names the row, which one ranks it.
 * @typedef {{table: string, title: string, label: string, value: string, of: (app: App) => number | null}} Ranking
 */

/** @type {Ranking[]} */
const RANKINGS = [
  {
    table: 'kernels',
    title: 'Top kernels by total GPU time (all GPUs)',
    label: 'kernel_name',
    value: 'total_time_ms',
    of: kernelTime,
  },
  {
    table: 'nvtx_ranges',
    title: 'NVTX ranges by GPU time',
    label: 'range_name',
    value: 'attributed_gpu_time_ms',
    of: gpuTime,
  },
  {
    table: 'nvtx_ranges',
    title: 'NVTX ranges by wall time (all threads)',
    label: 'range_name',
    value: 'total_time_ms',
    of: () => null,
  },
];

/** Summed durations of all kernels, ms. @param {App} app */
function kernelTime(app) {
  const table = app.model.table('launch_rates');
  const [scope, time] = ['scope', 'kernel_time_ms'].map((column) => (table ? columnIndex(table, column) : -1));
  const all = table?.rows.find((row) => row[scope] === 'all');
  return all ? Number(all[time]) : null;
}

/** Summed durations of all work on GPUs, ms: of kernels, copies, sets and graphs traced as a whole. @param {App} app */
export function gpuTime(app) {
  const copies = columnSum(app.model.table('memory_transfers'), 'total_time_ms');
  const graphs = columnSum(app.model.table('gpu_utilization'), 'graph_envelope_ns') / NS_PER_MS;
  return (kernelTime(app) ?? 0) + copies + graphs;
}

/** @param {Table | null} table @param {string} name */
function columnSum(table, name) {
  const column = table ? columnIndex(table, name) : -1;
  return table && column >= 0 ? table.rows.reduce((sum, row) => sum + Number(row[column]), 0) : 0;
}

/**
 * Rows of one name on several GPUs as one, the largest first.
 * @param {Table} table @param {number} text @param {number} amount @param {number} device  columns; device -1: none
 * @returns {{row: Cell[], index: number, total: number, gpus: Set<Cell>}[]}  row: the largest of them
 */
export function groupByName(table, text, amount, device) {
  /** @type {Map<string, {row: Cell[], index: number, total: number, gpus: Set<Cell>}>} */
  const groups = new Map();
  table.rows.forEach((row, index) => {
    const value = Number(row[amount]);
    if (!(value > 0)) return;
    const key = String(row[text]);
    const group = groups.get(key);
    if (!group) groups.set(key, { row, index, total: value, gpus: new Set(device >= 0 ? [row[device]] : []) });
    else {
      if (value > Number(group.row[amount])) Object.assign(group, { row, index });
      group.total += value;
      if (device >= 0) group.gpus.add(row[device]);
    }
  });
  return [...groups.values()].sort((a, b) => b.total - a.total || a.index - b.index);
}

/** What ranks first of kernels, and of ranges: without GPU time by wall time. @param {Pick<App['model'], 'table'>} model */
export function rankingsOf(model) {
  const [kernels, ranges, walls] = RANKINGS.map((ranking) => {
    const table = model.table(ranking.table);
    const columns = table ? [ranking.label, ranking.value, 'device_id', 'category'].map((column) => columnIndex(table, column)) : [-1, -1];
    const rows = table && columns[0] >= 0 && columns[1] >= 0 ? groupByName(table, columns[0], columns[1], columns[2]).slice(0, ROWS) : [];
    return { ranking, table, columns, rows };
  });
  return [kernels, ranges.rows.length > 0 ? ranges : walls].flatMap(({ table, rows, ...rest }) => (table && rows.length > 0 ? [{ ...rest, table, rows }] : []));
}

/** @param {App} app @param {ReturnType<typeof rankingsOf>[number]} found */
function rankingCard(app, { ranking: { table: key, title, of }, table, columns: [text, , device, category], rows }) {
  const largest = rows[0].total;
  const whole = of(app) ?? 0;
  return h(
    'article',
    { class: 'ranking' },
    h(
      'header',
      {},
      h('h3', {}, table.row_count ? `${title}, among the first ${integer(table.rows.length)}` : title),
      h('button', { type: 'button', class: 'link small', onclick: () => app.showTable(key) }, `all ${integer(rowCount(table))}`),
    ),
    h(
      'ol',
      {},
      rows.map(({ row, index, total, gpus }) => {
        const full = String(row[text]);
        const nameId = app.model.nameIndex.get(full);
        const shown = nameId === undefined ? full : app.model.shortNames[nameId] || full;
        const bar = h('span', { class: 'ranking-bar', 'aria-hidden': 'true' });
        bar.style.width = `${(100 * total) / largest}%`;
        bar.style.background = category >= 0 ? categoryColor(String(row[category])) : nameColor(full);
        return h(
          'li',
          {},
          h(
            'button',
            {
              type: 'button',
              class: 'link',
              title: `${full}\nShow in the timeline`,
              onclick: () => {
                const evidence = {
                  text: full,
                  table: key,
                  row: index,
                  name: full,
                  device_id: device >= 0 ? Number(row[device]) : null,
                };
                if (!app.showEvidence(evidence)) app.showTable(key, index);
              },
            },
            name(shown),
          ),
          h('span', { class: 'muted' }, gpus.size > 1 ? `${gpus.size} GPUs` : device >= 0 ? `GPU ${row[device]}` : ''),
          h('span', { class: 'num' }, duration(total * 1e6)),
          h('span', { class: 'num muted', title: 'Share of the time of all kernels' }, whole > 0 ? percent(total, whole) : ''),
          h('span', { class: 'ranking-track' }, bar),
        );
      }),
    ),
  );
}

/** @param {App} app */
export function highlights(app) {
  return rankingsOf(app.model).map((ranking) => rankingCard(app, ranking));
}
