// Enough Mustache for report.html: sections, inverted sections, escaped and trusted interpolation.
// The C program has its own engine; this one lets the viewer be tested without it.

const ESCAPES = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

function lookup(stack, key) {
  for (let i = stack.length - 1; i >= 0; i--) {
    if (stack[i] !== null && typeof stack[i] === 'object' && key in stack[i]) return stack[i][key];
  }
  return '';
}

function parse(text) {
  const root = { children: [] };
  const open = [root];
  let at = 0;
  for (const match of text.matchAll(/\{\{\{\s*([\w.]+)\s*\}\}\}|\{\{([#^/]?)\s*([\w.]+)\s*\}\}/g)) {
    let before = text.slice(at, match.index);
    at = match.index + match[0].length;
    const kind = match[1] !== undefined ? '{' : match[2];
    // Section tags alone on a line leave no line behind.
    if (kind === '#' || kind === '^' || kind === '/') {
      if (/(^|\n)[ \t]*$/.test(before) && /^[ \t]*\n/.test(text.slice(at))) {
        before = before.replace(/[ \t]*$/, '');
        at = text.indexOf('\n', at) + 1;
      }
    }
    const parent = open.at(-1);
    if (before) parent.children.push({ text: before });
    if (kind === '#' || kind === '^') {
      const node = { kind, key: match[3], children: [] };
      parent.children.push(node);
      open.push(node);
    } else if (kind === '/') {
      if (open.pop().key !== match[3]) throw new Error(`unexpected {{/${match[3]}}}`);
    } else {
      parent.children.push({ kind, key: match[1] ?? match[3] });
    }
  }
  root.children.push({ text: text.slice(at) });
  return root;
}

function write(node, stack, output) {
  for (const child of node.children) {
    if (child.text !== undefined) {
      output.push(child.text);
      continue;
    }
    const value = lookup(stack, child.key);
    if (child.kind === '#') {
      if (Array.isArray(value)) for (const item of value) write(child, [...stack, item], output);
      else if (value) write(child, [...stack, value], output);
    } else if (child.kind === '^') {
      if (!value || (Array.isArray(value) && value.length === 0)) write(child, stack, output);
    } else {
      output.push(child.kind === '{' ? String(value) : String(value).replace(/[&<>"']/g, (character) => ESCAPES[character]));
    }
  }
}

export function render(template, context) {
  const output = [];
  write(parse(template), [context], output);
  return output.join('');
}
