import { check, checkEqual, must, NotApplicable, should } from '../case.js';
import { printable } from '../printable.js';
import {
  exchange,
  FAR_FUTURE,
  type GatherdCase,
  inSession,
  surveyed,
  surveyedWith,
  TRANSFER_MS,
} from './context.js';
import { receiveInfo, receiveObject } from './object-cases.js';
import { checkSameStream } from './stream-check.js';
import { receiveCompressed, receiveUpdate } from './transfer.js';
import { checkEndNumber, checkLineForm } from './update-cases.js';

const MEMBER_AND_LF = 'inferred: gatherd NOTES, manual 1.4, beckett; the LF project choice';
const WRAPPED = 'inferred; manual 1.4; the wrappers project choice';
const IN_CLEAR = 'not the stream that comes in clear';
const CLIENTS = 'project choice: clients only combine compression with SEND-UPDATE';

/**
 * SET compression and its effects: section 6. All cases are skipped for a server without compression
 * (GATHERD-6.9).
 */
export const compressionCases: readonly GatherdCase[] = [
  must('compression/accepted', 'GATHERD-3.1 GATHERD-6.9', 'beckett; the second project choice')
    .title(
      'SET compression is answered 500, or 900 by a server without compression, and then the session continues in clear',
    )
    .does(inSession, async (wire) => {
      await wire.send('SET compression\n');
      const { code, line } = await wire.status();
      check(code === 500 || code === 900, 'wrong answer to SET compression', {
        expected: '500 - ..., or 900 - ...',
        received: printable(line),
      });
      if (code === 900) await receiveUpdate(wire, FAR_FUTURE);
    }),
  should('compression/keyword-any-case', 'GATHERD-2.3', 'project choice')
    .title('the keyword is matched without regard to case')
    .does(inSession, async (wire, context) => {
      await context.set(wire, 'compression');
      await exchange(wire, 'set COMPRESSION', 500);
    }),
  must('compression/status-in-clear', 'GATHERD-6.2 GATHERD-6.4', 'beckett')
    .title('the 400 line, 499 and the answer to QUIT are not compressed')
    .run(async (context) => {
      const wire = await context.compressedSession();
      await receiveCompressed(wire, FAR_FUTURE);
      await exchange(wire, 'QUIT', 999);
    }),
  must('compression/line-form', 'GATHERD-1.5 GATHERD-1.6 GATHERD-6.4', 'beckett; roads; broker NOTES')
    .title('the lines before and after the member have the form of other status lines and end in LF only')
    .run(async (context) => {
      const { start, end } = await receiveCompressed(await context.compressedSession(), FAR_FUTURE);
      for (const { line } of [start, end]) checkLineForm(line);
    }),
  must('compression/one-member', 'GATHERD-6.3', 'inferred: gatherd NOTES, manual 1.4, beckett')
    .title('the data is exactly one gzip member')
    .within(TRANSFER_MS)
    .run(async (context) => {
      const { members } = await receiveCompressed(await context.compressedSession(), 0);
      check(members.length === 1, 'more than one gzip member', {
        expected: '1 member',
        received: `${members.length} members`,
      });
    }),
  must('compression/trailer', 'GATHERD-6.3 GATHERD-6.5', 'inferred; RFC 1952')
    .title('checksum and length in the trailer of the member are correct')
    .within(TRANSFER_MS)
    .run(async (context) => {
      const { members } = await receiveCompressed(await context.compressedSession(), 0);
      for (const { crc, size, trailerCrc, trailerSize } of members) {
        const data = `CRC ${hex(crc)}, ${size} bytes`;
        checkEqual(`CRC ${hex(trailerCrc)}, ${trailerSize} bytes`, data, 'the trailer does not fit the data');
      }
    }),
  must('compression/end-line-directly', 'GATHERD-6.3', MEMBER_AND_LF)
    .title('the end line follows the member immediately, or after one LF')
    .run(async (context) => {
      const { gap } = await receiveCompressed(await context.compressedSession(), FAR_FUTURE);
      check(gap === '' || gap === '\n', 'bytes between member and end line', {
        expected: '499 - ..., or one LF before it',
        received: `${printable(gap)}499 - ...`,
      });
    }),
  must('compression/end-number', 'GATHERD-3.1 GATHERD-3.3 GATHERD-6.2', 'beckett; roads; broker NOTES')
    .title('the number of the end line after compressed data is 499; 099 is a number of Brokers')
    .run(async (context) => {
      const { end } = await receiveCompressed(await context.compressedSession(), FAR_FUTURE);
      checkEndNumber(end);
    }),
  must('compression/same-content', 'GATHERD-6.3 GATHERD-10.2', WRAPPED)
    .title('the member holds the stream that is sent in clear, wrappers included')
    .does(surveyed, async ({ transfer }, context) => {
      const compressed = await receiveCompressed(await context.compressedSession(), 0);
      checkSameStream(transfer, compressed, IN_CLEAR);
    }),
  must('compression/incremental', 'GATHERD-6.1 GATHERD-13.4', 'gatherd NOTES; inferred')
    .title('an update since a time is compressed too, with the same content as in clear')
    .does(surveyed, async ({ newest }, context) => {
      if (newest === undefined) throw new NotApplicable('no object has an Update-Time');
      const clear = await receiveUpdate(await context.session(), newest);
      checkSameStream(clear, await receiveCompressed(await context.compressedSession(), newest), IN_CLEAR);
    }),
  must('compression/empty-update', 'GATHERD-4.5 GATHERD-6.3', 'inferred')
    .title('an update without objects is a whole member too')
    .within(TRANSFER_MS)
    .run(async (context) => {
      const clear = await receiveUpdate(await context.session(), FAR_FUTURE);
      checkSameStream(
        clear,
        await receiveCompressed(await context.compressedSession(), FAR_FUTURE),
        IN_CLEAR,
      );
    }),
  must('compression/stays-on', 'GATHERD-6.1 GATHERD-6.5', 'gatherd NOTES; beckett')
    .title('the connection stays open, and the next transfer of the session is compressed too')
    .run(async (context) => {
      const wire = await context.compressedSession();
      await receiveCompressed(wire, FAR_FUTURE);
      await receiveCompressed(wire, FAR_FUTURE);
    }),
  must('compression/info-in-clear', 'GATHERD-6.8', CLIENTS)
    .title('INFO is not compressed')
    .run(async (context) => receiveInfo(await context.compressedSession())),
  must('compression/object-in-clear', 'GATHERD-6.8', CLIENTS)
    .title('SEND-OBJECT is not compressed')
    .does(surveyedWith, 1, async (survey, context) => {
      const [sample] = survey.samples;
      if (sample === undefined) throw new NotApplicable('no object of the database is well-formed');
      await receiveObject(await context.compressedSession(), sample);
    }),
];

function hex(crc: number): string {
  return crc.toString(16).padStart(8, '0');
}
