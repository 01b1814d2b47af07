/** @import { Arrangement } from './arrangement.js' */
/** @import { Layout, Track } from './layout.js' */

/** @typedef {{layout: Layout, foldsChanged: () => void}} Arranged  the timeline, or one side of a comparison */

/** Changes which tracks are shown, and where. @param {Arranged} view @param {(arrangement: Arrangement) => void} change */
export function rearrange(view, change) {
  change(view.layout.arrangement);
  view.layout.place();
  view.foldsChanged();
}

/** Folds or unfolds a group. @param {Arranged} view @param {Track} track */
export function toggleFold(view, track) {
  view.layout.toggle(track.key);
  view.foldsChanged();
}
