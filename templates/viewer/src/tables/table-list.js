/** @import { TablesView } from './view.js' */
import { h } from '../dom.js';
import { integer } from '../format.js';
import { rowCount } from '../table-schema.js';
import { SCHEMA } from './schema-table.js';

/**
 * The tables to choose from: those with rows, what matters first, then the others, folded; for narrow screens as one field.
 * @param {TablesView} view
 */
export function tableList(view) {
  const { tables } = view.app.report;
  const button = (/** @type {string} */ key) =>
    h(
      'button',
      { type: 'button', 'data-table': key, onclick: () => view.open(key) },
      h('span', {}, tables[key].title),
      h('span', { class: 'count' }, integer(rowCount(tables[key]))),
    );
  const option = (/** @type {string} */ key) => h('option', { value: key }, tables[key].title);
  const filled = view.names.filter((key) => rowCount(tables[key]) > 0);
  const empty = view.names.filter((key) => rowCount(tables[key]) === 0);
  const schema = 'What the tables hold';
  const rest = h('details', { class: 'empty-tables' }, h('summary', {}, `${integer(empty.length)} without rows`), empty.map(button));
  const list = h(
    'nav',
    { class: 'table-list', 'aria-label': 'Tables' },
    filled.map(button),
    empty.length > 0 ? rest : null,
    h('button', { type: 'button', 'data-table': SCHEMA, class: 'schema', onclick: () => view.open(SCHEMA) }, h('span', {}, schema)),
  );
  const picker = h(
    'select',
    { 'aria-label': 'Table', class: 'phone-only', onchange: () => view.open(picker.value) },
    filled.map(option),
    empty.length > 0 ? h('optgroup', { label: 'Without rows' }, empty.map(option)) : null,
    h('option', { value: SCHEMA }, schema),
  );
  /** @param {string} current */
  const show = (current) => {
    picker.value = current;
    if (empty.includes(current)) rest.open = true;
    for (const one of list.querySelectorAll('button')) {
      if (one.dataset.table === current) one.setAttribute('aria-current', 'true');
      else one.removeAttribute('aria-current');
    }
  };
  return { list, picker, show };
}
