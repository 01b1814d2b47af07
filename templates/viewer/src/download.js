import { h } from './dom.js';

/** Offers bytes as a file. @param {string} name @param {Blob} blob */
export function download(name, blob) {
  const url = URL.createObjectURL(blob);
  const link = h('a', { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

/** A name for a file about a part of a trace. @param {string} trace @param {string} what @param {string} suffix */
export function fileName(trace, what, suffix) {
  const base = trace.replace(/\.[^.]*$/u, '').replace(/[^\w.-]+/gu, '_') || 'trace';
  return `${base}-${what}.${suffix}`;
}
