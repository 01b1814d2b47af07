/** @import { TablesView } from './view.js' */
import { h } from '../dom.js';
import { download, fileName } from '../download.js';
import { toCsv } from './filter.js';

/** Saves the rows shown, all columns. @param {TablesView} view */
export function saveButton(view) {
  const save = () => {
    const table = view.table();
    if (!table) return;
    const name = fileName(view.app.report.trace.file, view.current, 'csv');
    download(name, new Blob([toCsv(table, view.rows)], { type: 'text/csv' }));
  };
  return h('button', { type: 'button', title: 'Save the rows shown as a CSV file, all columns', onclick: save }, 'Save CSV');
}
