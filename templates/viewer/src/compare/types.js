/**
 * The data block of compare.html; docs/viewer.md, "The page of a comparison".
 *
 * @typedef {object} SideData
 * @property {string[]} captures
 * @property {string} [capture]  the one whose timeline is here
 * @property {string | null} [missing]  why there is no timeline
 * @property {boolean} [whole]  every event of it is here
 * @property {number} [begin_ns]  if not: the stretch that is
 * @property {number} [end_ns]
 * @property {{start_ns: number, end_ns: number, device_id: number, step: number}} [anchor]  the typical step; step -1: none
 * @property {string | null} [utc_epoch_ns]
 * @property {Record<string, import('../types.js').Table>} [tables]
 *
 * @typedef {object} PairData
 * @property {string} version
 * @property {string} tool
 * @property {'step' | 'run'} per  what times are divided by, beside GPUs
 * @property {boolean} comparable  whether times are of the same work
 * @property {SideData} base
 * @property {SideData} new
 * @property {Record<string, import('../types.js').Table>} tables
 *
 * @typedef {'base' | 'new'} SideName
 */
export {};
