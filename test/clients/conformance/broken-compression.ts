// Gatherds with one defect in compressed transfers each.
import { gzipSync } from 'node:zlib';
import type { BrokenServer } from './broken-servers.js';
import { ENTRIES } from './gatherd-reference.js';
import { CORRECT, EMPTY_SECTIONS, line, stream } from './simple-gatherd.js';

const inCompression = (fails: readonly string[]) => fails.map((name) => `compression/${name}`);
/** Cases that read compressed data, whatever the time stamp. */
export const READS_COMPRESSED = [
  ...inCompression([
    'status-in-clear',
    'line-form',
    'one-member',
    'trailer',
    'end-line-directly',
    'end-number',
    'same-content',
    'incremental',
    'empty-update',
    'stays-on',
  ]),
  // The compressed full copy in the order of the sample client by D. Beckett.
  'session/beckett',
];

export const BROKEN_COMPRESSION: readonly BrokenServer[] = [
  {
    defect: 'none, and compression is not supported (GATHERD-6.9)',
    behavior: { set: () => line('900 - no') },
    fails: [],
  },
  {
    defect: 'SET compression is answered 100',
    behavior: { set: () => line('100 - yes') },
    fails: ['errors/unknown-setting', 'compression/accepted'],
  },
  {
    defect: 'two gzip members',
    behavior: {
      gzip: (bytes) => Buffer.concat([gzipSync(bytes.subarray(0, 20)), gzipSync(bytes.subarray(20))]),
    },
    fails: ['compression/one-member'],
  },
  {
    defect: 'a wrong checksum in the trailer',
    behavior: {
      gzip: (bytes) => {
        const member = gzipSync(bytes);
        member.writeUInt32LE((member.readUInt32LE(member.length - 8) ^ 1) >>> 0, member.length - 8);
        return member;
      },
    },
    fails: ['compression/trailer'],
  },
  {
    defect: 'a wrong length in the trailer',
    behavior: {
      gzip: (bytes) => {
        const member = gzipSync(bytes);
        member.writeUInt32LE(bytes.length + 1, member.length - 4);
        return member;
      },
    },
    fails: ['compression/trailer'],
  },
  {
    defect: 'none, and a line end is between member and 499',
    behavior: {
      endUpdate: (count, { compressed }) => line(compressed ? `\n499 - ${count}` : `499 - ${count}`),
    },
    fails: [],
  },
  {
    defect: 'two line ends between member and 499',
    behavior: {
      endUpdate: (count, { compressed }) => line(compressed ? `\n\n499 - ${count}` : `499 - ${count}`),
    },
    fails: ['compression/end-line-directly'],
  },
  {
    defect: 'a blank between member and 499',
    behavior: {
      endUpdate: (count, { compressed }) => line(compressed ? ` 499 - ${count}` : `499 - ${count}`),
    },
    fails: ['compression/end-line-directly'],
  },
  {
    defect: 'compressed data ends with 099',
    behavior: {
      endUpdate: (count, { compressed }) => line(compressed ? `099 - ${count}` : `499 - ${count}`),
    },
    fails: ['compression/end-number'],
  },
  {
    defect: 'the end line is compressed with the data',
    behavior: {
      gzip: (bytes) => gzipSync(Buffer.concat([bytes, Buffer.from('499 - end\n')])),
      endUpdate: (count, { compressed }) =>
        compressed ? { bytes: '', close: true } : line(`499 - ${count}`),
    },
    fails: READS_COMPRESSED,
  },
  {
    defect: 'the start line is compressed',
    behavior: {
      startUpdate: ({ compressed }) => (compressed ? '' : '400 - update\n'),
      gzip: (bytes) => gzipSync(Buffer.concat([Buffer.from('400 - update\n'), bytes])),
    },
    fails: READS_COMPRESSED,
  },
  {
    defect: 'the data is not compressed',
    behavior: { gzip: (bytes) => bytes },
    fails: READS_COMPRESSED,
  },
  {
    defect: 'damaged deflate data',
    behavior: {
      gzip: (bytes) => {
        const member = gzipSync(bytes);
        // Block type 3 is reserved (RFC 1951).
        member[10] = 0x07;
        return member;
      },
    },
    fails: READS_COMPRESSED,
  },
  {
    defect: 'the connection is closed inside the member',
    behavior: {
      gzip: (bytes) => gzipSync(bytes).subarray(0, -4),
      endUpdate: (count, { compressed }) =>
        compressed ? { bytes: '', close: true } : line(`499 - ${count}`),
    },
    fails: READS_COMPRESSED,
  },
  {
    defect: 'the connection is closed after the member',
    behavior: {
      endUpdate: (count, { compressed }) => line(`499 - ${count}`, compressed),
    },
    fails: ['compression/status-in-clear', 'compression/stays-on', 'session/beckett'],
  },
  {
    defect: 'the compressed copy is out of date',
    behavior: {
      gzip: (bytes, since) =>
        gzipSync(since === 0 ? stream(`${EMPTY_SECTIONS}@UPDATE {\n`, ENTRIES.slice(1)) : bytes),
    },
    fails: ['compression/same-content', 'session/beckett'],
  },
  {
    defect: 'only full transfers are compressed',
    behavior: { gzip: (bytes, since) => (since === 0 ? gzipSync(bytes) : bytes) },
    fails: inCompression([
      'status-in-clear',
      'line-form',
      'end-line-directly',
      'end-number',
      'incremental',
      'empty-update',
      'stays-on',
    ]),
  },
  {
    defect: 'the compressed copy has no wrappers',
    behavior: {
      gzip: (bytes, since) => gzipSync(since === 0 ? stream('', ENTRIES, '') : bytes),
    },
    fails: ['compression/same-content', 'session/beckett'],
  },
  {
    defect: 'compression ends with the first transfer',
    behavior: {
      endUpdate: (count, session) => {
        session.compressed = false;
        return line(`499 - ${count}`);
      },
    },
    fails: ['compression/stays-on'],
  },
  {
    defect: 'INFO is compressed too',
    behavior: {
      info: (object, session) =>
        session.compressed ? { bytes: gzipSync(object), close: true } : CORRECT.info(object, session),
    },
    fails: ['compression/info-in-clear'],
  },
  {
    defect: 'SEND-OBJECT is compressed too',
    behavior: {
      object: (found, session) =>
        session.compressed
          ? {
              bytes: Buffer.concat([
                Buffer.from('300 - object\n'),
                gzipSync(found.soif),
                Buffer.from('399 - ok\n'),
              ]),
              close: true,
            }
          : CORRECT.object(found, session),
    },
    fails: ['compression/object-in-clear'],
  },
];
