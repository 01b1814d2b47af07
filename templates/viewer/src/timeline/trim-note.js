/** @import { TimelineView } from './view.js' */
import { copyButton } from '../copy-button.js';
import { h } from '../dom.js';
import { trimCommand } from '../trim.js';

const ROOM = 0.25;

/**
 * The command for a report of this stretch alone, to be copied; where the page lacks events, why one would want it.
 * @param {TimelineView} view @param {number} from @param {number} to
 */
export function trimNote(view, from, to) {
  const { model } = view;
  const room = (to - from) * ROOM;
  const command = trimCommand(model, from - room, to + room);
  const button = copyButton('copy', { 'aria-label': 'Copy the command for a report of this stretch' }, () => command);
  return h(
    'details',
    { class: 'trim', open: !model.complete(from, to) },
    h('summary', {}, model.complete(from, to) ? 'Report of this stretch alone' : 'Not every event here is on this page'),
    h('pre', {}, h('code', {}, command)),
    button,
  );
}
