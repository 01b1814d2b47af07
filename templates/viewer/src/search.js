/** @import { Model } from './model.js' */
import { countedOf } from './counted/counted.js';
import { librariesOf } from './libraries.js';
import { Paths } from './paths.js';

/**
 * @param {string} text @param {boolean} isPattern
 * @returns {{test: (candidate: string) => boolean} | {error: string} | null} null for an empty search
 */
export function compileSearch(text, isPattern) {
  if (text === '') return null;
  if (!isPattern) {
    const wanted = text.toLowerCase();
    return { test: (candidate) => candidate.toLowerCase().includes(wanted) };
  }
  try {
    const pattern = new RegExp(text, 'iu');
    return { test: (candidate) => pattern.test(candidate) };
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
}

const FIELDS = ['name', 'category', 'library', 'path', 'counted'];

/**
 * `path:forward/attention`: a field with its text. A path as findings write it, `forward > attention`, is one too.
 * @param {string} text @returns {{field: string, text: string}}  field: '' searches names, categories and libraries
 */
export function parseSearch(text) {
  if (/\S > \S/u.test(text) && !text.includes('<')) return { field: 'path', text: text.replace(/^path:/u, '').replace(/ > /gu, '/') };
  const [, field, rest] = /^(\w+):(?!:)\s*(.*)$/su.exec(text) ?? [];
  return FIELDS.includes(field) ? { field, text: rest } : { field: '', text };
}

/** What stands in the legend beside the categories. */
export const BLOCKING = 'blocking call';

/** The search of the timeline and the categories chosen in its legend: which events match, and how many they are. */
export class Search {
  /** @param {Model} model */
  constructor(model) {
    this.model = model;
    this.text = '';
    this.isPattern = false;
    this.only = false;
    /** @type {string[]}  chosen in the legend; none: all */
    this.chosen = [];
    this.generation = 0;
    /** @type {Uint8Array | null}  per name; null when nothing is searched or chosen */
    this.names = null;
    /** @type {Uint8Array | null}  per path */
    this.paths = null;
    /** @type {number | null}  null: not known exactly */
    this.events = 0;
    this.distinct = 0;
    /** @type {string | null} */
    this.error = null;
    /** @type {ReturnType<typeof countedOf> | null} */
    this.counted = null;
    /** @type {Paths | null} */
    this.pathsOf = null;
    /** @type {((event: number) => boolean)} */
    this.matches = () => false;
  }

  /** @param {string} text @param {boolean} isPattern @param {boolean} only @param {string[]} [chosen] */
  set(text, isPattern, only, chosen = this.chosen) {
    this.only = only;
    if (text === this.text && isPattern === this.isPattern && chosen.join() === this.chosen.join()) return;
    Object.assign(this, { text, isPattern, chosen, error: null, names: null, paths: null, counted: null, events: 0, distinct: 0 });
    this.generation++;
    const query = parseSearch(text);
    const compiled = compileSearch(query.text, isPattern);
    if (compiled && 'error' in compiled) {
      this.error = compiled.error;
      return;
    }
    if (!compiled && chosen.length === 0) return;
    this.counted = compiled && query.field === 'counted' ? countedOf(this.model, query.text) : null;
    if (compiled && query.field === 'path') this.searchPaths(query.text, isPattern ? compiled.test : null);
    this.searchNames(query.field, compiled?.test ?? null);
    this.count();
  }

  /** @param {string} text @param {((candidate: string) => boolean) | null} test */
  searchPaths(text, test) {
    this.pathsOf ??= new Paths(this.model);
    this.paths = test ? Uint8Array.from(this.pathsOf.texts, (path) => (test(path) ? 1 : 0)) : this.pathsOf.matching(text);
    this.paths[0] = 0;
  }

  /** @param {string} field @param {((candidate: string) => boolean) | null} test */
  searchNames(field, test) {
    const { model, chosen } = this;
    this.names = Uint8Array.from(model.names, (text, id) => {
      if (model.nameCount[id] === 0) return 0;
      const category = model.category(id);
      if (chosen.length > 0 && !(category !== null && chosen.includes(category)) && !chosen.includes(BLOCKING)) return 0;
      if (!test || field === 'path') return 1;
      if (field === 'counted') return this.counted && !this.counted.gaps ? 1 : 0;
      const named = (field === '' || field === 'name') && (test(text) || test(model.shortNames[id] ?? ''));
      const inCategory = (field === '' || field === 'category') && category !== null && test(category);
      return named || inCategory || ((field === '' || field === 'library') && category !== null && librariesOf(text).some(test)) ? 1 : 0;
    });
  }

  /** How to tell whether an event matches, and how many do. */
  count() {
    const { model, names, paths, pathsOf, chosen } = this;
    if (!names) return;
    const { name, aux, count } = model.events;
    const byName = (/** @type {number} */ event) => names[name[event]] === 1;
    const isChosen = (/** @type {number} */ event) => {
      const category = model.category(name[event]);
      return category !== null ? chosen.includes(category) : chosen.includes(BLOCKING) && model.laneOf(event).kind === 'api' && (aux[event] & 3) === 1;
    };
    const { counted } = this;
    const exact = !chosen.includes(BLOCKING) && !paths && !counted;
    this.matches = exact
      ? byName
      : (event) => byName(event) && (!counted || counted.test(event)) && (!paths || !pathsOf || paths[pathsOf.of[event]] === 1) && (chosen.length === 0 || isChosen(event));
    const seen = new Set();
    this.events = counted?.gaps?.size ?? 0;
    if (counted?.gaps) return;
    if (exact) {
      names.forEach((wanted, id) => {
        if (!wanted) return;
        this.distinct++;
        this.events = (this.events ?? 0) + model.nameCount[id];
      });
      return;
    }
    for (let i = 0; i < model.count; i++) {
      if (count[i] > 1 || !this.matches(i)) continue;
      this.events++;
      seen.add(name[i]);
    }
    this.distinct = seen.size;
    if (model.aggregated) this.events = null;
  }

  /** The longest event that matches, -1 without one. */
  longest() {
    const { count, duration } = this.model.events;
    let best = -1;
    for (let i = 0; i < this.model.count; i++) if (count[i] === 1 && (best < 0 || duration[i] > duration[best]) && this.matches(i)) best = i;
    return best;
  }

  /** What the painter needs, or null when nothing is searched. */
  forFrame() {
    return this.names ? { generation: this.generation, matches: this.matches, only: this.only, gaps: this.counted?.gaps ?? null } : null;
  }
}
