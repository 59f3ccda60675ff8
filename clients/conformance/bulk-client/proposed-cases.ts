// Cases about the interface of 1995 (Part B), for a client that requests it.
import { constants, gzipSync } from 'node:zlib';
import { bytes } from '../broker-bench.js';
import type { BulkClientCase } from './bench.js';
import { count, data, full, group, number, object, updated, updates, urlOf, version } from './replies.js';
import { type ReplyCase, replyCase } from './reply-case.js';

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
  readsCase(
    'plain',
    'reads Version, Header, groups and count',
    ['BP-11', 'BP-12', 'BP-15', 'BP-22'],
    [HEADER, BODY, count(2)],
  ),
  readsCase('no-header', 'needs no Header', ['BP-12'], [BODY, count(2)]),
  readsCase('no-trailer', 'needs no Trailer after groups', ['BP-21'], [HEADER, BODY]),
  readsCase(
    'header-order',
    'reads InfoFields in any order, repeated',
    ['BP-12'],
    ['141 - one 1 3\n101 - welcome\n126 - http://b.example.org/\n141 - two 2 3\n140 - x\n', BODY, count(2)],
  ),
  readsCase(
    'extension',
    'skips an extension of an unknown type by its length',
    ['BP-12', 'BP-13'],
    [`142 - x-unknown\n - ${data('@UPDATE {\n144 - \n\x00\x0a')}`, BODY, count(2)],
  ),
  readsCase(
    'groups-any-order',
    'reads groups in any order and number',
    ['BP-15'],
    [group('UPDATE', full('otter')), group('DELETE'), group('UPDATE', full('heron')), count(2)],
  ),
  readsCase(
    'line-feed-in-number',
    'reads by token: a number may contain the byte 0a',
    ['BP-5', 'BP-1'],
    [BODY, count(2)],
    {
      behavior: { reply: version(1, 10) + BODY + count(2) },
    },
  ),
  readsCase('higher-minor', 'accepts a higher minor version', ['BP-11'], [], {
    source: 'project choice',
    behavior: { reply: version(1, 7) + HEADER + BODY + count(2) },
  }),
  readsCase(
    'compressed',
    'reads a compressed Body',
    ['BP-16'],
    [HEADER, `150 - gzip begin\n${gzipSync(bytes(BODY)).toString('latin1')}151 - gzip end\n`, count(2)],
  ),
  readsCase(
    'compressed-marker',
    'does not look for the end marker in compressed bytes',
    ['BP-16'],
    [
      HEADER,
      `150 - gzip begin\n${gzipSync(bytes(updates(MARKED)), STORED).toString('latin1')}151 - gzip end\n`,
      count(2),
    ],
  ),
  readsCase('delivery-bytes', 'reads a reply that arrives byte by byte', ['BP-5'], [], {
    behavior: { reply: version() + HEADER + BODY + count(2), delivery: 'bytes' },
  }),
  readsCase(
    'shipped',
    'reads the shipped format of a Broker that does not know the interface',
    ['BP-29'],
    [],
    {
      source: 'project choice',
      behavior: { reply: `000 - Bulk transfer follows\n${BODY}` },
    },
  ),
  failureCase(
    'higher-major',
    'stops at a higher major version',
    ['BP-11'],
    version(2, 0) + HEADER + BODY + count(2),
  ),
  failureCase(
    'unknown-code',
    'stops at an unknown code',
    ['BP-28'],
    `${version()}${HEADER}160 - what\n${BODY}${count(2)}`,
  ),
  failureCase(
    'wrong-magic',
    'stops at a wrong magic number',
    ['BP-26'],
    `${version()}142 - x-unknown\n - \x32\x9f\xa1\xd3${number(4)}abcd${BODY}${count(2)}`,
  ),
  failureCase(
    'long-string',
    'stops at a string that is too long',
    ['BP-27'],
    `${version()}101 - ${TOO_LONG}\n${BODY}${count(2)}`,
  ),
  failureCase(
    'no-end-marker',
    'stops when anything but the end marker follows compressed data',
    ['BP-16'],
    `${version()}150 - gzip begin\n${gzipSync(bytes(BODY)).toString('latin1')}${count(2)}`,
  ),
  failureCase(
    'cut-in-group',
    'reports a failure when the groups break off',
    ['BP-15', 'BT-19'],
    version() + BODY.slice(0, -2),
  ),
  failureCase(
    'cut-in-version',
    'reports a failure when the Version breaks off',
    ['BP-11'],
    version().slice(0, 12),
  ),
  failureCase(
    'error',
    'reports a failure after an ERROR',
    ['BP-23'],
    `${version()}111 - ${number(4)}pelican\n`,
    {
      shownMessage: 'pelican',
    },
  ),
  failureCase(
    'error-behind-objects',
    'shows the objects before an ERROR and reports a failure',
    ['BP-21', 'BP-23'],
    `${version()}${BODY}111 - ${number(6)}pelican\n`,
    {
      shownTexts: TWO_TEXTS,
    },
  ),
  proposedCase('wrong-count', 'reports a count that differs from the number received', ['BP-22'], {
    behavior: { reply: version() + BODY + count(7701) },
    shownTexts: TWO_TEXTS,
    shownMessage: '7701',
    level: 'SHOULD',
    source: 'project choice',
  }),
  proposedCase(
    'keeps-objects',
    'shows the objects that were complete before the defect in the reply',
    ['BP-28', 'BT-19'],
    {
      behavior: { reply: `${version()}${BODY}${group('DELETE')}160 - what\n` },
      shownTexts: [{ kind: 'update', text: urlOf('otter') }],
      level: 'SHOULD',
      source: 'project choice',
    },
  ),
];

function proposedCase(
  id: string,
  title: string,
  rules: readonly string[],
  more: Partial<ReplyCase> & Pick<ReplyCase, 'behavior'>,
): BulkClientCase {
  return replyCase({ id: `proposed/${id}`, title, rules, source: 'S', proposed: true, ...more });
}

function readsCase(
  id: string,
  title: string,
  rules: readonly string[],
  afterVersion: readonly string[],
  more: Partial<ReplyCase> = {},
): BulkClientCase {
  const behavior = { reply: version() + afterVersion.join('') };
  return proposedCase(id, title, rules, { behavior, shownTexts: TWO_TEXTS, outcome: 'success', ...more });
}

function failureCase(
  id: string,
  title: string,
  rules: readonly string[],
  reply: string,
  more: Partial<ReplyCase> = {},
): BulkClientCase {
  const source = 'project choice';
  return proposedCase(id, title, rules, {
    behavior: { reply },
    outcome: 'failure',
    level: 'SHOULD',
    source,
    ...more,
  });
}
