const ESCAPES = /** @type {Record<string, string>} */ ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' });

/** Text as it stands in an SVG file; what XML has no place for is left out. @param {string} text */
export const escapeXml = (text) =>
  text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/gu, '').replace(/[&<>"]/gu, (character) => ESCAPES[character]);

/** At most two decimals. @param {number} value */
const number = (value) => String(Math.round(value * 100) / 100);

/**
 * Draws what the timeline's painters draw on a canvas into the text of an SVG file: as much of a canvas as they use.
 * Its fields are those of a canvas context.
 */
export class SvgContext {
  constructor() {
    /** @type {string[]} */
    this.parts = [];
    this.fillStyle = '#000';
    this.strokeStyle = '#000';
    this.globalAlpha = 1;
    this.lineWidth = 1;
    this.font = '11px sans-serif';
    this.textBaseline = 'middle';
    this.textAlign = 'left';
    this.imageSmoothingEnabled = false;
    this.path = '';
    this.clips = 0;
    /** @type {number[]}  open groups per save() */
    this.saved = [];
    this.open = 0;
    /** Measures text as the browser will. @type {CanvasRenderingContext2D | null} */
    this.ruler = null;
  }

  /** @param {string} name @param {Record<string, string>} attributes @param {string} [content] */
  element(name, attributes, content) {
    const text = Object.entries(attributes).map(([key, value]) => ` ${key}="${escapeXml(value)}"`);
    this.parts.push(`<${name}${text.join('')}${content === undefined ? '/>' : `>${content}</${name}>`}`);
  }

  /** @param {Record<string, string>} attributes */
  begin(attributes) {
    const text = Object.entries(attributes).map(([key, value]) => ` ${key}="${escapeXml(value)}"`);
    this.parts.push(`<g${text.join('')}>`);
    this.open++;
  }

  end() {
    this.parts.push('</g>');
    this.open--;
  }

  /** @returns {Record<string, string>} */
  get opacity() {
    return this.globalAlpha < 1 ? { opacity: number(this.globalAlpha) } : {};
  }

  save() {
    this.saved.push(this.open);
  }

  restore() {
    const open = this.saved.pop() ?? 0;
    while (this.open > open) this.end();
  }

  clip() {
    const id = `clip${++this.clips}`;
    this.parts.push(`<clipPath id="${id}"><path d="${this.path}"/></clipPath>`);
    this.begin({ 'clip-path': `url(#${id})` });
  }

  beginPath() {
    this.path = '';
  }

  /** @param {number} x @param {number} y */
  moveTo(x, y) {
    this.path += `M${number(x)} ${number(y)}`;
  }

  /** @param {number} x @param {number} y */
  lineTo(x, y) {
    this.path += `L${number(x)} ${number(y)}`;
  }

  /** @param {number[]} points */
  bezierCurveTo(...points) {
    this.path += `C${points.map(number).join(' ')}`;
  }

  /** @param {number} x @param {number} y @param {number} width @param {number} height */
  rect(x, y, width, height) {
    this.path += `M${number(x)} ${number(y)}h${number(width)}v${number(height)}h${number(-width)}z`;
  }

  stroke() {
    this.element('path', { d: this.path, fill: 'none', stroke: this.strokeStyle, 'stroke-width': number(this.lineWidth), ...this.opacity });
  }

  fill() {
    this.element('path', { d: this.path, fill: this.fillStyle, ...this.opacity });
  }

  /** @param {number} x @param {number} y @param {number} width @param {number} height */
  fillRect(x, y, width, height) {
    if (width <= 0 || height <= 0) return;
    this.element('rect', { x: number(x), y: number(y), width: number(width), height: number(height), fill: this.fillStyle, ...this.opacity });
  }

  /** @param {number} x @param {number} y @param {number} width @param {number} height */
  strokeRect(x, y, width, height) {
    this.element('rect', {
      x: number(x),
      y: number(y),
      width: number(width),
      height: number(height),
      fill: 'none',
      stroke: this.strokeStyle,
      'stroke-width': number(this.lineWidth),
    });
  }

  /** @param {string} text @param {number} x @param {number} y */
  fillText(text, x, y) {
    this.element('text', { x: number(x), y: number(y), fill: this.fillStyle, ...this.opacity }, escapeXml(text));
  }

  /** @param {string} text */
  measureText(text) {
    this.ruler ??= document.createElement('canvas').getContext('2d');
    if (!this.ruler) return { width: text.length * 6 };
    this.ruler.font = this.font;
    return this.ruler.measureText(text);
  }

  /**
   * What is narrower than a pixel comes as a picture in the file.
   * @param {HTMLCanvasElement} image @param {number[]} boxes  in the picture, then where it goes
   */
  drawImage(image, ...boxes) {
    const [x, y, width, height] = boxes.slice(-4);
    if (width <= 0 || height <= 0) return;
    this.element('image', {
      x: number(x),
      y: number(y),
      width: number(width),
      height: number(height),
      preserveAspectRatio: 'none',
      'image-rendering': 'pixelated',
      href: image.toDataURL(),
      ...this.opacity,
    });
  }

  /** The file. @param {number} width @param {number} height @param {string} font  family */
  text(width, height, font) {
    while (this.open > 0) this.end();
    return (
      `<svg xmlns="http://www.w3.org/2000/svg" width="${number(width)}" height="${number(height)}" viewBox="0 0 ${number(width)} ${number(height)}" ` +
      `font-family="${escapeXml(font)}" font-size="11" dominant-baseline="central">\n${this.parts.join('\n')}\n</svg>\n`
    );
  }
}
