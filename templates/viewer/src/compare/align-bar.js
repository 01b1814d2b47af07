/** @import { PairView } from './pair-view.js' */
/** @import { Place } from './align.js' */
import { h, replace } from '../dom.js';
import { commonRanges, rangePlaces, stepPlaces, typicalPlace, windowPlace } from './align.js';

const MODES = /** @type {const} */ ({ typical: 'the typical step', window: 'the beginning of GPU work', step: 'a step', range: 'a range' });

/** Controls that choose where the two time axes meet. The choice stands in the link as `mode~base~new~range`. */
export class AlignBar {
  /** @param {PairView} pair */
  constructor(pair) {
    this.pair = pair;
    const [base, fresh] = pair.sides;
    this.steps = [stepPlaces(base.data, base.model), stepPlaces(fresh.data, fresh.model)];
    this.ranges = commonRanges(base.model, fresh.model);
    const modes = Object.entries(MODES).filter(([mode]) => (mode !== 'step' || this.steps.every((list) => list.length > 0)) && (mode !== 'range' || this.ranges.length > 0) && (mode !== 'typical' || [base, fresh].every(({ data }) => (data.anchor?.step ?? -1) >= 0)));
    const change = () => this.apply(true);
    this.mode = h('select', { 'aria-label': 'Align at', onchange: change }, modes.map(([value, label]) => h('option', { value }, `Align at ${label}`)));
    this.range = h('select', { 'aria-label': 'Range', class: 'pair-range', onchange: change }, this.ranges.map((text) => h('option', { value: text }, text)));
    this.which = [base, fresh].map((_, index) => h('select', { 'aria-label': index === 0 ? 'Of the base' : 'Of the new side', onchange: () => this.apply(false) }));
    this.chosen = h('span', { class: 'group' }, h('span', { class: 'muted' }, 'base'), this.which[0], h('span', { class: 'muted' }, 'new'), this.which[1]);
    this.element = h('div', { class: 'group' }, this.mode, this.range, this.chosen);
    this.lists = [/** @type {Place[]} */ ([]), /** @type {Place[]} */ ([])];
  }

  /** The places each side offers in the mode chosen. */
  places() {
    const [base, fresh] = this.pair.sides;
    switch (this.mode.value) {
      case 'step':
        return this.steps;
      case 'range':
        return [base, fresh].map(({ model }) => rangePlaces(model, this.range.value));
      case 'typical':
        return [base, fresh].map(({ data, model }) => [typicalPlace(data, model)]);
      default:
        return [base, fresh].map(({ model }) => [windowPlace(model)]);
    }
  }

  /** @param {boolean} anew  the mode changed: begin with the first place of each side */
  apply(anew) {
    if (anew) {
      this.lists = this.places();
      this.which.forEach((select, index) => replace(select, ...this.lists[index].map((place, at) => h('option', { value: at }, place.label))));
      this.suggest();
    }
    const chosen = this.mode.value === 'step' || this.mode.value === 'range';
    this.range.hidden = this.mode.value !== 'range';
    this.chosen.hidden = !chosen;
    const [base, fresh] = this.which.map((select, index) => this.lists[index][Number(select.value)] ?? this.lists[index][0]);
    if (!base || !fresh) return;
    const text = chosen ? [this.mode.value, this.which[0].value, this.which[1].value, this.mode.value === 'range' ? this.range.value : ''].join('~') : this.mode.value;
    const what = this.mode.value === 'step' ? 'step ' : this.mode.value === 'range' ? `${this.range.value} ` : '';
    this.pair.align(base, fresh, what, this.mode.selectedIndex === 0 ? '' : text);
  }

  /** Begins in the middle: of steps and instances the first ones are the least typical. */
  suggest() {
    this.which.forEach((select, index) => {
      select.value = String(this.mode.value === 'range' || this.mode.value === 'step' ? (this.lists[index].length - 1) >> 1 : 0);
    });
  }

  /** @param {string} text  of the link */
  restore(text) {
    const [mode, base, fresh, ...range] = text.split('~');
    if ([...this.mode.options].some((option) => option.value === mode)) this.mode.value = mode;
    else this.mode.selectedIndex = 0;
    if (this.ranges.includes(range.join('~'))) this.range.value = range.join('~');
    this.apply(true);
    [base, fresh].forEach((value, index) => {
      if (value !== undefined && this.lists[index][Number(value)]) this.which[index].value = value;
    });
    this.apply(false);
  }
}
