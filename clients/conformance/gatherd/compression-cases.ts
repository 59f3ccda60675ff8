import { check, NotApplicable } from '../case.js';
import { printable } from '../printable.js';
import { FAR_FUTURE, type GatherdCase } from './context.js';
import { receiveInfo, receiveObject } from './object-cases.js';
import { type CompressedTransfer, receiveCompressed, receiveUpdate } from './transfer.js';
import { checkEndNumber, checkLineForm, TRANSFER_MS } from './update-cases.js';

/** SET compression and its effects: section 6. All cases are skipped for a server without compression (GATHERD-6.9). */
export const compressionCases: readonly GatherdCase[] = [
  {
    id: 'compression/accepted',
    title:
      'SET compression is answered 500, or 900 by a server without compression, and then the session continues in clear',
    rules: ['GATHERD-3.1', 'GATHERD-6.9'],
    source: 'beckett; the second project choice',
    level: 'MUST',
    async run(context) {
      const wire = await context.session();
      await wire.send('SET compression\n');
      const { code, line } = await wire.status();
      check(code === 500 || code === 900, 'wrong answer to SET compression', {
        expected: '500 - ..., or 900 - ...',
        received: printable(line),
      });
      if (code === 900) await receiveUpdate(wire, FAR_FUTURE);
    },
  },
  {
    id: 'compression/keyword-any-case',
    title: 'the keyword is matched without regard to case',
    rules: ['GATHERD-2.3'],
    source: 'project choice',
    level: 'SHOULD',
    async run(context) {
      const wire = await context.session();
      await context.set(wire, 'compression');
      await wire.send('set COMPRESSION\n');
      await wire.expect(500, 'set COMPRESSION');
    },
  },
  {
    id: 'compression/status-in-clear',
    title: 'the 400 line, 499 and the answer to QUIT are not compressed',
    rules: ['GATHERD-6.2', 'GATHERD-6.4'],
    source: 'beckett',
    level: 'MUST',
    async run(context) {
      const wire = await context.compressedSession();
      await receiveCompressed(wire, FAR_FUTURE);
      await wire.send('QUIT\n');
      await wire.expect(999, 'QUIT');
    },
  },
  {
    id: 'compression/line-form',
    title: 'the lines before and after the member have the form of other status lines and end in LF only',
    rules: ['GATHERD-1.5', 'GATHERD-1.6', 'GATHERD-6.4'],
    source: 'beckett; roads; broker NOTES',
    level: 'MUST',
    async run(context) {
      const { start, end } = await receiveCompressed(await context.compressedSession(), FAR_FUTURE);
      for (const { line } of [start, end]) checkLineForm(line);
    },
  },
  {
    id: 'compression/one-member',
    title: 'the data is exactly one gzip member',
    rules: ['GATHERD-6.3'],
    source: 'inferred: gatherd NOTES, manual 1.4, beckett',
    level: 'MUST',
    timeoutMs: TRANSFER_MS,
    async run(context) {
      const { members } = await receiveCompressed(await context.compressedSession(), 0);
      check(members.length === 1, 'more than one gzip member', {
        expected: '1 member',
        received: `${members.length} members`,
      });
    },
  },
  {
    id: 'compression/trailer',
    title: 'checksum and length in the trailer of the member are correct',
    rules: ['GATHERD-6.3', 'GATHERD-6.5'],
    source: 'inferred; RFC 1952',
    level: 'MUST',
    timeoutMs: TRANSFER_MS,
    async run(context) {
      const { members } = await receiveCompressed(await context.compressedSession(), 0);
      for (const { crc, size, trailerCrc, trailerSize } of members) {
        check(crc === trailerCrc && size === trailerSize, 'the trailer does not fit the data', {
          expected: `CRC ${hex(crc)}, ${size} bytes`,
          received: `CRC ${hex(trailerCrc)}, ${trailerSize} bytes`,
        });
      }
    },
  },
  {
    id: 'compression/end-line-directly',
    title: 'the end line follows the member immediately, or after one LF',
    rules: ['GATHERD-6.3'],
    source: 'inferred: gatherd NOTES, manual 1.4, beckett; the LF project choice',
    level: 'MUST',
    async run(context) {
      const { gap } = await receiveCompressed(await context.compressedSession(), FAR_FUTURE);
      check(gap === '' || gap === '\n', 'bytes between member and end line', {
        expected: '499 - ..., or one LF before it',
        received: `${printable(gap)}499 - ...`,
      });
    },
  },
  {
    id: 'compression/end-number',
    title: 'the number of the end line after compressed data is 499; 099 is a number of Brokers',
    rules: ['GATHERD-3.1', 'GATHERD-3.3', 'GATHERD-6.2'],
    source: 'beckett; roads; broker NOTES',
    level: 'MUST',
    async run(context) {
      const { end } = await receiveCompressed(await context.compressedSession(), FAR_FUTURE);
      checkEndNumber(end);
    },
  },
  {
    id: 'compression/same-content',
    title: 'the member holds the stream that is sent in clear, wrappers included',
    rules: ['GATHERD-6.3', 'GATHERD-10.2'],
    source: 'inferred; manual 1.4; the wrappers project choice',
    level: 'MUST',
    timeoutMs: TRANSFER_MS,
    async run(context) {
      const { transfer } = await context.survey();
      const compressed = await receiveCompressed(await context.compressedSession(), 0);
      checkSameContent(compressed, transfer);
    },
  },
  {
    id: 'compression/incremental',
    title: 'an update since a time is compressed too, with the same content as in clear',
    rules: ['GATHERD-6.1', 'GATHERD-13.4'],
    source: 'gatherd NOTES; inferred',
    level: 'MUST',
    timeoutMs: TRANSFER_MS,
    async run(context) {
      const { newest } = await context.survey();
      if (newest === undefined) throw new NotApplicable('no object has an Update-Time');
      const clear = await receiveUpdate(await context.session(), newest);
      checkSameContent(await receiveCompressed(await context.compressedSession(), newest), clear);
    },
  },
  {
    id: 'compression/empty-update',
    title: 'an update without objects is a whole member too',
    rules: ['GATHERD-4.5', 'GATHERD-6.3'],
    source: 'inferred',
    level: 'MUST',
    timeoutMs: TRANSFER_MS,
    async run(context) {
      const clear = await receiveUpdate(await context.session(), FAR_FUTURE);
      checkSameContent(await receiveCompressed(await context.compressedSession(), FAR_FUTURE), clear);
    },
  },
  {
    id: 'compression/stays-on',
    title: 'the connection stays open, and the next transfer of the session is compressed too',
    rules: ['GATHERD-6.1', 'GATHERD-6.5'],
    source: 'gatherd NOTES; beckett',
    level: 'MUST',
    async run(context) {
      const wire = await context.compressedSession();
      await receiveCompressed(wire, FAR_FUTURE);
      await receiveCompressed(wire, FAR_FUTURE);
    },
  },
  {
    id: 'compression/info-in-clear',
    title: 'INFO is not compressed',
    rules: ['GATHERD-6.8'],
    source: 'project choice: clients only combine compression with SEND-UPDATE',
    level: 'MUST',
    async run(context) {
      await receiveInfo(await context.compressedSession());
    },
  },
  {
    id: 'compression/object-in-clear',
    title: 'SEND-OBJECT is not compressed',
    rules: ['GATHERD-6.8'],
    source: 'project choice: clients only combine compression with SEND-UPDATE',
    level: 'MUST',
    timeoutMs: TRANSFER_MS,
    async run(context) {
      const [sample] = (await context.surveyWith(1)).samples;
      if (sample === undefined) throw new NotApplicable('no object of the database is well-formed');
      await receiveObject(await context.compressedSession(), sample);
    },
  },
];

function hex(crc: number): string {
  return crc.toString(16).padStart(8, '0');
}

/** Checks that the compressed stream is the one that is sent in clear. @throws Mismatch if they differ in a byte */
function checkSameContent(compressed: CompressedTransfer, clear: { digest: string; objects: number }): void {
  check(compressed.digest === clear.digest, 'not the stream that comes in clear', {
    expected: `${clear.objects} objects, SHA-256 ${clear.digest}`,
    received: `${compressed.objects} objects, SHA-256 ${compressed.digest}`,
  });
}
