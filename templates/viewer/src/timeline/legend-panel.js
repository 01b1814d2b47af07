/** @import { TimelineView } from './view.js' */
/** @import { Track } from './layout.js' */
/** @import { Child } from '../dom.js' */
import { API_COLORS, CAUSE_LABELS, categoryColor, causeColor, causeName, nameColor, rangeColor, UTILIZATION_PARTS } from '../colors.js';
import { h, name } from '../dom.js';
import { HOST_ROWS } from '../host-rows.js';

/** @typedef {{color: string, label: string, pale?: boolean, more?: string}} Entry */

/** @param {string} title @param {Entry[]} entries @returns {Child[]} */
function section(title, entries) {
  if (entries.length === 0) return [];
  const item = (/** @type {Entry} */ { color, label, pale, more }) => {
    const swatch = h('i', { class: pale ? 'swatch pale' : 'swatch' });
    swatch.style.background = color;
    return h('li', {}, swatch, h('span', {}, name(label), more ? h('span', { class: 'muted' }, ` ${more}`) : null));
  };
  return [h('h3', {}, title), h('ul', { class: 'colors' }, entries.map(item))];
}

/** @param {TimelineView} view @returns {Entry[]} */
function kernels(view) {
  const { model, colors } = view;
  if (colors.mode === 'name') return view.toolbar.topNames().map((id) => ({ color: colors.gpu[id], label: model.shortNames[id] || model.names[id] }));
  const used = new Set(model.names.flatMap((_, id) => (model.nameCount[id] > 0 ? (model.category(id) ?? []) : [])));
  return model.timeline.categories.filter((category) => used.has(category)).map((category) => ({ color: categoryColor(category), label: category }));
}

/** What each color of the tracks means, of this trace's tracks alone. @param {TimelineView} view */
export function showColors(view) {
  const { layout, model, colors } = view;
  view.panel.refresh = () => showColors(view);
  const some = (/** @type {(track: Track) => unknown} */ test) => layout.tracks.some(test);
  const kinds = new Set(model.lanes.map(({ kind }) => kind));
  const causes = new Set(layout.tracks.flatMap(({ gaps }) => gaps?.cause ?? []));
  const spans = (/** @type {string} */ table) => some((track) => track.spans?.table === table);
  const byName = colors.mode === 'name' ? 'each name has its own' : 'each name has its own shade';
  const range = (colors.mode === 'name' ? nameColor : rangeColor)('NVTX');
  view.panel.show('Colors', [
    ...section(colors.mode === 'name' ? 'Kernels with most time' : 'Kernels and copies', kernels(view)),
    ...section('Utilization', some((track) => track.utilization) ? UTILIZATION_PARTS.map(({ label, variable }) => ({ color: `var(${variable})`, label })) : []),
    ...section('Idle gaps', [...causes].map((cause) => ({ color: causeColor(cause), label: causeName(cause), more: CAUSE_LABELS[cause] }))),
    ...section('Activity', spans('active_spans') ? [{ color: 'var(--accent)', label: 'the GPU works' }, { color: 'var(--muted)', label: 'setup and pauses', pale: true }] : []),
    ...section('Steps', spans('steps') ? [{ color: 'var(--accent)', label: 'steady' }, { color: 'var(--high)', label: 'outlier' }, { color: 'var(--muted)', label: 'warm-up, cut off', pale: true }] : []),
    ...section('Collectives', spans('comm_instances') ? [{ color: 'var(--comm)', label: 'waits for the last GPU', pale: true }, { color: 'var(--comm)', label: 'transfers' }, { color: 'var(--muted)', label: 'not known', pale: true }] : []),
    ...section('CUDA calls', kinds.has('api') ? [{ color: API_COLORS.plain, label: 'returns at once' }, { color: API_COLORS.blocking, label: 'blocks the host' }, { color: API_COLORS.ordering, label: 'orders or polls' }] : []),
    ...section('NVTX ranges', kinds.has('nvtx') || kinds.has('nvtx_async') ? [{ color: range, label: byName }] : []),
    ...section(
      'Threads beside CUDA',
      colors.mode === 'name' ? [] : Object.entries(HOST_ROWS).flatMap(([kind, { label, color }]) => (color && kinds.has(/** @type {import('../types.js').LaneKind} */ (kind)) ? [{ color, label }] : [])),
    ),
    ...section('Samples', kinds.has('sample') ? [{ color: nameColor('function'), label: 'each function has its own' }] : []),
  ]);
}
