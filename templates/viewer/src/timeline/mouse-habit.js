import { h } from '../dom.js';

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

/** The choice between the two. */
export function mouseChoice() {
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
      },
    },
    h('option', { value: 'scroll' }, 'Wheel scrolls, drag selects (Ctrl + wheel zooms, Shift + drag moves)'),
    h('option', { value: 'zoom' }, 'Wheel zooms, drag moves (Alt + wheel scrolls, Shift + drag selects)'),
  );
  select.value = zooms ? 'zoom' : 'scroll';
  return h('p', { class: 'mouse-choice' }, select);
}
