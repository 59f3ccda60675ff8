// Answers of a site as data, shared by the server and the log checker.
/** How the server sends an answer; all values except the first four are faults. */
export type Delivery =
  | 'plain' // HTTP/1.1, Content-Length, the connection is kept
  | 'close' // the same with `Connection: close`
  | 'chunked'
  | 'http/1.0' // no length: the end of the connection ends the body
  | 'late' // a pause before the first byte
  | 'drip' // small pieces with short pauses
  | 'long-drip' // small pieces with pauses a little shorter than the read timeout
  | 'hang' // no byte at all
  | 'hang-in-body' // half of the body, then silence
  | 'reset' // the connection is reset instead of an answer
  | 'reset-in-body'
  | 'half' // the connection ends before Content-Length
  | 'more' // more bytes than Content-Length announces
  | 'two-lengths' // two different Content-Lengths
  | 'bad-chunks' // a chunk whose size is not a number
  | 'garbage' // not HTTP
  | 'endless-headers'
  | 'endless-body'; // as fast as the crawler reads

/** One answer of a site. */
export interface Answer {
  readonly status: number;
  /** `Retry-After: +3` is sent as the HTTP date three seconds from now. */
  readonly headers: Readonly<Record<string, string>>;
  /** Strings are sent as UTF-8. */
  readonly body: string | Uint8Array;
  readonly delivery: Delivery;
}

/** An answer with default values. */
export function answer(parts: Partial<Answer> = {}): Answer {
  return { status: 200, headers: {}, body: '', delivery: 'plain', ...parts };
}

/** An HTML page that links to others. */
export function html(title: string, links: readonly string[], parts: Partial<Answer> = {}): Answer {
  return answer({
    headers: { 'content-type': 'text/html; charset=utf-8' },
    body: page(title, links),
    ...parts,
  });
}

/** Renders the markup of {@link html}; `head` is additional markup of the head. */
export function page(title: string, links: readonly string[], head = ''): string {
  const items = links.map((href) => `<li><a href="${href.replaceAll('&', '&amp;')}">${title}</a></li>`);
  return `<!DOCTYPE html><html><head><title>${title}</title>${head}</head><body><h1>${title}</h1><p>Nothing but links.</p><ul>${items.join('\n')}</ul></body></html>`;
}

/** A plain text. */
export function text(body: string, parts: Partial<Answer> = {}): Answer {
  return answer({ headers: { 'content-type': 'text/plain; charset=utf-8' }, body, ...parts });
}

/** A redirect. */
export function redirect(location: string, status = 302): Answer {
  return answer({ status, headers: { location, 'content-type': 'text/html' }, body: '<p>elsewhere</p>' });
}
