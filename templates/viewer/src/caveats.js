/** @import { Report } from './types.js' */
import { h, name } from './dom.js';
import { counted, integer } from './format.js';

const ABSENT = 'missing-table';
const FEW = 2;

/** @typedef {Report['caveats'][number]} Caveat */

/** Texts, each once; those on dropped rows name the tables of the export. @param {Caveat[]} caveats @returns {{severity: string, text: string}[]} */
export function caveatLines(caveats) {
  /** @type {Map<string, {severity: string, tables: Set<string>}>} */
  const lines = new Map();
  for (const { id, text = id, severity, source_table: table } of caveats) {
    const line = lines.get(text) ?? { severity, tables: new Set() };
    lines.set(text, line);
    if (table && id.startsWith('rows-')) line.tables.add(table);
  }
  return [...lines].map(([text, { severity, tables }]) => ({ severity, text: tables.size > 0 ? `${text}, in ${[...tables].join(', ')}` : text }));
}

/** @param {Caveat[]} caveats */
const list = (caveats) => h('ul', { class: 'caveats' }, caveatLines(caveats).map(({ severity, text }) => h('li', { class: `caveat-${severity}` }, name(text))));

/** What to keep in mind; tables that the export lacks take one line. @param {Report} report @param {number} events */
export function caveatsSection(report, events) {
  const { trace, generator, caveats } = report;
  const facts = [
    `nsys ${trace.product_version ?? 'unknown'}`,
    `schema ${trace.schema_version ?? 'unknown'}`,
    `${integer(events)} events in the timeline`,
    `${generator.name} ${generator.version}`,
  ];
  const absent = caveats.filter(({ id }) => id === ABSENT);
  const shown = absent.length > FEW ? caveats.filter(({ id }) => id !== ABSENT) : caveats;
  const folded = absent.length > FEW ? absent : [];
  return [
    caveats.length === 0
      ? null
      : h(
          'section',
          { 'aria-label': 'Caveats' },
          h('h2', {}, 'Caveats'),
          shown.length > 0 ? list(shown) : null,
          folded.length > 0
            ? h(
                'details',
                { class: 'absent' },
                h('summary', {}, `${counted(folded.length, 'kind')} of data are not in this capture`),
                list(folded),
              )
            : null,
        ),
    h('p', { class: 'muted facts' }, facts.join(' · ')),
  ];
}
