// References Servers that differ from the kit's own in what the rules leave free.
import type { Variant } from './mutant.js';
import type { SstpChange } from './sstp-link.js';

const inReply = (name: string, rule: string, edit: (reply: string) => string): Variant<SstpChange> => ({
  name,
  rule,
  change: { reply: edit },
});

export const SSTP_VARIANTS: readonly Variant<SstpChange>[] = [
  inReply('a total of 0 is answered with the code of the request', 'S-41', (reply) =>
    reply
      .replace('404 REQ_PUT_NOT_FOUND', '081 REQ_GET_REFERENCES')
      .replace(
        'NUMFOUND: 0\r\n\r\n',
        'NUMFOUND: 0\r\nHEADER_START_RESULTS: 0\r\nHEADER_NUMRESULTS: 0\r\n\r\n',
      ),
  ),
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
