/** How an answer is sent; all values except the first three are faults. */
export type Manner =
  | 'plain' // HTTP/1.1, Content-Length, the connection is kept
  | 'close' // the same with `Connection: close`
  | 'chunked'
  | 'http/1.0' // no length: the end of the connection is the end of the body
  | 'late' // the first byte takes its time
  | 'drip' // comes in small pieces
  | 'long-drip' // a byte now and then, but more often than a read may take
  | 'hang' // no byte ever
  | 'hang-in-body' // half of the body, then silence
  | 'reset' // the connection is reset instead of an answer
  | 'reset-in-body'
  | 'half' // the connection ends before Content-Length
  | 'more' // more bytes than Content-Length says
  | 'two-lengths' // two Content-Lengths that differ
  | 'bad-chunks' // a chunk whose size is no number
  | 'garbage' // not HTTP
  | 'endless-headers'
  | 'endless-body'; // as fast as it is taken

/** One answer of a site as data, for the server and the judge. */
export interface Answer {
  readonly status: number;
  /** `Retry-After: +3` stands for the HTTP date three seconds from now. */
  readonly headers: Readonly<Record<string, string>>;
  /** Strings are sent as UTF-8. */
  readonly body: string | Uint8Array;
  readonly manner: Manner;
}

/** An answer with default values. */
export function answer(parts: Partial<Answer> = {}): Answer {
  return { status: 200, headers: {}, body: '', manner: 'plain', ...parts };
}

/** A page of HTML that links to others. */
export function html(title: string, links: readonly string[], parts: Partial<Answer> = {}): Answer {
  return answer({
    headers: { 'content-type': 'text/html; charset=utf-8' },
    body: page(title, links),
    ...parts,
  });
}

/** The markup of {@link html}; `head` goes into its head. */
export function page(title: string, links: readonly string[], head = ''): string {
  const items = links.map((href) => `<li><a href="${href.replaceAll('&', '&amp;')}">${title}</a></li>`);
  return `<!DOCTYPE html><html><head><title>${title}</title>${head}</head><body><h1>${title}</h1><p>Nothing but links.</p><ul>${items.join('\n')}</ul></body></html>`;
}

export function text(body: string, parts: Partial<Answer> = {}): Answer {
  return answer({ headers: { 'content-type': 'text/plain; charset=utf-8' }, body, ...parts });
}

export function redirect(location: string, status = 302): Answer {
  return answer({ status, headers: { location, 'content-type': 'text/html' }, body: '<p>elsewhere</p>' });
}
