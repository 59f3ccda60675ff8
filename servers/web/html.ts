// HTML templates that escape their values.
/** Text that is HTML already, and is not escaped again. */
export class Html {
  constructor(readonly text: string) {}

  toString(): string {
    return this.text;
  }
}

/** A value in a template: text is escaped, HTML is not, lists are joined, `undefined` and `false` are empty. */
export type Content = Html | string | number | undefined | false | readonly Content[];

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/**
 * Escapes text for element content and quoted attribute values. Control characters, which HTML cannot contain,
 * and characters that change the direction of text become U+FFFD, so that a document's text cannot disguise
 * itself.
 */
export function escapeHtml(text: string): string {
  return text
    .replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character)
    .replace(/[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/g, '\ufffd');
}

/** A template whose values are escaped. Attribute values in it must be quoted. */
export function html(strings: TemplateStringsArray, ...values: readonly Content[]): Html {
  let text = strings[0] ?? '';
  values.forEach((value, i) => {
    text += render(value) + (strings[i + 1] ?? '');
  });
  return new Html(text);
}

function render(value: Content): string {
  if (value instanceof Html) return value.text;
  if (typeof value === 'string') return escapeHtml(value);
  if (typeof value === 'number') return String(value);
  if (value === undefined || value === false) return '';
  return value.map(render).join('');
}

/** URL schemes that a page may link to, so that text from the network never becomes a `javascript:` link. */
const LINKABLE = /^(?:https?|ftp|gopher|news):/i;

/** Whether a URL from a document may become a link. */
export function isLinkable(url: string): boolean {
  return LINKABLE.test(url) && !/[\0-\x20\x7f]/.test(url);
}

/** Renders the text as a link to `url` if its scheme is allowed, else without a link. */
export function link(url: string, text: Content): Html {
  return isLinkable(url)
    ? html`<a href="${url}" rel="noreferrer nofollow">${text}</a>`
    : html`<span>${text}</span>`;
}
