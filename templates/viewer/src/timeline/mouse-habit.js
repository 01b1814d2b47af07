import { h } from '../dom.js';
import { keySection } from '../help-dialog.js';

const KEY = 'nsys-ai-mouse';
let zooms = stored() === 'zoom';

/** What the reader chose last; storage may be off for files. */
function stored() {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

/** Whether the plain wheel zooms and dragging moves; else the wheel scrolls and dragging selects, as in Perfetto. */
export const mouseZooms = () => zooms;

/** What the pointer does, and the choice between the two. @param {(zooms: boolean) => [string, string][]} rows  of the help */
export function pointerSection(rows) {
  const list = h('div', {}, ...keySection('Pointer', rows(zooms)));
  const select = h(
    'select',
    {
      'aria-label': 'Mouse in the timeline',
      onchange: () => {
        zooms = select.value === 'zoom';
        try {
          localStorage.setItem(KEY, select.value);
        } catch {
          // The choice then lasts as long as the page.
        }
        list.replaceChildren(...keySection('Pointer', rows(zooms)));
      },
    },
    h('option', { value: 'scroll' }, 'Wheel scrolls, as in Perfetto and Nsight Systems'),
    h('option', { value: 'zoom' }, 'Wheel zooms'),
  );
  select.value = zooms ? 'zoom' : 'scroll';
  return [list, h('p', { class: 'mouse-choice' }, select)];
}
