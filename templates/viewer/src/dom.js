/**
 * The only way this program creates elements. Text always enters through text nodes, attributes through
 * setAttribute: nothing from a trace is ever parsed as HTML.
 * @typedef {Node | string | number | null | undefined | false} Child
 */

/**
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Record<string, string | number | boolean | null | undefined | ((event: any) => void)>} [attributes]
 *   `onclick`-style keys take listeners; false, null and undefined leave the attribute out
 * @param {...(Child | Child[])} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue;
    if (typeof value === 'function') element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value === true ? '' : String(value));
  }
  append(element, children);
  return element;
}

/** @param {Element} parent @param {(Child | Child[])[]} children */
export function append(parent, children) {
  for (const child of children.flat()) {
    if (child === null || child === undefined || child === false) continue;
    parent.append(child instanceof Node ? child : String(child));
  }
}

/** @param {Element} parent @param {...(Child | Child[])} children */
export function replace(parent, ...children) {
  parent.replaceChildren();
  append(parent, children);
}

/**
 * Text of the trace, isolated so that right-to-left names cannot reorder what surrounds them.
 * @param {string} text @param {string} [className]
 */
export function name(text, className = 'name') {
  return h('bdi', { class: className }, text);
}

/**
 * @param {string} id
 * @returns {HTMLElement}
 */
export function byId(id) {
  const element = document.getElementById(id);
  if (!element) throw new Error(`the page lacks #${id}`);
  return element;
}

/** @param {HTMLCanvasElement} canvas @returns {CanvasRenderingContext2D} */
export function context2d(canvas) {
  const context = canvas.getContext('2d');
  if (!context) throw new Error('this browser offers no 2D canvas');
  return context;
}

/**
 * Sizes a canvas's bitmap to its box and returns a context that draws in CSS pixels.
 * @param {HTMLCanvasElement} canvas @param {number} width @param {number} height
 */
export function fitCanvas(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  const [pixelWidth, pixelHeight] = [Math.max(1, Math.round(width * ratio)), Math.max(1, Math.round(height * ratio))];
  if (canvas.width !== pixelWidth || canvas.height !== pixelHeight) {
    canvas.width = pixelWidth;
    canvas.height = pixelHeight;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
  }
  const context = context2d(canvas);
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return context;
}

/** @type {CanvasRenderingContext2D | null} */
let measuring = null;

/** Width of text in the page's font, px. @param {string} text @param {string} weight */
export function textWidth(text, weight) {
  measuring ??= document.createElement('canvas').getContext('2d');
  if (!measuring) return text.length * 8;
  const { fontSize, fontFamily } = getComputedStyle(document.body);
  measuring.font = `${weight} ${fontSize} ${fontFamily}`;
  return measuring.measureText(text).width;
}

/** @param {string} text @returns {Promise<boolean>} */
export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Pages opened from disk may lack the clipboard API; the old command still works on a user gesture.
    const area = h('textarea', { class: 'offscreen', 'aria-hidden': 'true' });
    area.value = text;
    document.body.append(area);
    area.select();
    const copied = document.execCommand('copy');
    area.remove();
    return copied;
  }
}

/** What a character of a canvas's label takes on average. */
export const CHARACTER_PX = 6.1;

/**
 * As much of a label as there is room for, on one line.
 * @param {CanvasRenderingContext2D} context @param {string} text @param {number} x @param {number} y @param {number} room  px
 */
export function fillLabel(context, text, x, y, room) {
  const fits = Math.floor(room / CHARACTER_PX);
  context.fillText(text.length <= fits ? text : `${text.slice(0, Math.max(1, fits - 1)).replace(/…+$/u, '')}…`, x, y, room);
}
