/** What Markdown would act on outside of code: marks, links, mentions; underscores only at the edge of a word. */
const ACTIVE = /[\\*~[\]<>&@#]|:\/\/|www\.|(^|\W)_|_(\W|$)/iu;

/**
 * Trace text that Markdown shows as it is and does not act on: plain where it can be, else as code, which reads well unrendered
 * too. What would end a cell or the code becomes entities.
 * @param {string} text
 */
export function escapeMarkdown(text) {
  const line = text.replace(/[\r\n]+/gu, ' ').trim();
  if (/[|`]/u.test(line)) return line.replace(/[\\`*_~|[\]<>&@#:.]/gu, (character) => `&#${character.charCodeAt(0)};`);
  return ACTIVE.test(line) ? `\`${line}\`` : line;
}

/**
 * What is selected, for a chat or an issue.
 * @param {{title: string, name: string, fields: [string, string][], tables: {title: string, rows: string[][]}[], command: string, page: string, link: string}} parts
 *   rows: the first one is the heading
 */
export function toSnippet({ title, name, fields, tables, command, page, link }) {
  const lines = [`**${escapeMarkdown(title)}**${name === '' ? '' : ` ${escapeMarkdown(name)}`}`, ''];
  for (const [label, value] of fields) lines.push(`- ${escapeMarkdown(label)}: ${escapeMarkdown(value)}`);
  for (const table of tables) {
    const [head, ...rows] = table.rows;
    /** @param {string[]} cells */
    const line = (cells) => `| ${cells.map(escapeMarkdown).join(' | ')} |`;
    lines.push('', `${escapeMarkdown(table.title)}:`, '', line(head), line(head.map(() => '---')), ...rows.map(line));
  }
  if (command !== '') lines.push('', '```', command.replace(/`/gu, "'"), '```');
  lines.push('', `In ${page}: \`${link.replace(/`/gu, '%60')}\``, '');
  return lines.join('\n');
}

/** A shortened name says the whole one. @param {Element | null} element */
const textOf = (element) => /** @type {HTMLElement | null | undefined} */ (element?.querySelector('[data-full]'))?.dataset.full ?? element?.textContent?.trim() ?? '';

/** The same from the panel as it stands on the page. @param {string} title @param {Element} panel @param {string} page  its file @param {string} link */
export function snippetOf(title, panel, page, link) {
  const fields = [...panel.querySelectorAll('dl.fields')].flatMap((list) =>
    [...list.querySelectorAll('dt')].map((term) => /** @type {[string, string]} */ ([textOf(term), textOf(term.nextElementSibling)])),
  );
  const tables = [...panel.querySelectorAll('table.mini')].map((table) => ({
    title: table.previousElementSibling?.tagName === 'H3' ? textOf(table.previousElementSibling) : title,
    rows: [...table.querySelectorAll('tr')].map((row) => [...row.children].map(textOf)),
  }));
  const name = textOf(panel.querySelector('.full-name bdi') ?? panel.querySelector('.full-name'));
  return toSnippet({ title, name, fields, tables, command: textOf(panel.querySelector('.trim code')), page, link });
}
