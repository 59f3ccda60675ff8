// Cases about the shipped format of a bulk transfer (Part A).
import { gzipSync } from 'node:zlib';
import { bytes, type SentText } from '../broker-bench.js';
import type { BulkClientCase } from './bench.js';
import { full, group, object, SUCCESS, updated, updates, urlOf } from './replies.js';
import { readsCase, replyCase } from './reply-case.js';

const TWO = full('otter') + full('heron');
const TWO_TEXTS = updated('otter', 'heron');
const PLAIN = SUCCESS + updates(TWO);
const LARGE = `firstword ${'x'.repeat(300_000)} lastword`;
const DELETED: SentText<'delete' | 'refresh'> = { kind: 'delete', text: urlOf('stork') };
const REFRESHED: SentText<'delete' | 'refresh'> = { kind: 'refresh', text: urlOf('crane') };

/** Values that a client that reads lines instead of counting bytes mistakes for something else. */
const TRAPS: readonly (readonly [id: string, text: string])[] = [
  ['close', '}\n'],
  ['group', '}\n}\n@DELETE {\n'],
  ['object', '@FILE { http://trap.example.org/\n'],
  ['end-line', '499 - done\n'],
  ['error-line', '400 - ERROR: trap\n'],
];

/** The variants of the shipped format that a client must read: sections A2 and A3. */
export const shippedCases: readonly BulkClientCase[] = [
  readsCase(
    'groups/any-order',
    'reads the groups in any order',
    ['BT-15'],
    'S',
    SUCCESS + group('UPDATE', TWO) + group('DELETE', full('stork')) + group('REFRESH', full('crane')),
    [...TWO_TEXTS, DELETED, REFRESHED],
  ),
  readsCase(
    'groups/missing',
    'reads a transfer of one group',
    ['BT-15'],
    'S',
    SUCCESS + group('UPDATE', TWO),
    TWO_TEXTS,
  ),
  readsCase(
    'groups/repeated',
    'reads groups that are repeated',
    ['BT-15'],
    'S',
    SUCCESS + updates(full('otter')) + group('DELETE', full('stork')) + group('UPDATE', full('heron')),
    [...TWO_TEXTS, DELETED],
  ),
  readsCase(
    'groups/all-empty',
    'accepts three empty groups as a complete transfer',
    ['BT-15', 'BT-17'],
    'M1.2',
    SUCCESS + updates(''),
    [],
    {
      hiddenTexts: ['otter'],
    },
  ),
  readsCase(
    'groups/one-line',
    'reads empty groups on one line',
    ['BT-17'],
    'M1.2',
    `${SUCCESS}@DELETE { }\n@REFRESH { }\n@UPDATE {\n${TWO}}\n`,
    TWO_TEXTS,
  ),
  readsCase(
    'groups/any-case',
    'reads the keywords of the groups in any case',
    ['BT-18'],
    'G',
    `${SUCCESS}@delete {\n}\n@Refresh {\n}\n@update {\n${TWO}}\n`,
    TWO_TEXTS,
    { hiddenTexts: ['trap'] },
  ),
  readsCase(
    'groups/white-space',
    'reads any white space between the tokens of groups',
    ['BT-15', 'BT-18'],
    'G',
    `${SUCCESS}\n\n@DELETE\t{\n\n}\n  @REFRESH   {\n}\n\n\n@UPDATE {\n\n${full('otter')}\n \t${full('heron')}\n}\n\n`,
    TWO_TEXTS,
  ),
  readsCase(
    'groups/run-on',
    'reads a group that begins on the line where another ends',
    ['BT-18'],
    'G; project choice',
    `${SUCCESS}@DELETE { } @REFRESH { } @UPDATE {\n${TWO}}\n`,
    TWO_TEXTS,
    { level: 'SHOULD' },
  ),
  readsCase(
    'objects/bare',
    'reads objects outside of any group as updated ones',
    ['BT-20'],
    'inferred: RC',
    SUCCESS + TWO,
    TWO_TEXTS,
  ),
  readsCase(
    'objects/type',
    'reads objects of another template type',
    ['BT-16'],
    'G',
    SUCCESS + updates(object('otter', { Title: 'ottertitle' }, 'DOCUMENT') + full('heron')),
    TWO_TEXTS,
  ),
  readsCase(
    'objects/binary',
    'counts bytes, whatever they are',
    ['BT-16'],
    'G',
    SUCCESS + updates(object('otter', { Body: '\x00\x80\xff\xc3\r\n', Title: 'ottertitle' }) + full('heron')),
    TWO_TEXTS,
  ),
  readsCase(
    'objects/large',
    'reads a value of 300 000 bytes',
    ['BT-16'],
    'G',
    SUCCESS + updates(object('otter', { Title: LARGE }) + full('heron')),
    [{ kind: 'update', text: urlOf('otter') }, { kind: 'value', text: 'lastword' }, ...updated('heron')],
  ),
  ...TRAPS.map(([id, text]) =>
    readsCase(
      `objects/holds-${id}`,
      `counts the bytes of a value that has a line like ${JSON.stringify(text.split('\n').at(-2))}`,
      ['BT-16', 'BT-18'],
      'G',
      SUCCESS + updates(object('otter', { Body: `a\n${text}b`, Title: 'ottertitle' }) + full('heron')),
      TWO_TEXTS,
    ),
  ),
  readsCase(
    'lines/no-success',
    'needs no line 000 before the data',
    ['BT-10'],
    'RC',
    updates(TWO),
    TWO_TEXTS,
  ),
  readsCase(
    'lines/success-behind',
    'skips a line 000 after the data',
    ['BT-10'],
    'RC',
    `${updates(TWO)}000 - Bulk transfer done\n`,
    TWO_TEXTS,
  ),
  readsCase(
    'lines/success-between',
    'skips a line 000 between groups',
    ['BT-10'],
    'RC',
    `${group('DELETE')}000 - half of it\n${group('UPDATE', TWO)}`,
    TWO_TEXTS,
  ),
  replyCase({
    id: 'lines/end',
    title: 'reads a line 099 as the end',
    rules: ['BT-11'],
    source: 'RC; project choice',
    level: 'SHOULD',
    behavior: { reply: `${PLAIN}099 - end\n@UPDATE {\n${full('trap')}}\n` },
    shownTexts: TWO_TEXTS,
    hiddenTexts: ['trap'],
  }),
  replyCase({
    id: 'lines/end-error',
    title: 'reads a line 499 as the end and shows the objects before it',
    rules: ['BT-11'],
    source: 'RC; project choice',
    level: 'SHOULD',
    behavior: { reply: `${PLAIN}499 - end\n@UPDATE {\n${full('trap')}}\n` },
    shownTexts: TWO_TEXTS,
    hiddenTexts: ['trap'],
  }),
  replyCase({
    id: 'error/status',
    title: 'reports a failure after a line 400',
    rules: ['BT-10'],
    source: 'S',
    level: 'SHOULD',
    behavior: { reply: '400 - ERROR: pelican\n' },
    outcome: 'failure',
  }),
  replyCase({
    id: 'error/shown',
    title: 'shows the text of a line 400',
    rules: ['BT-10'],
    source: 'S',
    level: 'SHOULD',
    behavior: { reply: '400 - ERROR: pelican\n' },
    shownMessage: 'pelican',
  }),
  cutCase('in-object', 'inside an object', SUCCESS + updates(TWO).slice(0, -30)),
  cutCase('in-group', 'inside a group', SUCCESS + updates(TWO).slice(0, -2)),
  cutCase('in-header', 'inside a group header', `${SUCCESS}${group('DELETE')}@REFR`),
  cutCase('nothing', 'without any data', ''),
  cutCase('reset', 'with a reset', SUCCESS + updates(TWO).slice(0, -30), { reset: true }),
  replyCase({
    id: 'cut/keeps-objects',
    title: 'shows the objects that were complete when the transfer broke off',
    rules: ['BT-19'],
    source: 'project choice',
    level: 'SHOULD',
    behavior: { reply: SUCCESS + updates(full('otter') + full('heron') + full('stork')).slice(0, -30) },
    shownTexts: TWO_TEXTS,
    hiddenTexts: ['stork'],
  }),
  replyCase({
    id: 'refused/gatherer',
    title: 'reports a failure when the peer is a Gatherer',
    rules: ['BT-9'],
    source: 'RC; project choice',
    level: 'SHOULD',
    behavior: { greeting: '000 - HELLO 1.8 gatherer.example.org\n', reply: '900 - Unknown command\n' },
    outcome: 'failure',
  }),
  readsCase(
    'gzip/tolerated',
    'decompresses data that should not be compressed',
    ['BT-13'],
    'project choice',
    SUCCESS + gzipSync(bytes(updates(TWO))).toString('latin1'),
    TWO_TEXTS,
    { level: 'SHOULD' },
  ),
  readsCase('delivery/bytes', 'reads an answer that arrives byte by byte', ['BT-14'], 'S', '', TWO_TEXTS, {
    behavior: { reply: PLAIN, delivery: 'bytes' },
  }),
  readsCase(
    'delivery/slow',
    'reads an answer that arrives in pieces with pauses',
    ['BT-14'],
    'S',
    '',
    TWO_TEXTS,
    {
      behavior: { reply: PLAIN, delivery: 'slow' },
    },
  ),
];

/** Builds a case about an incomplete transfer, which the client must report (BT-19). */
function cutCase(
  id: string,
  where: string,
  reply: string,
  more: { readonly reset?: boolean } = {},
): BulkClientCase {
  return replyCase({
    id: `cut/${id}`,
    title: `reports a failure when the transfer ends ${where}`,
    rules: ['BT-19'],
    source: 'project choice',
    level: 'SHOULD',
    behavior: { reply, ...more },
    outcome: 'failure',
  });
}
