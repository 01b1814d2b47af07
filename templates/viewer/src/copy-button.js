import { copyText, h } from './dom.js';

const SHOWN_MS = 1500;

/**
 * A button that copies a text and says whether it did.
 * @param {string} label @param {Record<string, string>} attributes @param {() => string} text  asked for when pressed
 */
export function copyButton(label, attributes, text) {
  const button = h(
    'button',
    {
      type: 'button',
      ...attributes,
      onclick: async () => {
        button.textContent = (await copyText(text())) ? 'copied' : 'failed';
        setTimeout(() => (button.textContent = label), SHOWN_MS);
      },
    },
    label,
  );
  return button;
}
