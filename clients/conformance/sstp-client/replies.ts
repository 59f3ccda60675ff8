/*
 * Builds the replies that the suite sends to a client under test, without `protocols/`. Each character is a byte.
 */

/** A link request as the scripted server reads it. */
export interface LinkRequest {
  /** Three digits; empty if the start line has none. */
  readonly code: string;
  /** Names in capitals, values without blanks around them. */
  readonly headers: ReadonlyMap<string, string>;
}

const SYMBOLS: Readonly<Record<string, string>> = {
  '081': 'REQ_GET_REFERENCES',
  '082': 'REQ_GET_REFERERS',
  '083': 'REQ_GET_SITEREFERENCES',
  '084': 'REQ_GET_SITEREFERERS',
};

/** The IDs of the ordinary reply, in no order, the greatest one among them; no other number in it is as long. */
export const IDS: readonly number[] = [900007, 1000003, 4294967295, 700001, 800009];

/** The start line with which a request is answered. */
function startLine({ code }: LinkRequest): string {
  return `SSTP/1.0 ${code} ${SYMBOLS[code] ?? ''}`;
}

/** A number from a header of a request; undefined without it. */
export function numberIn({ headers }: LinkRequest, name: string): number | undefined {
  const value = headers.get(name);
  return value === undefined ? undefined : Number(value);
}

/** The lines of a message, each ended by CR LF, and the empty line. */
export function message(...lines: readonly string[]): string {
  return [...lines, ''].map((line) => `${line}\r\n`).join('');
}

/** The lines of {@link linkReply}. */
export function linkLines(request: LinkRequest, ids: readonly number[] = IDS, most = ids.length): string[] {
  const start = numberIn(request, 'HEADER_START_RESULTS') ?? 0;
  const count = Math.min(most, numberIn(request, 'HEADER_NUMRESULTS') ?? most);
  const page = ids.slice(start, start + count);
  return [
    startLine(request),
    `HEADER_NUMFOUND: ${ids.length}`,
    `HEADER_START_RESULTS: ${start}`,
    `HEADER_NUMRESULTS: ${page.length}`,
    ...page.map((id) => `HEADER_URI_ID: ${id}`),
  ];
}

/** The reply to a link request, at most `most` IDs of it. */
export function linkReply(request: LinkRequest, ids?: readonly number[], most?: number): string {
  return message(...linkLines(request, ids, most));
}

/** The ordinary reply with changed lines. */
export function changed(edit: (lines: string[]) => readonly string[]) {
  return (request: LinkRequest): string => message(...edit(linkLines(request)));
}

/** The ordinary reply with changed bytes. */
export function edited(edit: (reply: string) => string) {
  return (request: LinkRequest): string => edit(linkReply(request));
}

/** A total of 0 with the code of the request. */
export function nothingFound(request: LinkRequest): string {
  return linkReply(request, []);
}

/** The other form of an empty result. */
export const NOT_FOUND = message('SSTP/1.0 404 REQ_PUT_NOT_FOUND', 'HEADER_NUMFOUND: 0');
