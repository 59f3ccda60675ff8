// Cases about what the client makes of replies.
import { must, should } from '../case.js';
import { fails, reads, refused, type SstpClientCase } from './bench.js';
import { changed, edited, IDS, linkReply } from './replies.js';

/** With the three other headers they are the 100000 lines that a client accepts. */
const MANY = Array.from({ length: 99_997 }, (_, i) => 300_000 + i);

/** Replies that are right, in all forms that a receiver accepts. */
export const replyCases: readonly SstpClientCase[] = [
  must('reply/header-order', 'S-21', 'project choice')
    .title('reads headers in any order, and keeps that of the IDs')
    .does(
      reads,
      changed(([start = '', found = '', from = '', count = '', ...ids]) => [
        start,
        ...ids.slice(0, 2),
        count,
        ...ids.slice(2),
        from,
        found,
      ]),
    ),
  must('reply/names', 'S-31', 'project choice')
    .title('reads names in any case, and values with spaces and tabs around them or none')
    .does(
      reads,
      changed((lines) =>
        lines.map((line, i) =>
          i === 0
            ? line
            : line.replace(/^(\w+): (.*)$/, (_, name: string, value: string) => nameIn(i, name, value)),
        ),
      ),
    ),
  must('reply/line-feed', 'S-30', 'project choice')
    .title('reads lines that end in LF alone')
    .does(
      reads,
      edited((reply) => reply.replaceAll('\r\n', '\n')),
    ),
  must('reply/phrase', 'S-29', 'project choice')
    .title('ignores the phrase of a reply')
    .does(reads, withStart('404 is what this is not \xfc: 081')),
  must('reply/empty-phrase', 'S-29', 'project choice').title('needs no phrase').does(reads, withStart('')),
  must('reply/no-phrase', 'S-29', 'project choice')
    .title('needs no space after the code')
    .does(reads, withStart(undefined)),
  must('reply/unknown-headers', 'S-33', 'project choice')
    .title(
      'ignores headers that it does not know, and those that are no parameters of the reply, also repeated',
    )
    .does(
      reads,
      changed(([start = '', ...rest]) => [
        start,
        'X_NOTE: 123',
        'HEADER_URL: http://trap.example.org/',
        'HEADER_SERVER_ID: none',
        ...rest,
        'HEADER_SERVER_ID: nothing',
        'X_NOTE:',
      ]),
    ),
  must('reply/leading-zeros', 'S-34', 'project choice')
    .title('reads numbers with leading zeros')
    .does(
      reads,
      edited((reply) => reply.replace(/(?<=ID: )(?=\d)/g, '000000000000').replace(/NUMFOUND: /, '$&0')),
    ),
  must('reply/no-start', 'R-24', 'seed; project choice')
    .title('takes a reply without HEADER_START_RESULTS as one from the beginning')
    .does(
      reads,
      changed((lines) => lines.filter((line) => !line.startsWith('HEADER_START_RESULTS'))),
    ),
  must('reply/many', 'S-38', 'project choice')
    .title('reads a reply of 100000 header lines')
    .within(60_000)
    .does(reads, (request) => linkReply(request, MANY), MANY),
  must('reply/bytes', 'S-48', 'project choice')
    .title('reads a reply that arrives byte by byte')
    .does(reads, (request) => linkReply(request), IDS, { delivery: 'bytes' }),
  must('reply/slow', 'S-48', 'project choice')
    .title('reads a reply that arrives in pieces, with pauses')
    .does(reads, (request) => linkReply(request), IDS, { delivery: 'slow' }),
  should('reply/closed', 'S-39', 'project choice')
    .title('reads a reply after which the server closes')
    .does(reads, (request) => linkReply(request), IDS, { after: 'close' }),
];

/** Replies that say that the server did not do what was asked. */
export const errorCases: readonly SstpClientCase[] = [
  must('error/400', 'S-42', 'project choice')
    .title('reports a failure after 400')
    .does(refused, '400 BAD REQUEST', 'close'),
  must('error/403', 'S-42 S-12', 'seed; project choice')
    .title('reports a failure after 403')
    .does(refused, '403 FORBIDDEN', 'close'),
  must('error/500', 'S-42', 'project choice')
    .title('reports a failure after 500')
    .does(refused, '500 INTERNAL ERROR'),
  must('error/501', 'S-42', 'project choice')
    .title('reports a failure after 501')
    .does(refused, '501 NOT IMPLEMENTED'),
  must('error/503', 'S-42', 'project choice')
    .title('reports a failure after 503')
    .does(refused, '503 SERVICE UNAVAILABLE', 'close'),
  must('error/505', 'S-42', 'project choice')
    .title('reports a failure after 505')
    .does(refused, '505 VERSION NOT SUPPORTED', 'close'),
  must('error/no-phrase', 'S-42 S-29', 'project choice')
    .title('decides by the code of an error, not by its phrase')
    .does(refused, '500 REQ_PUT_NOT_FOUND'),
  must('error/unknown', 'S-42', 'project choice')
    .title('takes a code that it does not know as an error')
    .does(refused, '299 FINE'),
  must('error/other-code', 'S-40 S-42', 'inferred; project choice')
    .title('takes the code of another request as an error, whatever follows')
    .does(
      fails,
      edited((reply) =>
        reply.replace(/^SSTP\/1\.0 \d{3}/, (start) =>
          start.endsWith('081') ? 'SSTP/1.0 082' : 'SSTP/1.0 081',
        ),
      ),
    ),
];

/** Replies that are damaged: the client reports a failure. */
export const damageCases: readonly SstpClientCase[] = [
  must('damage/no-found', 'R-24', 'seed; project choice')
    .title('refuses a reply without HEADER_NUMFOUND')
    .does(
      fails,
      changed((lines) => lines.filter((line) => !line.startsWith('HEADER_NUMFOUND'))),
    ),
  must('damage/fewer', 'R-24', 'seed; project choice')
    .title('refuses a reply with fewer IDs than its HEADER_NUMRESULTS says')
    .does(
      fails,
      changed((lines) => lines.slice(0, -1)),
    ),
  must('damage/more', 'R-24', 'seed; project choice')
    .title('refuses a reply with more IDs than its HEADER_NUMRESULTS says')
    .does(
      fails,
      edited((reply) =>
        reply.replace(/NUMFOUND: 5/, 'NUMFOUND: 6').replace(/\r\n\r\n$/, '\r\nHEADER_URI_ID: 600001\r\n\r\n'),
      ),
    ),
  must('damage/than-found', 'R-24', 'seed; project choice')
    .title('refuses a reply with more IDs than were found')
    .does(
      fails,
      edited((reply) => reply.replace(/NUMFOUND: 5/, 'NUMFOUND: 4')),
    ),
  must('damage/twice', 'S-33', 'project choice')
    .title('refuses a single-valued header that occurs twice, also with equal values')
    .does(
      fails,
      edited((reply) => reply.replace(/HEADER_NUMFOUND: 5\r\n/, '$&$&')),
    ),
  must('damage/modulo', 'S-34 S-10', 'seed; project choice')
    .title('refuses an ID of more than 32 bits')
    .does(fails, idOf('4294967306')),
  must('damage/long-number', 'S-34', 'project choice')
    .title('refuses a number of many digits')
    .does(fails, idOf('99999999999999999999')),
  must('damage/sign', 'S-34', 'project choice')
    .title('refuses a number with a sign')
    .does(fails, idOf('+900007')),
  must('damage/letters', 'S-34', 'project choice')
    .title('refuses a number with other octets in it')
    .does(fails, idOf('900007x')),
  must('damage/no-number', 'S-34', 'project choice').title('refuses an empty number').does(fails, idOf('')),
  must('damage/found-sign', 'S-34', 'project choice')
    .title('refuses a total that is no number')
    .does(
      fails,
      edited((reply) => reply.replace(/NUMFOUND: 5/, 'NUMFOUND: -5')),
    ),
  must('damage/carriage-return', 'S-30', 'project choice')
    .title('refuses a CR that is not directly before a LF, also in an unknown header')
    .does(fails, withLine('X_NOTE: a\rb')),
  must('damage/folded', 'S-32', 'project choice')
    .title('refuses a header line that begins with a space')
    .does(fails, withLine('X_NOTE: first', ' second')),
  must('damage/colon', 'S-32', 'project choice')
    .title('refuses a header line without a colon')
    .does(fails, withLine('X_NOTE')),
  must('damage/name', 'S-32', 'project choice')
    .title('refuses a space before the colon')
    .does(fails, withLine('X_NOTE : 1')),
  must('damage/version-case', 'S-28', 'project choice')
    .title('refuses a start line in small letters')
    .does(
      fails,
      edited((reply) => reply.replace('SSTP/', 'sstp/')),
    ),
  must('damage/two-spaces', 'S-28', 'project choice')
    .title('refuses two spaces before the code')
    .does(
      fails,
      edited((reply) => reply.replace('SSTP/1.0 ', 'SSTP/1.0  ')),
    ),
  must('damage/short-code', 'S-28', 'project choice')
    .title('refuses a code of two digits')
    .does(
      fails,
      edited((reply) => reply.replace(/^SSTP\/1\.0 0/, 'SSTP/1.0 ')),
    ),
  must('damage/other-protocol', 'S-28', 'project choice')
    .title('refuses the reply of another protocol')
    .does(fails, 'HTTP/1.0 200 OK\r\n\r\n', { after: 'close' }),
  must('damage/cut', 'S-39', 'project choice')
    .title('reports a failure when the reply breaks off between two lines')
    .does(
      fails,
      edited((reply) => reply.slice(0, -2)),
      { after: 'close' },
    ),
  must('damage/cut-line', 'S-39', 'project choice')
    .title('reports a failure when the reply breaks off within an ID')
    .does(
      fails,
      edited((reply) => reply.slice(0, -7)),
      { after: 'close' },
    ),
  must('damage/nothing', 'S-39', 'project choice')
    .title('reports a failure when the server closes without a reply')
    .does(fails, '', { after: 'close' }),
  must('damage/reset', 'S-39', 'project choice')
    .title('reports a failure when the connection is reset within a reply')
    .does(
      fails,
      edited((reply) => reply.slice(0, 60)),
      { after: 'reset' },
    ),
  should('damage/no-server', 'S-15', 'project choice')
    .title('reports a failure when no server listens')
    .run(async (context) => context.bench.checkFails(await context.bench.observeNoServer(context), context)),
];

/** The name of a header as a peer of another taste writes it. */
function nameIn(i: number, name: string, value: string): string {
  if (i % 3 === 0) return `${name.toLowerCase()}:${value}`;
  return i % 3 === 1
    ? `${name.replace(/\B\w/g, (letter) => letter.toLowerCase())}: \t${value} `
    : `${name}:\t${value}`;
}

/** The ordinary reply with another phrase; undefined leaves the space out, too. */
function withStart(phrase: string | undefined) {
  return changed(([start = '', ...rest]) => [
    start.slice(0, 'SSTP/1.0 081'.length) + (phrase === undefined ? '' : ` ${phrase}`),
    ...rest,
  ]);
}

/** The ordinary reply with further lines after the first header. */
function withLine(...lines: readonly string[]) {
  return changed(([start = '', first = '', ...rest]) => [start, first, ...lines, ...rest]);
}

/** The ordinary reply with another first ID. */
function idOf(value: string) {
  return edited((reply) => reply.replace(`HEADER_URI_ID: ${IDS[0]}`, `HEADER_URI_ID: ${value}`));
}
