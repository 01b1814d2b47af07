/** @import { Report } from './types.js' */
import { h, name } from './dom.js';
import { counted, integer } from './format.js';

const ABSENT = 'missing-table';
const FEW = 2;

/** @param {Report['caveats'][number]} caveat */
function item(caveat) {
  return h('li', { class: `caveat-${caveat.severity}` }, name(caveat.text ?? caveat.id));
}

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
          shown.length > 0 ? h('ul', { class: 'caveats' }, shown.map(item)) : null,
          folded.length > 0
            ? h(
                'details',
                { class: 'absent' },
                h('summary', {}, `${counted(folded.length, 'kind')} of data are not in this capture`),
                h('ul', { class: 'caveats' }, folded.map(item)),
              )
            : null,
        ),
    h('p', { class: 'muted facts' }, facts.join(' · ')),
  ];
}
