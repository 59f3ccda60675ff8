// References Servers that differ from the kit's own in what the rules leave free.
import type { Variant } from './mutant.js';
import { KINDS } from './sstp-builders.js';
import type { SstpChange } from './sstp-link.js';

const inReply = (name: string, rule: string, edit: (reply: string) => string): Variant<SstpChange> => ({
  name,
  rule,
  change: { reply: edit },
});

const KINDS_BY_REQUEST = Object.entries(KINDS).map(
  ([code, kind]) => [new RegExp(`^SSTP/1\\.\\d+ ${code}`), code, kind] as const,
);

export const SSTP_VARIANTS: readonly Variant<SstpChange>[] = [
  {
    name: 'a total of 0 is answered with the code of the request',
    rule: 'S-41',
    change: {
      reply: (reply, request) => {
        const [, code, kind] = KINDS_BY_REQUEST.find(([pattern]) => pattern.test(request)) ?? [];
        if (code === undefined || !reply.startsWith('SSTP/1.0 404')) return reply;
        const start = /START_RESULTS: 0*(\d+)/.exec(request)?.[1] ?? '0';
        return `SSTP/1.0 ${code} REQ_GET_${kind}\r\nHEADER_NUMFOUND: 0\r\nHEADER_START_RESULTS: ${start}\r\nHEADER_NUMRESULTS: 0\r\n\r\n`;
      },
    },
    skips: ['fixture/total-of-404'],
  },
  inReply('an empty total is answered 404', 'S-41', (reply) =>
    /NUMFOUND: 0\r/.test(reply) ? 'SSTP/1.0 404 REQ_PUT_NOT_FOUND\r\nHEADER_NUMFOUND: 0\r\n\r\n' : reply,
  ),
  inReply('refusals have another phrase', 'S-29', (reply) =>
    reply.replace('400 BAD REQUEST', '400 MALFORMED REQUEST'),
  ),
  inReply('501 has another phrase', 'S-29', (reply) => reply.replace(/501 .*/, '501 NOT SERVED HERE')),
  inReply('505 has another phrase', 'S-29', (reply) => reply.replace(/505 .*/, '505 OTHER VERSION')),
  inReply('headers have a blank at their end', 'S-31', (reply) =>
    reply.replace(/^(HEADER_\w+: .*)\r/gm, '$1 \r'),
  ),
  inReply('a result has an unknown header', 'S-33', (reply) =>
    /^SSTP\/1\.0 0/.test(reply) ? reply.replace('\r\n', '\r\nX_SERVER: other\r\n') : reply,
  ),
  inReply('an unknown header ends a result', 'S-33', (reply) =>
    /^SSTP\/1\.0 0/.test(reply) ? reply.replace(/\r\n$/, 'X_SERVER: other\r\n\r\n') : reply,
  ),
];
