// Summarizes gemtext. The Gatherer calls this module for documents of type Gemtext, as it would run a program bin/Gemtext.sum.

/** @type {import('harvest-kit/servers/essence').SummarizerModule['summarize']} */
export function summarize(document) {
  const attributes = [];
  const linkedUrls = [];
  const text = [];
  for (const line of document.text.split(/\r?\n/)) {
    const [, level, heading] = /^(#{1,3})\s*(.+)$/.exec(line) ?? [];
    const [, link, label = ''] = /^=>\s*(\S+)\s*(.*)$/.exec(line) ?? [];
    if (level === '#') attributes.push(['Title', heading]);
    else if (heading !== undefined) attributes.push(['Headings', heading]);
    else if (link !== undefined) {
      linkedUrls.push(link); // the Gatherer follows them
      text.push(label);
    } else if (line !== '' && !line.startsWith('```')) text.push(line.replace(/^(?:\* |>)/, ''));
  }
  if (!attributes.some(([name]) => name === 'Title')) document.warn('it has no title');
  attributes.push(['Partial-Text', text.join('\n')]);
  return { attributes, description: text[0] ?? '', linkedUrls };
}
