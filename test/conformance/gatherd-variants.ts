// Gatherds that differ from the kit's own in what the rules leave free: they pass every case.
import { constants, deflateRawSync, gzipSync } from 'node:zlib';
import type { GatherdChange, Part } from './gatherd-link.js';
import { allowed, type Variant } from './mutant.js';
import { mapObjects, mapValues } from './soif-text.js';

type GatherdVariant = Variant<GatherdChange>;

/** Other texts after the numbers (GATHERD-3.4). */
const TEXTS: readonly (readonly [code: string, text: string])[] = [
  ['000', 'HELLO 1.4.pl2 other.example.org and welcome - 499'],
  ['100', 'x'],
  ['300', '399 - no such object'],
  ['399', '300 - here it comes'],
  ['400', '499 - no objects, closing'],
  ['499', '400 - more'],
  ['500', '900 - Compression not available'],
  ['600', '999 - Bye'],
  ['900', '500 - enabled'],
  ['999', '000 - HELLO again'],
];

const perObject = (edit: (object: string) => string): GatherdChange => ({
  part: ({ kind, text }) => (kind === 'stream' || kind === 'object' ? mapObjects(text, edit) : text),
});
const repacked = (member: (text: Buffer) => Buffer): GatherdChange => ({
  member: (_, text) => member(Buffer.from(text, 'latin1')),
});
const line = (code: string, edit: (part: Part) => string): GatherdChange => ({
  part: (part) => (part.code === code ? edit(part) : part.text),
});

/** A gzip member with a name in its header, as the program gzip writes it. */
function named(text: Buffer): Buffer {
  const member = gzipSync(text);
  const header = Buffer.from(member.subarray(0, 10));
  header[3] = 0x08;
  return Buffer.concat([header, Buffer.from('All-Templates\0'), member.subarray(10)]);
}

function stored(text: Buffer): Buffer {
  const member = gzipSync(text);
  const raw = deflateRawSync(text, { level: 0 });
  return Buffer.concat([member.subarray(0, 10), raw, member.subarray(-8)]);
}

export const GATHERD_VARIANTS: readonly GatherdVariant[] = [
  ...TEXTS.map(
    ([code, text]): GatherdVariant => ({
      name: `${code} has another text`,
      rule: 'GATHERD-3.4',
      change: line(code, () => `${code} - ${text}\n`),
      skips: code === '499' ? ['sequence/*'] : undefined,
    }),
  ),
  {
    name: 'texts have bytes above 127',
    rule: 'GATHERD-3.4',
    change: {
      part: ({ kind, text, code }) =>
        kind === 'line' && !/^[02]/.test(code) ? `${code} - \xe9\xff\n` : text,
    },
    skips: ['sequence/*'],
  },
  ...allowed<GatherdChange>('GATHERD-3.4', {
    'HELP has one line': oneLineOfHelp(),
  }),
  ...allowed<GatherdChange>('GATHERD-6.3', {
    'one LF is between member and 499': line('499', ({ isPacked, text }) => (isPacked ? `\n${text}` : text)),
    'members are stored': repacked(stored),
    'members are compressed fast': repacked((text) => gzipSync(text, { level: 1 })),
    'members have fixed codes': repacked((text) => gzipSync(text, { strategy: constants.Z_FIXED })),
    'members have a name in their header': repacked(named),
  }),
  {
    name: 'compression is not available',
    rule: 'GATHERD-6.9',
    change: { command: (text, end) => (/^set compression/i.test(text) ? 'SET what' : text) + end },
    skips: ['compression/*', 'changes/compressed', 'sequence/compressed', 'session/beckett'],
  },
  {
    name: 'SET changes is not known',
    rule: 'GATHERD-6.11',
    change: { command: (text, end) => (/^set changes/i.test(text) ? 'SET what' : text) + end },
    skips: ['changes/*', 'sequence/changes'],
  },
  {
    name: 'SET sequence is not known',
    rule: 'GATHERD-6.13',
    change: { command: (text, end) => (/^set sequence/i.test(text) ? 'SET what' : text) + end },
    skips: ['sequence/*'],
  },
  {
    name: 'the changes have no numbers',
    rule: 'GATHERD-6.13',
    change: {
      command: (text, end) => (/^set sequence/i.test(text) ? 'SET sequence' : text) + end,
      ...line('499', ({ text }) => text.replace(/; sequence.*/, '')),
    },
    skips: ['sequence/*'],
  },
  ...allowed<GatherdChange>('SOIF-2.8', {
    'the template type is another': perObject((object) => object.replace('@FILE', '@DOCUMENT')),
  }),
  ...allowed<GatherdChange>('SOIF-2.11', {
    'names of attributes are in lower case': perObject((object) =>
      object.replace(/(?<=\n)(?:Gatherer-\w+|Update-Time)(?=\{)/g, (name) => name.toLowerCase()),
    ),
    'names of attributes are in upper case': perObject((object) =>
      object.replace(/(?<=\n)(?:Gatherer-\w+|Update-Time)(?=\{)/g, (name) => name.toUpperCase()),
    ),
  }),
  ...allowed<GatherdChange>('SOIF-3.3', {
    'attributes come in another order': perObject((object) =>
      object.replace(/(?<=\n)(Gatherer-Name.*\n)(Gatherer-Host.*\n)/, '$2$1'),
    ),
  }),
  ...allowed<GatherdChange>('GATHERD-4.6', {
    'objects have more attributes': {
      part: ({ kind, text }) => {
        if (kind === 'info')
          return mapValues(text, (value, name) => (name === 'Attributes' ? `${value}Time-to-Live\n` : value));
        if (kind === 'line') return text;
        return mapObjects(text, (object) => object.replace('\n', '\nTime-to-Live{7}:\t2419200\n'));
      },
    },
  }),
  ...allowed<GatherdChange>('GATHERD-8.3', {
    'the description has more attributes': {
      part: ({ kind, text }) => (kind === 'info' ? text.replace('\n', '\nComment{2}:\thi\n') : text),
    },
  }),
  ...allowed<GatherdChange>('GATHERD-8.4', {
    'the description has a URL': {
      part: ({ kind, text }) =>
        kind === 'info' ? text.replace(/\{ \S+\n/, '{ http://g.example.org/\n') : text,
    },
  }),
];

function oneLineOfHelp(): GatherdChange {
  return {
    part: ({ code, text }, { before }) => {
      if (code !== '200') return text;
      const isFirst = before.at(-1)?.code !== '200';
      return isFirst ? '200 - HELLO HELP SEND-OBJECT SEND-UPDATE SET compression QUIT INFO\n' : '';
    },
  };
}
