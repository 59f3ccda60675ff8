// Marks the words of a query in the results.
import { type Content, html } from '../../web/html.js';

/** Returns a function that marks what the pattern matches in a text. */
export function highlighter(pattern: RegExp | undefined): (text: string) => Content {
  if (pattern === undefined) return (text) => text;
  return (text) => {
    const parts: Content[] = [];
    let end = 0;
    for (const match of text.matchAll(pattern)) {
      parts.push(text.slice(end, match.index), html`<mark>${match[0]}</mark>`);
      end = match.index + match[0].length;
    }
    parts.push(text.slice(end));
    return parts;
  };
}
