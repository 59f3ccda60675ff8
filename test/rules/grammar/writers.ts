// Rules of the grammars beside the code that writes their sentences.
import { encodeResult, type ResultItem } from '../../../protocols/broker/index.js';
import {
  BulkReplyEncoder,
  encodeBulkError,
  encodeBulkRequest,
  encodeBulkSuccess,
} from '../../../protocols/bulk/index.js';
import { encodeStatusLine, GatherdClientSession } from '../../../protocols/gatherd/index.js';
import {
  DEFAULT_FORMAT,
  encodeRegistryHeader,
  encodeRegistryRecord,
  GathererIds,
} from '../../../protocols/registry/index.js';
import { decodeSoif, encodeSoif, SECTION_CLOSE, SECTION_OPEN } from '../../../protocols/soif/index.js';
import {
  descriptionHeaders,
  encodeSstp,
  linkRequestMessage,
  NO_BODY,
  type SstpHeader,
} from '../../../protocols/sstp/index.js';
import type { Random } from '../../helpers/random.js';

/** A rule of a grammar beside the code that writes it. */
export interface Writer {
  readonly folder: string;
  readonly rule: string;
  /** A sentence from values that chance chooses. */
  readonly write: (random: Random) => Uint8Array;
}

export const WRITERS: readonly Writer[] = [
  {
    folder: 'protocols/soif',
    rule: 'emitted-stream',
    write: (random) => Buffer.concat(times(random, 2, () => encodeSoif(object(random)))),
  },
  {
    folder: 'protocols/soif',
    rule: 'emitted-update-stream',
    write: (random) =>
      Buffer.concat(
        (['delete', 'refresh', 'update'] as const).flatMap((section) => [
          SECTION_OPEN[section],
          ...times(random, 2, () => encodeSoif(object(random))),
          SECTION_CLOSE,
        ]),
      ),
  },
  {
    folder: 'protocols/gatherd',
    rule: 'status-line',
    write: (random) => encodeStatusLine(random.below(1000), text(random)),
  },
  {
    folder: 'protocols/gatherd',
    rule: 'sent-line',
    write: (random) => {
      const session = new GatherdClientSession();
      const lines = [
        () => session.hello(word(random)),
        () => session.setCompression(),
        () => session.setChanges(),
        () => session.sendUpdate(random.below(2 ** 31)),
        () => session.sendObject(word(random)),
        () => session.info(),
        () => session.quit(),
      ];
      return lines[random.below(lines.length)]?.() ?? new Uint8Array(0);
    },
  },
  {
    folder: 'protocols/broker',
    rule: 'reply',
    write: (random) => {
      const url = () => `u${latin(random).replace(/[\r\n]/g, '')}`;
      const item = (): ResultItem => {
        const value = Buffer.from(latin(random), 'latin1');
        return (
          [
            { kind: 'opaque', text: text(random) },
            { kind: 'description', value },
            { kind: 'attribute', name: word(random), value },
            { kind: 'object-url', url: url() },
            { kind: 'home-page', url: url() },
            { kind: 'version', text: `v${text(random)}` },
          ] as const
        )[random.below(6)] as ResultItem;
      };
      const found = (): readonly ResultItem[] => [
        { kind: 'match', url: url() },
        ...times(random, 4, item),
        { kind: 'object-end' },
      ];
      const items: readonly ResultItem[] = [
        { kind: 'version', text: 'HARVEST Broker 1.0' },
        { kind: 'message', text: text(random) },
        ...times(random, 2, found).flat(),
        { kind: 'error', text: text(random) },
        { kind: 'fatal', text: text(random) },
      ];
      return Buffer.concat(items.map(encodeResult));
    },
  },
  {
    folder: 'protocols/bulk',
    rule: 'bulk-message',
    write: (random) =>
      encodeBulkRequest({
        ...(random.once(2) && { since: random.below(2 ** 31) }),
        ...(random.once(2) && { flags: '#desc #index case sensitive #attribute title' }),
        ...(random.once(2) && { query: `title : ${random.below(99)}` }),
        ...(random.once(2) && {
          interface: 2,
          compress: random.once(2),
          digest: 'a0'.slice(random.below(3)),
        }),
      }),
  },
  {
    folder: 'protocols/bulk',
    rule: 'bulk-success',
    write: (random) => encodeBulkSuccess(text(random)),
  },
  {
    folder: 'protocols/bulk',
    rule: 'bulk-refusal',
    write: (random) => encodeBulkError(text(random)),
  },
  {
    folder: 'protocols/bulk',
    rule: 'broker-return',
    write: (random) => {
      const encoder = new BulkReplyEncoder();
      const data = () => Buffer.from(latin(random), 'latin1');
      const url = () => latin(random).replace(/[\r\n]/g, '');
      const fields = ['broker-url', 'indexer', 'collect', 'message'] as const;
      const listed = () =>
        encoder.object({
          ...(random.once(2) && { warning: { number: random.below(2 ** 32), text: text(random) } }),
          resource: url(),
          object: url(),
          ...(random.once(2) && { description: data() }),
          opaque: times(random, 2, data),
          attributes: times(random, 2, () => ({ name: text(random), value: data() })),
          extensions: times(random, 2, () => ({ type: text(random), data: data() })),
        });
      const trailers = [
        encoder.trailer({ kind: 'count', count: random.below(2 ** 32) }),
        encoder.trailer({ kind: 'error', number: random.below(7), text: text(random) }),
        encoder.trailer({ kind: 'stats', data: data() }),
      ];
      return Buffer.concat([
        encoder.version(text(random)),
        ...times(random, 3, () =>
          encoder.info({ field: fields[random.below(4)] ?? 'message', text: text(random) }),
        ),
        encoder.info({ field: 'extension', type: text(random), data: data() }),
        ...times(random, 2, listed),
        trailers[random.below(3)] ?? NO_BODY,
      ]);
    },
  },
  {
    folder: 'protocols/registry',
    rule: 'registry',
    write: (random) => {
      const number = () => random.below(2 ** 32);
      const bytes = () => Buffer.from(latin(random), 'latin1');
      const version = random.once(2) ? 1 : 2;
      const records = times(random, 2, () =>
        encodeRegistryRecord(
          {
            oid: number(),
            url: bytes(),
            gatherer: version === 1 ? { name: bytes(), host: bytes(), version: bytes() } : { id: number() },
            md5: bytes(),
            description: bytes(),
            updateTime: number(),
            lastModificationTime: number(),
            refreshRate: number(),
            timeToLive: number(),
            rest: bytes(),
          },
          version,
          DEFAULT_FORMAT,
        ),
      );
      const counts = { records: records.length, deleted: 0, valid: records.length };
      return Buffer.concat([encodeRegistryHeader({ version, ...counts }, DEFAULT_FORMAT), ...records]);
    },
  },
  {
    folder: 'protocols/registry',
    rule: 'gatherer-ids',
    write: (random) => {
      const ids = new GathererIds();
      const name = () => latin(random).replace(/[\t\r\n]/g, '');
      times(random, 3, () => ids.idOf({ name: name(), host: name(), version: name() }));
      return Buffer.from(ids.format());
    },
  },
  {
    folder: 'protocols/sstp',
    rule: 'sent-request',
    write: (random) => {
      const kinds = ['references', 'referers', 'site-references', 'site-referers'] as const;
      const message = linkRequestMessage({
        kind: kinds[random.below(4)] ?? 'references',
        ...(random.once(2)
          ? { id: random.below(2 ** 32) }
          : { url: `http://ä.test/${random.below(99)} \tö` }),
        ...(random.once(2) && { start: random.below(2 ** 32) }),
        ...(random.once(2) && { count: random.below(2 ** 32) }),
        ...(random.once(2) && { generation: random.below(2 ** 32) }),
      });
      return encodeSstp({ ...message, body: NO_BODY });
    },
  },
  {
    folder: 'protocols/sstp',
    rule: 'sent-reply',
    write: (random) => {
      const number = () => random.below(2 ** 33);
      const headers: readonly SstpHeader[] = descriptionHeaders({
        id: random.below(2 ** 32),
        serverId: random.below(2 ** 32),
        protocol: 'http',
        host: 'a.test',
        port: random.below(65_536),
        uri: `/${random.below(99)}`,
        time: number(),
        checkTime: number(),
        length: number(),
      });
      return encodeSstp({ code: 8, headers, body: NO_BODY });
    },
  },
];

/** Zero to `most` results. */
function times<T>(random: Random, most: number, make: () => T): T[] {
  return Array.from({ length: random.below(most + 1) }, make);
}

/** A few characters of one byte, among them those that end lines. */
function latin(random: Random): string {
  return times(random, 6, () =>
    String.fromCharCode(random.once(3) ? ' \t\r\n{}'.charCodeAt(random.below(6)) : random.below(256)),
  ).join('');
}

/** A text of one or more lines. */
function text(random: Random): string {
  return random.once(4) ? `${latin(random)}\u2028東` : latin(random);
}

/** A word of visible characters. */
function word(random: Random): string {
  return `w${latin(random).replace(/[\0- \x7f-\xff{}"]/g, '')}`;
}

/** An object as a lenient reader accepts it: with names and a type that no emitter writes. */
function object(random: Random): ReturnType<typeof decodeSoif> {
  const attributes = times(random, 4, () => {
    const value = latin(random);
    const name = `n${latin(random).replace(/[\0- {}]/g, '')}`;
    return `${name}{${value.length}}:\t${value}\n`;
  });
  const source = `@T${random.below(9)} { http://a.test/${random.below(99)}\n${attributes.join('')}}\n`;
  return decodeSoif(Buffer.from(source, 'latin1'));
}
