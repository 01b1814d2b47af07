/** @import { Model } from './model.js' */

/**
 * @param {string} text @param {boolean} isPattern
 * @returns {{test: (candidate: string) => boolean} | {error: string} | null} null for an empty search
 */
export function compileSearch(text, isPattern) {
  if (text === '') return null;
  if (!isPattern) {
    const wanted = text.toLowerCase();
    return { test: (candidate) => candidate.toLowerCase().includes(wanted) };
  }
  try {
    const pattern = new RegExp(text, 'iu');
    return { test: (candidate) => pattern.test(candidate) };
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
}

/** The search of the timeline: which names match, and how many events that are. */
export class Search {
  /** @param {Model} model */
  constructor(model) {
    this.model = model;
    this.text = '';
    this.isPattern = false;
    this.only = false;
    this.generation = 0;
    /** @type {Uint8Array | null} */
    this.names = null;
    this.events = 0;
    this.distinct = 0;
    /** @type {string | null} */
    this.error = null;
  }

  /** @param {string} text @param {boolean} isPattern @param {boolean} only */
  set(text, isPattern, only) {
    this.only = only;
    if (text === this.text && isPattern === this.isPattern) return;
    this.text = text;
    this.isPattern = isPattern;
    this.generation++;
    this.error = null;
    this.names = null;
    this.events = 0;
    this.distinct = 0;
    const compiled = compileSearch(text, isPattern);
    if (!compiled) return;
    if ('error' in compiled) {
      this.error = compiled.error;
      return;
    }
    const { model } = this;
    this.names = new Uint8Array(model.names.length);
    for (let i = 0; i < model.names.length; i++) {
      if (model.nameCount[i] === 0) continue;
      if (!compiled.test(model.names[i]) && !compiled.test(model.shortNames[i] ?? '')) continue;
      this.names[i] = 1;
      this.distinct++;
      this.events += model.nameCount[i];
    }
  }

  /** What the painter needs, or null when nothing is searched. */
  forFrame() {
    return this.names ? { generation: this.generation, names: this.names, only: this.only } : null;
  }

  /** @param {number} event */
  matches(event) {
    return this.names !== null && this.names[this.model.events.name[event]] === 1;
  }
}
