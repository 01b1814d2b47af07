/** @import { App } from './app.js' */
/** @import { Cell, Table } from './types.js' */
import { h, name } from './dom.js';
import { duration, percent } from './format.js';
import { columnIndex } from './table-schema.js';

/**
 * One change of the simulated plan.
 * @typedef {object} Change
 * @property {string} title
 * @property {number} finding  its number, 0 for none
 * @property {number} before  ns
 * @property {number} after  ns, likely
 * @property {number} cautious
 * @property {number} favorable
 * @property {boolean} bound  it saves that at most
 */

const COLUMNS = ['title', 'finding', 'before_ms', 'after_ms', 'after_low_ms', 'after_high_ms', 'scope', 'note', 'rank', 'bound'];
const SCOPES = /** @type {Record<string, string>} */ ({ step: 'per step', unit: 'per repetition', window: 'of GPU window' });
const NS_PER_MS = 1e6;

/** The plan in its order, and what adds too little to be in it. @param {Table | null} table  what_if_plan @returns {{scope: string, changes: Change[], others: string[]} | null} */
export function readPlan(table) {
  const at = COLUMNS.map((column) => (table ? columnIndex(table, column) : -1));
  if (!table || at.includes(-1)) return null;
  const rows = table.rows.map((row) => at.map((index) => row[index])).sort((a, b) => Number(a[8]) - Number(b[8]));
  const isPlanned = (/** @type {Cell[]} */ row) => row.slice(2, 6).every((cell) => typeof cell === 'number');
  const changes = rows.filter(isPlanned).map((row) => {
    const [title, finding, ...times] = row;
    const [before, after, cautious, favorable] = times.slice(0, 4).map((ms) => Math.round(Number(ms) * NS_PER_MS));
    return { title: String(title), finding: Number(finding ?? 0), before, after, cautious, favorable, bound: row[9] != null };
  });
  if (changes.length === 0) return null;
  return { scope: String(rows[0][6]), changes, others: rows.filter((row) => !isPlanned(row)).map(([title]) => String(title)) };
}

/** @param {number} ns @param {number} whole @param {string} className */
function part(ns, whole, className) {
  const element = h('i', { class: className });
  element.style.width = `${(100 * ns) / whole}%`;
  return element;
}

/** The time now and after each fix, on one axis. @param {App} app @returns {HTMLElement | null} */
export function planBars(app) {
  const plan = readPlan(app.model.table('what_if_plan'));
  if (!plan) return null;
  const now = plan.changes[0].before;
  const last = plan.changes[plan.changes.length - 1];
  const row = (/** @type {Node} */ label, /** @type {Node[]} */ bar, /** @type {string} */ value, /** @type {string} */ title) =>
    h('div', { class: 'plan-row', title }, h('span', { class: 'plan-label' }, label), h('span', { class: 'plan-bar', 'aria-hidden': 'true' }, bar), h('span', { class: 'num' }, value));
  return h(
    'section',
    { class: 'plan', 'aria-label': 'Plan' },
    h('h2', {}, `Simulated fixes: ${duration(now)} → ${duration(last.after)} ${SCOPES[plan.scope] ?? ''}`),
    row(h('span', {}, 'Now'), [part(now, now, 'plan-time')], duration(now), 'As recorded'),
    plan.changes.map(({ title, finding, after, before, cautious, favorable }, index) =>
      row(
        finding > 0
          ? h('button', { type: 'button', class: 'link', onclick: () => showFinding(finding) }, `${index === 0 ? '' : 'then '}`, name(title))
          : name(title),
        [part(favorable, now, 'plan-time'), part(Math.max(0, cautious - favorable), now, 'plan-bounds'), part(Math.max(0, before - cautious), now, 'plan-saved')],
        `${duration(after)}  −${percent(now - after, now)}${plan.changes.slice(0, index + 1).some(({ bound }) => bound) ? ' at most' : ''}`,
        `${duration(favorable)} to ${duration(cautious)}; before it ${duration(before)}`,
      ),
    ),
    h(
      'p',
      { class: 'muted' },
      'Pale: between a favorable and a cautious outcome. ',
      plan.others.length > 0 ? `Less than 1 % more: ${plan.others.join(', ')}. ` : null,
      h('button', { type: 'button', class: 'link', onclick: () => app.showTable('what_if_plan') }, 'table'),
    ),
  );
}

/** What decided when the GPUs were done. @param {App} app @returns {HTMLElement | null} */
export function criticalPath(app) {
  const table = app.model.table('critical_path_summary');
  const [scope, summary, wall] = ['scope', 'summary', 'wall_ns'].map((column) => (table ? columnIndex(table, column) : -1));
  const row = scope < 0 || summary < 0 ? undefined : table?.rows.find((cells) => cells[scope] === 'window' && cells[summary] != null);
  if (!row) return null;
  return h('p', { class: 'critical-path' }, `Critical path of the window (${duration(Number(row[wall]))}): `, name(String(row[summary])), ' ', h('button', { type: 'button', class: 'link', onclick: () => app.showTable('critical_path_causes') }, 'table'));
}

/** @param {number} number */
function showFinding(number) {
  const element = document.getElementById(`finding-${number}`);
  element?.scrollIntoView({ block: 'start' });
  /** @type {HTMLElement | null | undefined} */ (element?.querySelector('.fold'))?.focus({ preventScroll: true });
}

/** A finding's saving beside the largest one; solid what is saved at least. @param {Element} element @param {{saving_ns?: number | null, saving_low_ns?: number | null}} finding @param {number} largest */
export function addSavingBar(element, { saving_ns: saving, saving_low_ns: low }, largest) {
  if (!saving || largest <= 0) return;
  const least = Math.min(low ?? saving, saving);
  element.querySelector('header')?.append(
    h('span', { class: 'saving-bar', 'aria-hidden': 'true', title: low ? `${duration(least)} to ${duration(saving)}` : duration(saving) }, part(least, largest, 'saving-least'), part(saving - least, largest, 'saving-most')),
  );
}

/** @type {Record<string, string>} */
const STATES = {
  ok: 'Simulated',
  within_error: 'Simulated, within its error',
  bound_only: 'Simulated, a bound',
};

/**
 * What simulating the finding's change saves: solid at least, then likely, pale at most; of one step, repetition or window.
 * @param {Element} element @param {import('./types.js').Simulated | null | undefined} simulated
 */
export function addSimulation(element, simulated) {
  if (!simulated || simulated.now_ns <= 0) return;
  const { scope, state, now_ns: now, saving_low_ns: low, saving_ns: likely, saving_high_ns: high } = simulated;
  const [least, middle, most] = [low, likely, high].map((ns) => Math.max(0, Math.min(now, ns)));
  element.querySelector('header')?.append(
    h(
      'p',
      { class: 'simulated' },
      h(
        'span',
        { class: 'plan-bar', 'aria-hidden': 'true' },
        part(least, now, 'simulated-least'),
        part(Math.max(0, middle - least), now, 'simulated-likely'),
        part(Math.max(0, most - middle), now, 'simulated-most'),
      ),
      h('span', {}, `${STATES[state] ?? 'Simulated'}: −${duration(likely)} of ${duration(now)} ${SCOPES[scope] ?? ''}, between ${duration(low)} and ${duration(high)}`),
    ),
  );
}
