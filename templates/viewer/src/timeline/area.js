/** @import { Lane } from '../types.js' */
/** @import { Layout } from './layout.js' */

/** A drag that leaves its track by less means time alone. */
const LEAST_PX = 40;

/**
 * Keys of the tracks that a drag goes over, from one to the next; null where it stays about its track, or meets no events.
 * @param {Layout} layout @param {number} scrollTop @param {number} fromY @param {number} toY  px of the canvas @returns {string[] | null}
 */
export function areaOf(layout, scrollTop, fromY, toY) {
  const [top, bottom] = [Math.min(fromY, toY), Math.max(fromY, toY)];
  if (bottom - top < LEAST_PX || layout.trackAt(fromY, scrollTop) === layout.trackAt(toY, scrollTop)) return null;
  const tracks = layout.visible.filter((track) => {
    const y = layout.screenTop(track, scrollTop);
    const hidden = !track.pinned && y + track.height <= layout.pinnedHeight;
    return !hidden && y < bottom && y + track.height > top;
  });
  const keys = tracks.map(({ key }) => key);
  return lanesIn(layout, keys).length > 0 ? keys : null;
}

/** Lanes of tracks; of a closed group those inside. @param {Layout} layout @param {string[]} keys @returns {Lane[]} */
export function lanesIn(layout, keys) {
  const closed = keys.filter((key) => layout.collapsed.has(key));
  return layout.tracks.flatMap((track) => (track.lane && (keys.includes(track.key) || track.parents.some((key) => closed.includes(key))) ? [track.lane] : []));
}
