import { byId } from './dom.js';

/** @param {string} text  standard base64 @returns {Uint8Array<ArrayBuffer>} */
function decodeBase64(text) {
  const native = /** @type {{fromBase64?: (text: string) => Uint8Array<ArrayBuffer>}} */ (/** @type {unknown} */ (Uint8Array));
  return native.fromBase64 ? native.fromBase64(text) : Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}

/** A block of the page, null if it is empty. Its text lives on in this form only. @param {string} id */
function read(id) {
  const element = byId(id);
  const text = (element.textContent ?? '').trim();
  element.textContent = '';
  if (text.startsWith('{')) return new Response(text);
  return text ? new Response(new Blob([decodeBase64(text)]).stream().pipeThrough(new DecompressionStream('deflate-raw'))) : null;
}

/** @param {string} id @returns {Promise<any>} */
export const readJson = async (id) => (await read(id)?.json()) ?? null;

/** @param {string} id */
export const readBytes = async (id) => new Uint8Array((await read(id)?.arrayBuffer()) ?? new ArrayBuffer(0));
