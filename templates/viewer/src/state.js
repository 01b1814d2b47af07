/**
 * View state that stands in the URL fragment, so that a link shows a colleague the same place.
 * Keys are short because links get pasted into chats; docs/viewer.md lists them.
 *
 * @typedef {object} ViewState
 * @property {string} v  view
 * @property {string} a  left edge of the timeline, ns after the origin
 * @property {string} b  right edge
 * @property {string} e  selected event
 * @property {string} g  selected idle gap: row of the table
 * @property {string} r  selected time range "from~to"
 * @property {string} ra  tracks it is of
 * @property {string} rb  the range kept beside it
 * @property {string} y  scroll position of the timeline
 * @property {string} x  groups folded or unfolded
 * @property {string} h  hidden tracks
 * @property {string} k  pinned tracks
 * @property {string} o  order of GPUs and processes
 * @property {string} tf  filter of tracks
 * @property {string} mk  marks with their notes
 * @property {string} mr  the two points of a measurement
 * @property {string} nv  NVTX: calls, callers or order
 * @property {string} q  search text
 * @property {string} qx  "1": a regular expression
 * @property {string} qo  "1": show only matches
 * @property {string} lc  categories chosen in the legend
 * @property {string} c  colours: name or category
 * @property {string} tm  time mode
 * @property {string} t  table
 * @property {string} s  sort "column.asc" or "column.desc"
 * @property {string} f  table filter
 * @property {string} nm  NVTX metric: wall, gpu or span
 * @property {string} ng  NVTX grouping: merged or threads
 * @property {string} nr  NVTX node in focus
 * @property {string} iu  what the iterations are of
 * @property {string} ip  the two iterations compared
 * @property {string} al  where the two timelines of a comparison meet
 */

/** @type {ViewState} */
export const DEFAULTS = {
  v: 'overview',
  a: '',
  b: '',
  e: '',
  g: '',
  r: '',
  ra: '',
  rb: '',
  y: '',
  x: '',
  h: '',
  k: '',
  o: '',
  tf: '',
  mk: '',
  mr: '',
  nv: 'calls',
  q: '',
  qx: '',
  qo: '',
  lc: '',
  c: 'category',
  tm: 'relative',
  t: '',
  s: '',
  f: '',
  nm: 'wall',
  ng: 'merged',
  nr: '',
  iu: '',
  ip: '',
  al: '',
};

const WRITE_DELAY_MS = 250;

const KEYS = /** @type {(keyof ViewState)[]} */ (Object.keys(DEFAULTS));

/** What a fragment says; every key it does not name has its default. @param {string} fragment @returns {ViewState} */
export function parseState(fragment) {
  const parameters = new URLSearchParams(fragment);
  const values = { ...DEFAULTS };
  for (const key of KEYS) values[key] = parameters.get(key) ?? DEFAULTS[key];
  return values;
}

/** The shortest fragment that says it. @param {ViewState} values */
export function formatState(values) {
  const parameters = new URLSearchParams();
  for (const key of KEYS) if (values[key] !== DEFAULTS[key]) parameters.set(key, values[key]);
  return parameters.toString();
}

/** Keeps the fragment and the views in step. */
export class StateStore {
  constructor() {
    /** @type {ViewState} */
    this.values = { ...DEFAULTS };
    /** @type {((state: ViewState) => void)[]} */
    this.listeners = [];
    this.timer = 0;
    this.shown = ''; // the address that `values` were read from or written to
    this.read();
    window.addEventListener('hashchange', () => {
      clearTimeout(this.timer);
      this.timer = 0;
      this.read();
      for (const listener of this.listeners) listener(this.values);
    });
  }

  read() {
    this.shown = location.hash;
    Object.assign(this.values, parseState(location.hash.slice(1)));
  }

  /** @param {(state: ViewState) => void} listener  called when the reader follows a link or goes back */
  onNavigate(listener) {
    this.listeners.push(listener);
  }

  /** @param {Partial<ViewState>} patch @param {boolean} [asNewPage]  worth a step of the Back button */
  set(patch, asNewPage = false) {
    // What the page that is left still had to write belongs to its own address, to which Back returns.
    if (asNewPage && this.timer !== 0) this.write(false);
    Object.assign(this.values, patch);
    clearTimeout(this.timer);
    this.timer = 0;
    if (asNewPage) this.write(true);
    // Browsers limit how often the address may change: panning writes it once it comes to rest.
    else this.timer = window.setTimeout(() => this.write(false), WRITE_DELAY_MS);
  }

  /** @param {boolean} asNewPage */
  write(asNewPage) {
    this.timer = 0;
    // A link was followed whose event has not come yet: what was still to be written may not take its place.
    if (!asNewPage && location.hash !== this.shown) return;
    const target = this.link();
    if (target === location.hash || (target === '#' && location.hash === '')) return;
    try {
      if (asNewPage) history.pushState(null, '', target);
      else history.replaceState(null, '', target);
      this.shown = location.hash;
    } catch {
      // A sandboxed frame may forbid it; the page works without a link.
    }
  }

  link() {
    return `#${formatState(this.values)}`;
  }
}
