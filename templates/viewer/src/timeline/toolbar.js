/** @import { TimelineView } from './view.js' */
/** @import { TimeMode } from '../types.js' */
import { CAUSE_COLORS, CAUSE_LABELS, causeColor, causeName, EventColors, categoryColor } from '../colors.js';
import { h, name } from '../dom.js';
import { counted, shortened } from '../format.js';
import { groupByName } from '../highlights.js';
import { oneStop } from '../one-stop.js';
import { BLOCKING } from '../search.js';
import { columnIndex } from '../table-schema.js';
import { saveImage, saveSvg } from './export-image.js';
import { FilterBar } from './filter-bar.js';
import { showColors } from './legend-panel.js';
import { callClass } from './stats.js';
import { choose } from './navigate.js';

const SEARCH_DELAY_MS = 120;
const NAMES_MAX = 6;
const NAME_CHARACTERS = 26;

/** Search, colours, time mode and zoom buttons above the timeline. */
export class Toolbar {
  /** @param {TimelineView} view */
  constructor(view) {
    this.view = view;
    /** @type {boolean | null} */
    this.anyBlocks = null;
    let timer = 0;
    const apply = () => {
      clearTimeout(timer);
      view.setSearch(this.search.value, this.pattern.checked, this.only.checked);
    };
    this.search = h('input', {
      type: 'search',
      id: 'timeline-search',
      placeholder: 'Search  ( / )',
      title: 'Names, categories and libraries; or category:gemm, library:cublas, name:aten, path:forward/attention',
      'aria-label': 'Search names, categories and libraries',
      autocomplete: 'off',
      spellcheck: 'false',
      oninput: () => {
        clearTimeout(timer);
        timer = window.setTimeout(apply, SEARCH_DELAY_MS);
      },
      onkeydown: (/** @type {KeyboardEvent} */ event) => {
        if (event.key === 'Enter') {
          apply();
          view.step('match', event.shiftKey ? -1 : 1);
        } else if (event.key === 'Escape') {
          this.search.value = '';
          this.only.checked = false;
          apply();
          view.canvas.focus();
        }
      },
    });
    this.pattern = h('input', { type: 'checkbox', onchange: apply });
    this.only = h('input', { type: 'checkbox', onchange: apply });
    this.color = h(
      'select',
      { 'aria-label': 'Color by', onchange: () => this.setColors(this.color.value) },
      h('option', { value: 'category' }, 'Color: category'),
      h('option', { value: 'name' }, 'Color: name'),
    );
    const hasWall = view.model.clock.utcEpoch !== null;
    this.time = h(
      'select',
      { 'aria-label': 'Time shown as', onchange: () => this.setTime(this.time.value) },
      h('option', { value: 'relative' }, 'Time: relative'),
      h('option', { value: 'absolute' }, 'Time: session'),
      h(
        'option',
        { value: 'wall', disabled: !hasWall, title: hasWall ? null : 'The trace does not record its wall-clock time' },
        'Time: wall clock (UTC)',
      ),
    );
    this.selecting = h(
      'button',
      {
        type: 'button',
        'aria-pressed': 'false',
        title: 'Drag to select a time range (or hold Shift)',
        onclick: () => {
          view.selecting = !view.selecting;
          this.selecting.setAttribute('aria-pressed', String(view.selecting));
          view.canvas.classList.toggle('selecting', view.selecting);
        },
      },
      'Select range',
    );
    /** @param {string} label @param {string} title @param {() => void} action */
    const button = (label, title, action) =>
      h('button', { type: 'button', title, 'aria-label': title, onclick: action }, label);
    this.legend = h('div', { class: 'legend', role: 'group', 'aria-label': 'Legend: highlight a category' });
    this.filters = new FilterBar(view);
    this.status = this.filters.status;
    this.element = h(
      'div',
      { class: 'toolbar', role: 'toolbar', 'aria-label': 'Timeline' },
      h(
        'div',
        { class: 'group search' },
        this.search,
        h('label', { class: 'check', title: 'Regular expression' }, this.pattern, h('span', { class: 'mono' }, '.*')),
        h('label', { class: 'check', title: 'Hide everything that does not match' }, this.only, 'only'),
        button('‹', 'Previous match', () => view.step('match', -1)),
        button('›', 'Next match', () => view.step('match', 1)),
      ),
      h(
        'div',
        { class: 'group' },
        button('−', 'Zoom out', () => view.zoom(1 / 0.6)),
        button('+', 'Zoom in', () => view.zoom(0.6)),
        button('Fit', 'Show the whole trace', () => view.fit()),
        this.selecting,
        button('Marks', 'Marks and their notes (B adds one)', () => view.annotations.showMarks()),
        button('PNG', 'Save a picture of what the timeline shows', () => saveImage(view)),
        button('SVG', 'Save what the timeline shows as a drawing', () => saveSvg(view)),
      ),
      h('div', { class: 'group' }, this.filters.input, this.color, this.time),
      this.legend,
    );
    this.syncStops = oneStop(this.element);
  }

  /** @param {string} mode */
  setColors(mode) {
    const { view } = this;
    view.colors = new EventColors(view.model, mode === 'name' ? 'name' : 'category');
    view.app.state.set({ c: mode });
    this.showLegend();
    view.draw();
  }

  /** @param {string} mode */
  setTime(mode) {
    const { view } = this;
    view.model.clock.mode = /** @type {TimeMode} */ (mode);
    view.app.state.set({ tm: mode });
    view.panel.refresh();
    view.draw();
  }

  /** Whether any call blocks the host. */
  get blocks() {
    const { model } = this.view;
    this.anyBlocks ??= model.lanes.some((lane) => {
      if (lane.kind !== 'api') return false;
      for (let i = lane.first; i < lane.first + lane.count; i++) if (callClass(model.events.aux[i]) === 1) return true;
      return false;
    });
    return this.anyBlocks;
  }

  showLegend() {
    const { model, colors } = this.view;
    const { chosen } = this.view.search;
    /** @param {string} color @param {string} label */
    const item = (color, label) => {
      const swatch = h('i', { class: 'swatch' });
      swatch.style.background = color;
      return h(
        'button',
        {
          type: 'button',
          class: 'quiet',
          'aria-pressed': String(chosen.includes(label)),
          title: `Highlight ${label}; again: all`,
          onclick: () => choose(this.view, label),
        },
        swatch,
        label,
      );
    };
    const used = new Set();
    model.nameCount.forEach((count, id) => {
      const category = count > 0 ? model.category(id) : null;
      if (category) used.add(category);
    });
    this.legend.replaceChildren(
      ...(colors.mode === 'category'
        ? model.timeline.categories
            .filter((category) => used.has(category))
            .map((category) => item(categoryColor(category), category))
        : this.topNames().map((id) => this.nameItem(colors.gpu[id], id))),
      ...(this.blocks ? [item(colors.api[1], BLOCKING)] : []),
      ...this.causes(),
      h('button', { type: 'button', class: 'quiet', title: 'What each color of the tracks means', onclick: () => showColors(this.view) }, 'all colors …'),
    );
    this.syncStops();
  }

  /** Kernels with most time, which the legend of names lists. */
  topNames() {
    const { model } = this.view;
    const table = model.table('kernels');
    const [text, time, device] = ['kernel_name', 'total_time_ms', 'device_id'].map((column) => (table ? columnIndex(table, column) : -1));
    if (!table || text < 0 || time < 0) return [];
    return groupByName(table, text, time, device)
      .slice(0, NAMES_MAX)
      .flatMap(({ row }) => model.nameIndex.get(String(row[text])) ?? []);
  }

  /** @param {string} color @param {number} id */
  nameItem(color, id) {
    const { model } = this.view;
    const swatch = h('i', { class: 'swatch' });
    swatch.style.background = color;
    return h(
      'button',
      { type: 'button', class: 'quiet', title: `Highlight ${model.names[id]}`, onclick: () => this.view.setSearchText(model.names[id]) },
      swatch,
      name(shortened(model.shortNames[id] || model.names[id], NAME_CHARACTERS)),
    );
  }

  /** Causes of idle gaps, with their colours. */
  causes() {
    const causes = new Set(this.view.layout.tracks.flatMap((track) => track.gaps?.cause ?? []));
    if (causes.size === 0) return [];
    const known = [...new Set([...Object.keys(CAUSE_COLORS), ...causes])].filter((cause) => causes.has(cause));
    return [
      h('span', { class: 'muted legend-title' }, 'Idle gaps:'),
      ...known.map((cause) => {
        const swatch = h('i', { class: 'swatch gap' });
        swatch.style.background = causeColor(cause);
        return h('span', { title: CAUSE_LABELS[cause] }, swatch, causeName(cause));
      }),
    ];
  }

  showSearch() {
    const { search } = this.view;
    this.status.classList.toggle('bad', search.error !== null);
    this.status.textContent =
      search.error !== null
        ? 'invalid expression'
        : search.names === null
          ? ''
          : search.distinct === 0
            ? search.events ? counted(search.events, 'gap') : 'no match'
            : `${search.events === null ? '' : `${counted(search.events, 'event')}, `}${counted(search.distinct, 'name')}`;
    this.status.title = search.error ?? '';
    this.showLegend();
    this.showTracks();
  }

  /** What is filtered, and the way back. */
  showTracks() {
    this.filters.show();
  }

  restore() {
    const { values } = this.view.app.state;
    this.search.value = values.q;
    this.pattern.checked = values.qx === '1';
    this.only.checked = values.qo === '1';
    this.color.value = values.c === 'name' ? 'name' : 'category';
    const mode =
      values.tm === 'absolute' || (values.tm === 'wall' && this.view.model.clock.utcEpoch !== null) ? values.tm : 'relative';
    this.time.value = mode;
    this.view.model.clock.mode = /** @type {TimeMode} */ (mode);
    this.showLegend();
    this.showSearch();
  }
}
