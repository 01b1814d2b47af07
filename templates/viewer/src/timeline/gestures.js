const DRAG_START_PX = 4;
const DOUBLE_CLICK_MS = 400;
const WHEEL_ZOOM = 0.0016;
/** A pinch on a touchpad arrives as a wheel with ctrlKey and small steps, a wheel with Ctrl held in large ones. */
const PINCH_STEP = 40;
const PINCH_ZOOM = 6 * WHEEL_ZOOM;

/**
 * What the pointer asks for; the timeline decides what it means.
 * @typedef {object} GestureHandlers
 * @property {(factor: number, x: number) => void} zoom
 * @property {(dx: number, dy: number) => void} pan  px
 * @property {(fromX: number, toX: number, done: boolean, fromY: number, toY: number) => void} [selectRange]  without it dragging moves
 * @property {(x: number, y: number) => void} click
 * @property {(x: number, y: number) => void} doubleClick
 * @property {(x: number, y: number, event: PointerEvent) => void} hover
 * @property {() => void} leave
 * @property {() => boolean} [selecting]  dragging selects instead of panning
 * @property {() => boolean} [zooms]  the plain wheel zooms, and a mouse that drags moves; else Ctrl + wheel and Shift + drag do
 */

/** Mouse, pen, touch and wheel on one element. @param {HTMLElement} element @param {GestureHandlers} handlers */
export function listenForGestures(element, handlers) {
  /** @type {Map<number, {x: number, y: number}>} */
  const pointers = new Map();
  /** @type {{x: number, y: number, mode: 'wait' | 'pan' | 'range' | 'pinch', distance: number} | null} */
  let drag = null;

  const zooms = () => handlers.zooms?.() ?? true;
  /** Fingers move what they touch; of a mouse it is the reader's choice. @param {PointerEvent} event */
  const selects = (event) => !!handlers.selectRange && (handlers.selecting?.() || (event.pointerType !== 'touch' && event.shiftKey === zooms()));

  /** @param {MouseEvent} event */
  const place = (event) => {
    const box = element.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  const pinch = () => {
    const [a, b] = [...pointers.values()];
    return { distance: Math.max(10, Math.hypot(a.x - b.x, a.y - b.y)), x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 };
  };

  element.addEventListener('pointerdown', (event) => {
    if (event.button !== 0) return;
    const at = place(event);
    element.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, at);
    if (pointers.size === 2) drag = { ...pinch(), mode: 'pinch' };
    else drag = { ...at, mode: selects(event) ? 'range' : 'wait', distance: 0 };
  });
  element.addEventListener('pointermove', (event) => {
    const at = place(event);
    const before = pointers.get(event.pointerId);
    if (!drag || !before) {
      handlers.hover(at.x, at.y, event);
      return;
    }
    pointers.set(event.pointerId, at);
    if (drag.mode === 'pinch' && pointers.size === 2) {
      const now = pinch();
      handlers.zoom(drag.distance / now.distance, now.x);
      handlers.pan(now.x - drag.x, now.y - drag.y);
      drag = { ...now, mode: 'pinch' };
      return;
    }
    if (drag.mode === 'wait' && Math.hypot(at.x - drag.x, at.y - drag.y) >= DRAG_START_PX) {
      drag.mode = 'pan';
      handlers.leave();
      handlers.pan(at.x - drag.x, at.y - drag.y);
    } else if (drag.mode === 'pan') {
      handlers.pan(at.x - before.x, at.y - before.y);
    } else if (drag.mode === 'range' && Math.abs(at.x - drag.x) >= DRAG_START_PX) {
      handlers.leave();
      handlers.selectRange?.(drag.x, at.x, false, drag.y, at.y);
    }
  });
  let lastClick = { x: NaN, y: NaN, time: -Infinity };
  /** @param {{x: number, y: number}} at @param {number} time */
  const isSecond = (at, time) => time - lastClick.time < DOUBLE_CLICK_MS && Math.hypot(at.x - lastClick.x, at.y - lastClick.y) < DRAG_START_PX;
  /** The second half of a double click selects nothing: the first one may have moved what lies there. @param {{x: number, y: number}} at @param {number} time */
  const click = (at, time) => {
    const again = isSecond(at, time);
    lastClick = { ...at, time };
    if (!again) handlers.click(at.x, at.y);
  };
  /** @param {PointerEvent} event */
  const finish = (event) => {
    if (!pointers.delete(event.pointerId) || !drag) return;
    const at = place(event);
    const cancelled = event.type === 'pointercancel';
    if (drag.mode === 'range' && Math.abs(at.x - drag.x) >= DRAG_START_PX) handlers.selectRange?.(drag.x, at.x, true, drag.y, at.y);
    else if ((drag.mode === 'wait' || drag.mode === 'range') && !cancelled) click(at, event.timeStamp);
    drag = null;
  };
  element.addEventListener('pointerup', finish);
  element.addEventListener('pointercancel', finish);
  element.addEventListener('pointerleave', () => handlers.leave());
  element.addEventListener('dblclick', (event) => {
    const at = place(event);
    handlers.doubleClick(at.x, at.y);
  });
  // The first click may open something at its place, which the second one then hits.
  document.addEventListener(
    'click',
    (event) => {
      const at = place(event);
      if (event.detail !== 2 || element.contains(/** @type {Node} */ (event.target)) || !isSecond(at, event.timeStamp)) return;
      event.preventDefault();
      event.stopPropagation();
      handlers.doubleClick(at.x, at.y);
    },
    true,
  );
  element.addEventListener(
    'wheel',
    (event) => {
      event.preventDefault();
      const unit = event.deltaMode === 1 ? 18 : event.deltaMode === 2 ? 400 : 1;
      const [dx, dy] = [event.deltaX * unit, event.deltaY * unit];
      if (event.altKey || (!zooms() && !event.ctrlKey && !event.shiftKey && Math.abs(dy) >= Math.abs(dx))) handlers.pan(0, -dy);
      else if (event.shiftKey) handlers.pan(-(dx || dy), 0);
      else if (Math.abs(dx) > Math.abs(dy)) handlers.pan(-dx, 0);
      else handlers.zoom(Math.exp(dy * (event.ctrlKey && Math.abs(dy) < PINCH_STEP ? PINCH_ZOOM : WHEEL_ZOOM)), place(event).x);
      handlers.leave();
    },
    { passive: false },
  );
}
