// Property tests of the bulk codec, and the stored replies of test/fuzz/corpus/bulk.
import { readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import t from 'tap';
import {
  type BulkListedObject,
  type BulkTrailer,
  groupClose,
  groupOpen,
  hexOf,
} from '../../../protocols/bulk/index.js';
import { assertProperty } from '../../helpers/property.js';
import {
  EXAMPLE,
  encoder,
  formatEvent,
  GREETING,
  GROUPS,
  latin1,
  MAGIC,
  readReply,
  VERSION,
} from './replies.js';

const bytesOf = fc.uint8Array({ maxLength: 40 });
const line = fc.string({ maxLength: 20 }).map((text) => text.replace(/[\r\n]/g, '.'));
/** One character a byte. */
const url = fc.uint8Array({ maxLength: 20 }).map((bytes) =>
  Buffer.from(bytes)
    .toString('latin1')
    .replace(/[\r\n]/g, '.'),
);
const extension = fc.record({ type: line, data: bytesOf });
const listed: fc.Arbitrary<BulkListedObject> = fc.record(
  {
    warning: fc.record({ number: fc.nat(0xffff_ffff), text: line }),
    resource: url,
    object: url,
    description: bytesOf,
    opaque: fc.array(bytesOf, { maxLength: 3 }),
    attributes: fc.array(fc.record({ name: line, value: bytesOf }), { maxLength: 3 }),
    extensions: fc.array(extension, { maxLength: 3 }),
  },
  { requiredKeys: ['resource', 'object', 'opaque', 'attributes', 'extensions'] },
);
const cuts = fc.array(fc.nat(400), { maxLength: 12 });

function cutAt(bytes: Uint8Array, offsets: readonly number[]): Uint8Array[] {
  const sorted = [
    0,
    ...offsets.filter((offset) => offset <= bytes.length).sort((a, b) => a - b),
    bytes.length,
  ];
  return sorted.slice(1).map((end, i) => bytes.subarray(sorted[i], end));
}

/** A text that is equal for equal values, wherever their bytes are stored. */
const fingerprintOf = (value: unknown): string =>
  JSON.stringify(value, (_, inner) => (inner instanceof Uint8Array ? hexOf(inner) : inner));

t.test('property: an encoded ObjectList decodes to the same list, in any chunks', async () => {
  assertProperty(
    fc.property(
      fc.array(listed, { maxLength: 4 }),
      fc.array(extension, { maxLength: 2 }),
      cuts,
      (objects, infos, offsets) => {
        const trailer: BulkTrailer = { kind: 'count', count: objects.length };
        const reply = Buffer.concat([
          encoder.version('x'),
          ...infos.map((info) => encoder.info({ field: 'extension', ...info })),
          ...objects.map((object) => encoder.object(object)),
          encoder.trailer(trailer),
        ]);
        const { events } = readReply(cutAt(reply, offsets));
        const back = events.flatMap((event) => (event.kind === 'object' ? [event.object] : []));
        const backInfos = events.flatMap((event) =>
          event.kind === 'info' && event.info.field === 'extension'
            ? [{ type: event.info.type, data: event.info.data }]
            : [],
        );
        const sorted = (each: BulkListedObject): unknown =>
          Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1));
        const end = events.at(-1);
        return (
          fingerprintOf(back.map(sorted)) === fingerprintOf(objects.map(sorted)) &&
          fingerprintOf(backInfos) === fingerprintOf(infos.map(({ type, data }) => ({ type, data }))) &&
          end?.kind === 'end' &&
          end.complete
        );
      },
    ),
    { numRuns: 300 },
  );
});

t.test('property: groups are read alike in both interfaces and in any chunks', async () => {
  const group = fc.tuple(
    fc.constantFrom('delete' as const, 'refresh' as const, 'update' as const),
    fc.array(
      bytesOf.filter((value) => value.length > 0),
      { maxLength: 3 },
    ),
  );
  assertProperty(
    fc.property(fc.array(group, { minLength: 1, maxLength: 5 }), cuts, (groups, offsets) => {
      const expected: string[] = [];
      const body: Uint8Array[] = [];
      for (const [change, values] of groups) {
        body.push(groupOpen(change));
        for (const value of values) {
          const bytes = Buffer.concat([
            latin1(`@FILE { http://a.test/\nv{${value.length}}:\t`),
            value,
            latin1('\n}\n'),
          ]);
          body.push(bytes);
          expected.push(`${change} ${hexOf(bytes)}`);
        }
        body.push(groupClose(change));
      }
      const trailer = encoder.trailer({ kind: 'count', count: expected.length });
      for (const reply of [
        [latin1(GREETING), ...body],
        [latin1(VERSION), ...body, trailer],
      ]) {
        const { events } = readReply(cutAt(Buffer.concat(reply), offsets));
        const actual = events.flatMap((event) =>
          event.kind === 'change' ? [`${event.change} ${hexOf(event.bytes)}`] : [],
        );
        const end = events.at(-1);
        if (actual.join() !== expected.join() || end?.kind !== 'end' || !end.complete) return false;
      }
      return true;
    }),
    { numRuns: 300 },
  );
});

t.test('property: garbage ends or breaks a rule, the same in any chunks', async (t) => {
  const part = fc.constantFrom(
    GREETING,
    VERSION,
    GROUPS,
    EXAMPLE,
    '000 - ok\n',
    '499 - x\n',
    '@UPDATE {',
    '}',
    '@FILE { u\n',
    '\n',
    ' ',
    '\0\0\0\x01',
    '200 - ',
    '120 - a\n',
    '125 - b\n',
    '124 - ',
    MAGIC,
    '150 - gzip begin\n',
    '\x1f\x8b',
    '130 - object end\n',
    '144 - ',
  );
  const garbage = fc
    .array(fc.oneof(part, fc.string({ maxLength: 4 })), { maxLength: 12 })
    .map((all) => latin1(all.join('')));
  let fatal = 0;
  assertProperty(
    fc.property(garbage, cuts, (bytes, offsets) => {
      const whole = readReply([bytes]);
      const cut = readReply(cutAt(bytes, offsets));
      if (whole.error !== undefined) fatal++;
      const ended =
        whole.error === undefined
          ? whole.events.at(-1)?.kind === 'end'
          : /^(BT|BP|SOIF)-\d/.test(whole.error.rule);
      return (
        ended &&
        whole.error?.rule === cut.error?.rule &&
        whole.events.map(formatEvent).join('\n') === cut.events.map(formatEvent).join('\n')
      );
    }),
    { numRuns: 1500 },
  );
  t.ok(fatal > 50, `${fatal} inputs were fatal`);
});

t.test('corpus: recorded replies end as their file name says', async (t) => {
  const folder = new URL('test/fuzz/corpus/bulk/', import.meta.resolve('#package.json'));
  for (const name of readdirSync(folder)) {
    const [outcome] = name.split('.');
    const { events, error } = readReply([readFileSync(new URL(name, folder))]);
    const end = events.at(-1);
    const ended = end?.kind === 'end' ? (end.complete ? 'complete' : 'incomplete') : 'none';
    t.equal(error === undefined ? ended : `fatal-${error.rule}`, outcome, name);
  }
});
