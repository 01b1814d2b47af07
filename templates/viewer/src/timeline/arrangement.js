/** @import { Track } from './layout.js' */

const SEPARATOR = '!';

/** @param {string} text */
const list = (text) => (text === '' ? [] : text.split(SEPARATOR));

/** What the reader did to the tracks: folded, hidden, pinned and moved ones, and the filter. Keys are those of tracks. */
export class Arrangement {
  /** @param {Track[]} tracks @param {Set<string>} folded  on a fresh visit */
  constructor(tracks, folded) {
    this.keys = new Set(tracks.map((track) => track.key));
    this.initiallyFolded = folded;
    this.initialOrder = tracks.filter((track) => track.parents.length === 0).map((track) => track.key);
    this.folded = new Set(folded);
    /** @type {Set<string>} */
    this.hidden = new Set();
    /** @type {string[]}  in the order they were pinned */
    this.pinned = [];
    this.order = [...this.initialOrder];
    this.filter = '';
  }

  /** As text for a link: only what differs from a fresh visit. */
  state() {
    const folds = [...this.keys].filter((key) => this.folded.has(key) !== this.initiallyFolded.has(key));
    const moved = this.order.some((key, index) => key !== this.initialOrder[index]);
    return {
      x: folds.join(SEPARATOR),
      h: [...this.hidden].join(SEPARATOR),
      k: this.pinned.join(SEPARATOR),
      o: moved ? this.order.join(SEPARATOR) : '',
      tf: this.filter,
    };
  }

  /** @param {{x: string, h?: string, k?: string, o?: string, tf?: string}} state */
  restore({ x, h = '', k = '', o = '', tf = '' }) {
    /** @param {string} text */
    const known = (text) => list(text).filter((key) => this.keys.has(key));
    this.folded = new Set(this.initiallyFolded);
    for (const key of known(x)) if (!this.folded.delete(key)) this.folded.add(key);
    this.hidden = new Set(known(h));
    this.pinned = [...new Set(known(k))];
    const order = [...new Set(known(o))].filter((key) => this.initialOrder.includes(key));
    this.order = [...order, ...this.initialOrder.filter((key) => !order.includes(key))];
    this.filter = tf;
  }

  /** @param {string} key */
  togglePin(key) {
    this.pinned = this.pinned.includes(key) ? this.pinned.filter((other) => other !== key) : [...this.pinned, key];
  }

  /** Moves a group before or behind its neighbour. @param {string} key @param {1 | -1} direction */
  move(key, direction) {
    const at = this.order.indexOf(key);
    const to = at + direction;
    if (at < 0 || to < 0 || to >= this.order.length) return;
    [this.order[at], this.order[to]] = [this.order[to], this.order[at]];
  }

  /** @param {Track} track */
  matchesFilter(track) {
    return this.filter === '' || track.label.toLowerCase().includes(this.filter.toLowerCase());
  }

  /**
   * Tracks in the order they are shown, pinned ones apart.
   * @param {Track[]} tracks @returns {{pinned: Track[], others: Track[]}}
   */
  arrange(tracks) {
    /** @param {Track} track */
    const family = (track) => track.parents[0] ?? track.key;
    const rank = new Map(this.order.map((key, index) => [key, index]));
    const sorted = [...tracks].sort((a, b) => (rank.get(family(a)) ?? 0) - (rank.get(family(b)) ?? 0));
    const byKey = new Map(tracks.map((track) => [track.key, track]));
    // A group stays as long as something in it matches; what is in a matching group stays, too.
    const kept = new Set();
    for (const track of tracks) {
      if (![track, ...track.parents.map((key) => byKey.get(key))].some((one) => one && this.matchesFilter(one))) continue;
      kept.add(track.key);
      for (const key of track.parents) kept.add(key);
    }
    const shown = sorted.filter(
      (track) =>
        kept.has(track.key) &&
        ![track.key, ...track.parents].some((key) => this.hidden.has(key)) &&
        !track.parents.some((key) => this.folded.has(key)) &&
        !this.pinned.includes(track.key),
    );
    const pinned = this.pinned.flatMap((key) => byKey.get(key) ?? []);
    return { pinned, others: shown };
  }
}
