// Marks the words of a query in the results.
import type { TermFinder } from '../../../clients/broker/query-terms.js';
import { type Content, html } from '../../web/html.js';

/** Returns a function that marks the terms in a text. */
export function highlighter(terms: TermFinder | undefined): (text: string) => Content {
  if (terms === undefined) return (text) => text;
  return (text) => {
    const parts: Content[] = [];
    let last = 0;
    for (const { start, end } of terms.matches(text)) {
      parts.push(text.slice(last, start), html`<mark>${text.slice(start, end)}</mark>`);
      last = end;
    }
    parts.push(text.slice(last));
    return parts;
  };
}
