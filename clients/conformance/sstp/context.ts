// The context of the cases for a References Server.
import { type ConformanceCase, check, checkMatches, Mismatch, NotApplicable } from '../case.js';
import { printable } from '../printable.js';
import { ServerContext, type ServerFacts } from '../server-context.js';
import type { Wire } from '../wire.js';

/** A reply as received, read strictly and without the codec of this kit. */
export interface Reply {
  readonly code: number;
  /** The lines up to the empty one, without LF; a CR is still there. */
  readonly lines: readonly string[];
  /** Names in capitals; values without blanks around them. */
  readonly headers: readonly (readonly [name: string, value: string])[];
}

/** More lines than any reply to these cases has. */
const MAX_LINES = 20_000;

/** Reads one reply. Rejects with Mismatch if it is not one, with ConnectionError if none arrives. */
export async function readReply(wire: Wire): Promise<Reply> {
  const lines: string[] = [];
  for (let line = await wire.line(); line.replace(/\r$/, '') !== ''; line = await wire.line()) {
    // Checked immediately: bytes that are not a reply may have no empty line.
    if (lines.length === 0 && !/^SSTP\/\d+\.\d+ \d{3}(?: |\r?$)/.test(line))
      throw new Mismatch('not a reply', { expected: 'SSTP/1.0 NNN SYMBOL', received: printable(line) });
    lines.push(line);
    if (lines.length > MAX_LINES)
      throw new Mismatch('an endless reply', { expected: 'an empty line', received: '' });
  }
  check(lines.length > 0, 'an empty line before a reply', {
    expected: 'SSTP/1.0 NNN SYMBOL',
    received: '(empty)',
  });
  const headers = lines.slice(1).map((line) => {
    const colon = line.indexOf(':');
    return [line.slice(0, Math.max(0, colon)).toUpperCase(), line.slice(colon + 1).trim()] as const;
  });
  return { code: Number(/ (\d{3})/.exec(lines[0]!)![1]), lines, headers };
}

/** The head of an HTTP answer: the status line, and the headers as they came. */
export interface HttpAnswer {
  readonly status: number;
  readonly head: string;
}

/** Reads an HTTP answer to the end of the connection. @param what names the request in messages @throws Mismatch */
export async function readHttp(wire: Wire, what: string): Promise<HttpAnswer> {
  const lines: string[] = [];
  for (let line = await wire.line(); line.replace(/\r$/, '') !== ''; line = await wire.line()) {
    // Checked immediately: bytes that are not HTTP may have no empty line.
    if (lines.length === 0)
      checkMatches(
        line,
        /^HTTP\/1\.[01] \d{3}(?: |\r?$)/,
        `not an answer of HTTP: ${what}`,
        'HTTP/1.0 404 ...',
      );
    lines.push(line);
  }
  while ((await wire.read()) !== undefined);
  const head = lines.map((line) => `${line}\n`).join('');
  return { status: Number(head.slice(9, 12)), head };
}

export function formatReply(reply: Reply): string {
  return printable(reply.lines.map((line) => `${line}\n`).join(''), 300);
}

/** Returns the values of a header, in order. */
export function valuesOf({ headers }: Reply, name: string): readonly string[] {
  return headers.filter(([key]) => key === name).map(([, value]) => value);
}

/** Checks that the reply has this code. @throws Mismatch */
export function checkCode(reply: Reply, code: number, what: string): void {
  check(reply.code === code, `wrong answer to ${what}`, {
    expected: `SSTP/1.0 ${String(code).padStart(3, '0')}`,
    received: formatReply(reply),
  });
}

/** Checks that a link request was served: the reply has its code or 404 (S-40, S-41). @throws Mismatch */
export function checkServed(reply: Reply, code: number, what: string): void {
  check(reply.code === code || reply.code === 404, `not served: ${what}`, {
    expected: `SSTP/1.0 ${String(code).padStart(3, '0')}, or 404`,
    received: formatReply(reply),
  });
}

/**
 * Formats a link reply: total, start, number, IDs; `nothing found` for a 404 and for a total of 0 (R-27, S-41).
 */
export function resultOf(reply: Reply): string {
  const one = (name: string) => valuesOf(reply, name).join(' and ') || 'no';
  const ids = valuesOf(reply, 'HEADER_URI_ID');
  const found = one('HEADER_NUMFOUND');
  if ((reply.code === 404 || found === '0') && ids.length === 0) return 'nothing found';
  return `found ${found}, start ${one('HEADER_START_RESULTS')}, ${one('HEADER_NUMRESULTS')} returned: ${ids.join(' ')}`;
}

export type SstpCase = ConformanceCase<SstpContext>;

/** A request for the links of a document, which every References Server answers with its code or with 404. */
export const PLAIN = 'SSTP/1.0 081 REQ_GET_REFERENCES\r\nHEADER_URI_ID: 10\r\nHEADER_NUMRESULTS: 5\r\n\r\n';

/** Facts that the cases of a run share. */
export interface SharedFacts extends ServerFacts {
  /** Whether the server serves the fixture of section R13; undefined: not known yet. */
  fixture: boolean | undefined;
}

/** Context of a case. Its connections are closed when it ends. */
export class SstpContext extends ServerContext<SharedFacts> {
  /** Sends octets on a new connection and reads one reply. */
  async ask(request: string, recorded = true): Promise<Reply> {
    const wire = await this.connect(recorded);
    await wire.send(request);
    return readReply(wire);
  }

  /** Checks that the server answers 400 and closes the connection (S-39). @throws Mismatch */
  async checkRefused(request: string, what: string, code = 400): Promise<void> {
    const wire = await this.connect();
    await wire.send(request);
    checkCode(await readReply(wire), code, what);
    await wire.expectEnd(`the ${code}`);
  }

  /** @throws NotApplicable if the server does not serve the fixture */
  async requireFixture(): Promise<void> {
    if (this.shared.fixture === undefined) {
      const known = 'SSTP/1.0 008 REQ_GET_URL_BYNAME\r\nHEADER_URL: http://a.example:81/\r\n\r\n';
      const [links, described] = [await this.ask(PLAIN, false), await this.ask(known, false)];
      // One correct reply is enough: the cases check the other.
      this.shared.fixture = resultOf(links).endsWith(': 11 20 12') || described.code === 8;
    }
    if (!this.shared.fixture) throw new NotApplicable('the server does not serve the fixture');
  }
}
