// Cases about the shipped format of a bulk transfer (Part A).
import { gzipSync } from 'node:zlib';
import { type SentText, urlOf } from '../broker-bench.js';
import { must, should } from '../case.js';
import { bytes } from '../printable.js';
import { type BulkClientCase, fails, reads, replies } from './bench.js';
import { full, group, object, SUCCESS, updated, updates } from './replies.js';

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
  must('groups/any-order', 'BT-15', 'S')
    .title('reads the groups in any order')
    .does(
      reads,
      SUCCESS + group('UPDATE', TWO) + group('DELETE', full('stork')) + group('REFRESH', full('crane')),
      [...TWO_TEXTS, DELETED, REFRESHED],
    ),
  must('groups/missing', 'BT-15', 'S')
    .title('reads a transfer of one group')
    .does(reads, SUCCESS + group('UPDATE', TWO), TWO_TEXTS),
  must('groups/repeated', 'BT-15', 'S')
    .title('reads groups that are repeated')
    .does(
      reads,
      SUCCESS + updates(full('otter')) + group('DELETE', full('stork')) + group('UPDATE', full('heron')),
      [...TWO_TEXTS, DELETED],
    ),
  must('groups/all-empty', 'BT-15 BT-17', 'M1.2')
    .title('accepts three empty groups as a complete transfer')
    .does(reads, SUCCESS + updates(''), [], { hiddenTexts: ['otter'] }),
  must('groups/one-line', 'BT-15 BT-17', 'M1.2')
    .title('reads empty groups on one line')
    .does(reads, `${SUCCESS}@DELETE { }\n@REFRESH { }\n@UPDATE {\n${TWO}}\n`, TWO_TEXTS),
  must('groups/any-case', 'BT-18', 'G')
    .title('reads the keywords of the groups in any case')
    .does(reads, `${SUCCESS}@delete {\n}\n@Refresh {\n}\n@update {\n${TWO}}\n`, TWO_TEXTS, {
      hiddenTexts: ['trap'],
    }),
  must('groups/white-space', 'BT-15 BT-18', 'G')
    .title('reads any white space between the tokens of groups')
    .does(
      reads,
      `${SUCCESS}\n\n@DELETE\t{\n\n}\n  @REFRESH   {\n}\n\n\n@UPDATE {\n\n${full('otter')}\n \t${full('heron')}\n}\n\n`,
      TWO_TEXTS,
    ),
  should('groups/run-on', 'BT-18', 'G; project choice')
    .title('reads a group that begins on the line where another ends')
    .does(reads, `${SUCCESS}@DELETE { } @REFRESH { } @UPDATE {\n${TWO}}\n`, TWO_TEXTS),
  must('objects/bare', 'BT-20', 'inferred: RC')
    .title('reads objects outside of any group as updated ones')
    .does(reads, SUCCESS + TWO, TWO_TEXTS),
  must('objects/type', 'BT-16', 'G')
    .title('reads objects of another template type')
    .does(
      reads,
      SUCCESS + updates(object('otter', { Title: 'ottertitle' }, 'DOCUMENT') + full('heron')),
      TWO_TEXTS,
    ),
  must('objects/binary', 'BT-16', 'G')
    .title('counts bytes, whatever they are')
    .does(
      reads,
      SUCCESS +
        updates(object('otter', { Body: '\x00\x80\xff\xc3\r\n', Title: 'ottertitle' }) + full('heron')),
      TWO_TEXTS,
    ),
  must('objects/large', 'BT-16', 'G')
    .title('reads a value of 300 000 bytes')
    .does(reads, SUCCESS + updates(object('otter', { Title: LARGE }) + full('heron')), [
      { kind: 'update', text: urlOf('otter') },
      { kind: 'value', text: 'lastword' },
      ...updated('heron'),
    ]),
  ...TRAPS.map(([id, text]) =>
    must(`objects/holds-${id}`, 'BT-16 BT-18', 'G')
      .title(`counts the bytes of a value that has a line like ${JSON.stringify(text.split('\n').at(-2))}`)
      .does(
        reads,
        SUCCESS + updates(object('otter', { Body: `a\n${text}b`, Title: 'ottertitle' }) + full('heron')),
        TWO_TEXTS,
      ),
  ),
  must('lines/no-success', 'BT-10', 'RC')
    .title('needs no line 000 before the data')
    .does(reads, updates(TWO), TWO_TEXTS),
  must('lines/success-behind', 'BT-10', 'RC')
    .title('skips a line 000 after the data')
    .does(reads, `${updates(TWO)}000 - Bulk transfer done\n`, TWO_TEXTS),
  must('lines/success-between', 'BT-10', 'RC')
    .title('skips a line 000 between groups')
    .does(reads, `${group('DELETE')}000 - half of it\n${group('UPDATE', TWO)}`, TWO_TEXTS),
  ...(['099', '499'] as const).map((code) =>
    should(`lines/end-${code}`, 'BT-11', 'RC; project choice')
      .title(`reads a line ${code} as the end of a transfer, which is complete`)
      .does(reads, `${PLAIN}${code} - Sent 2 objects\n@UPDATE {\n${full('trap')}}\n`, TWO_TEXTS, {
        hiddenTexts: ['trap'],
      }),
  ),
  should('lines/end-in-group', 'BT-11 BT-19', 'RC; project choice')
    .title('reports a failure when a line 499 comes within a group')
    .does(fails, `${SUCCESS}${updates(TWO).slice(0, -2)}499 - Sent 2 objects\n`),
  should('error/status', 'BT-10', 'S')
    .title('reports a failure after a line 400')
    .does(fails, '400 - ERROR: pelican\n'),
  should('error/shown', 'BT-10', 'S')
    .title('shows the text of a line 400')
    .does(replies, { behavior: { reply: '400 - ERROR: pelican\n' }, shownMessage: 'pelican' }),
  should('cut/in-object', 'BT-19', 'project choice')
    .title('reports a failure when the transfer ends inside an object')
    .does(fails, SUCCESS + updates(TWO).slice(0, -30)),
  should('cut/in-group', 'BT-19', 'project choice')
    .title('reports a failure when the transfer ends inside a group')
    .does(fails, SUCCESS + updates(TWO).slice(0, -2)),
  should('cut/in-header', 'BT-19', 'project choice')
    .title('reports a failure when the transfer ends inside a group header')
    .does(fails, `${SUCCESS}${group('DELETE')}@REFR`),
  should('cut/nothing', 'BT-19', 'project choice')
    .title('reports a failure when the transfer ends without any data')
    .does(fails, ''),
  should('cut/reset', 'BT-19', 'project choice')
    .title('reports a failure when the transfer ends with a reset')
    .does(replies, {
      behavior: { reply: SUCCESS + updates(TWO).slice(0, -30), reset: true },
      outcome: 'failure',
    }),
  should('cut/keeps-objects', 'BT-19', 'project choice')
    .title('shows the objects that were complete when the transfer broke off')
    .does(replies, {
      behavior: { reply: SUCCESS + updates(full('otter') + full('heron') + full('stork')).slice(0, -30) },
      shownTexts: TWO_TEXTS,
      hiddenTexts: ['stork'],
    }),
  should('refused/gatherer', 'BT-9', 'RC; project choice')
    .title('reports a failure when the peer is a Gatherer')
    .does(replies, {
      behavior: { greeting: '000 - HELLO 1.8 gatherer.example.org\n', reply: '900 - Unknown command\n' },
      outcome: 'failure',
    }),
  should('gzip/tolerated', 'BT-13', 'project choice')
    .title('decompresses data that should not be compressed')
    .does(reads, SUCCESS + gzipSync(bytes(updates(TWO))).toString('latin1'), TWO_TEXTS),
  must('delivery/bytes', 'BT-14', 'S')
    .title('reads an answer that arrives byte by byte')
    .does(reads, '', TWO_TEXTS, { behavior: { reply: PLAIN, delivery: 'bytes' } }),
  must('delivery/slow', 'BT-14', 'S')
    .title('reads an answer that arrives in pieces with pauses')
    .does(reads, '', TWO_TEXTS, { behavior: { reply: PLAIN, delivery: 'slow' } }),
];
