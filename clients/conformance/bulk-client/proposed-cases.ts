// Cases about the interface of 1995 (Part B), for a client that requests it.
import { constants, gzipSync } from 'node:zlib';
import { urlOf } from '../broker-bench.js';
import type { Procedure } from '../case.js';
import { must, should } from '../case.js';
import { bytes } from '../printable.js';
import { type BulkClientCase, type BulkClientContext, fails, reads, replies } from './bench.js';
import { count, data, full, group, number, object, updated, updates, version } from './replies.js';

const TWO = full('otter') + full('heron');
const TWO_TEXTS = updated('otter', 'heron');
const HEADER =
  '126 - http://broker.example.org/\n140 - example\n141 - gatherer.example.org 8500 3\n101 - welcome\n';
const BODY = updates(TWO);
/** A value that contains the ENDMARKER. It is stored, so that the compressed bytes contain it unchanged. */
const MARKED = object('otter', { Body: 'a\n151 - gzip end\nb', Title: 'ottertitle' }) + full('heron');
const STORED = { level: constants.Z_NO_COMPRESSION };
/** BP-27: a string has at most 64 KiB. */
const TOO_LONG = 'x'.repeat(70_000);

/** Part B, for a client that requests `#interface 2` (BP-29). */
export const proposedCases: readonly BulkClientCase[] = [
  must('proposed/plain', 'BP-11 BP-12 BP-15 BP-22', 'S')
    .title('reads Version, Header, groups and count')
    .does(readsTwo, version() + HEADER + BODY + count(2)),
  must('proposed/no-header', 'BP-12', 'S')
    .title('needs no Header')
    .does(readsTwo, version() + BODY + count(2)),
  must('proposed/no-trailer', 'BP-21', 'S')
    .title('needs no Trailer after groups')
    .does(readsTwo, version() + HEADER + BODY),
  must('proposed/header-order', 'BP-12', 'S')
    .title('reads InfoFields in any order, repeated')
    .does(
      readsTwo,
      version() +
        '141 - one 1 3\n101 - welcome\n126 - http://b.example.org/\n141 - two 2 3\n140 - x\n' +
        BODY +
        count(2),
    ),
  must('proposed/extension', 'BP-12 BP-13', 'S')
    .title('skips an extension of an unknown type by its length')
    .does(
      readsTwo,
      `${version()}142 - x-unknown\n - ${data('@UPDATE {\n144 - \n\x00\x0a')}${BODY}${count(2)}`,
    ),
  must('proposed/groups-any-order', 'BP-15', 'S')
    .title('reads groups in any order and number')
    .does(
      readsTwo,
      version() +
        group('UPDATE', full('otter')) +
        group('DELETE') +
        group('UPDATE', full('heron')) +
        count(2),
    ),
  must('proposed/line-feed-in-number', 'BP-5 BP-1', 'S')
    .title('reads by token: a number may contain the byte 0a')
    .does(readsTwo, version(1, 10) + BODY + count(2)),
  must('proposed/higher-minor', 'BP-11', 'project choice')
    .title('accepts a higher minor version')
    .does(readsTwo, version(1, 7) + HEADER + BODY + count(2)),
  must('proposed/compressed', 'BP-16', 'S')
    .title('reads a compressed Body')
    .does(
      readsTwo,
      version() +
        HEADER +
        `150 - gzip begin\n${gzipSync(bytes(BODY)).toString('latin1')}151 - gzip end\n` +
        count(2),
    ),
  must('proposed/compressed-marker', 'BP-16', 'S')
    .title('does not look for the end marker in compressed bytes')
    .does(
      readsTwo,
      version() +
        HEADER +
        `150 - gzip begin\n${gzipSync(bytes(updates(MARKED)), STORED).toString('latin1')}151 - gzip end\n` +
        count(2),
    ),
  must('proposed/delivery-bytes', 'BP-5', 'S')
    .title('reads a reply that arrives byte by byte')
    .does(
      proposed,
      reads('', TWO_TEXTS, {
        behavior: { reply: version() + HEADER + BODY + count(2), delivery: 'bytes' },
      }),
    ),
  must('proposed/shipped', 'BP-29', 'project choice')
    .title('reads the shipped format of a Broker that does not know the interface')
    .does(readsTwo, `000 - Bulk transfer follows\n${BODY}`),
  should('proposed/higher-major', 'BP-11', 'project choice')
    .title('stops at a higher major version')
    .does(proposed, fails(version(2, 0) + HEADER + BODY + count(2))),
  should('proposed/unknown-code', 'BP-28', 'project choice')
    .title('stops at an unknown code')
    .does(proposed, fails(`${version()}${HEADER}160 - what\n${BODY}${count(2)}`)),
  should('proposed/wrong-magic', 'BP-26', 'project choice')
    .title('stops at a wrong magic number')
    .does(
      proposed,
      fails(`${version()}142 - x-unknown\n - \x32\x9f\xa1\xd3${number(4)}abcd${BODY}${count(2)}`),
    ),
  should('proposed/long-string', 'BP-27', 'project choice')
    .title('stops at a string that is too long')
    .does(proposed, fails(`${version()}101 - ${TOO_LONG}\n${BODY}${count(2)}`)),
  should('proposed/no-end-marker', 'BP-16', 'project choice')
    .title('stops when anything but the end marker follows compressed data')
    .does(
      proposed,
      fails(`${version()}150 - gzip begin\n${gzipSync(bytes(BODY)).toString('latin1')}${count(2)}`),
    ),
  should('proposed/cut-in-group', 'BP-15 BT-19', 'project choice')
    .title('reports a failure when the groups break off')
    .does(proposed, fails(version() + BODY.slice(0, -2))),
  should('proposed/cut-in-version', 'BP-11', 'project choice')
    .title('reports a failure when the Version breaks off')
    .does(proposed, fails(version().slice(0, 12))),
  should('proposed/error', 'BP-23', 'project choice')
    .title('reports a failure after an ERROR')
    .does(proposed, fails(`${version()}111 - ${number(4)}pelican\n`, { shownMessage: 'pelican' })),
  should('proposed/error-behind-objects', 'BP-21 BP-23', 'project choice')
    .title('shows the objects before an ERROR and reports a failure')
    .does(proposed, fails(`${version()}${BODY}111 - ${number(6)}pelican\n`, { shownTexts: TWO_TEXTS })),
  should('proposed/wrong-count', 'BP-22', 'project choice')
    .title('reports a count that differs from the number received')
    .does(
      proposed,
      replies({
        behavior: { reply: version() + BODY + count(7701) },
        shownTexts: TWO_TEXTS,
        shownMessage: '7701',
      }),
    ),
  should('proposed/keeps-objects', 'BP-28 BT-19', 'project choice')
    .title('shows the objects that were complete before the defect in the reply')
    .does(
      proposed,
      replies({
        behavior: { reply: `${version()}${BODY}${group('DELETE')}160 - what\n` },
        shownTexts: [{ kind: 'update', text: urlOf('otter') }],
      }),
    ),
];

/** Skips the case for a client that does not request the interface. */
function proposed(run: Procedure<BulkClientContext>): Procedure<BulkClientContext> {
  return async (context) => {
    await context.bench.requireProposed(context);
    await run(context);
  };
}

/** Sends a complete reply with the objects of {@link TWO}. */
function readsTwo(reply: string): Procedure<BulkClientContext> {
  return proposed(reads(reply, TWO_TEXTS));
}
