// Rules of the grammars beside the codecs that read their sentences.

import {
  frameMessage,
  parseMatchedLine,
  parseMessage,
  ResultDecoder,
} from '../../../protocols/broker/index.js';
import { BulkReplyDecoder } from '../../../protocols/bulk/index.js';
import {
  parseBrokerConf,
  parseCollectionConf,
  parseEnumeratedNode,
  parseFilter,
  parseGatherdConf,
  parseGathererConf,
  parseRefererConf,
} from '../../../protocols/config/index.js';
import { ConfigError, PeerError, ProtocolError, UsageError } from '../../../protocols/errors.js';
import { GatherdClientSession, parseCommand, parseStatusLine } from '../../../protocols/gatherd/index.js';
import {
  decodeRecordData,
  GathererIds,
  isRegistryVersion,
  RegistryDecoder,
} from '../../../protocols/registry/index.js';
import { decodeAnnotations, SectionDecoder, SoifDecoder } from '../../../protocols/soif/index.js';
import { chooseProtocol, SstpDecoder } from '../../../protocols/sstp/index.js';
import {
  parseQuickRules,
  parseTypeList,
  parseTypeRules,
} from '../../../servers/essence/recognition/type-rules.js';
import { parsePostRules } from '../../../servers/essence/rules/parse.js';
import { parseExtractionTable } from '../../../servers/essence/sgml/table.js';
import { bytesOfVector, readVectors } from '../vectors/vector-file.js';

/** A rule of a grammar beside the codec that reads its sentences. */
export interface Pair {
  readonly folder: string;
  readonly rule: string;
  /** The rule by which the codec refuses a sentence, or another name of the reason; undefined if it accepts. */
  readonly refusal: (sentence: Uint8Array) => string | undefined;
  /** Sentences to mutate, where counts make those of the grammar useless. */
  readonly seeds?: () => readonly Uint8Array[];
  /** Refusals of what the grammar derives, all of them if counts or the longest tokens decide. The document says beside the grammar that it
   * cannot express them. */
  readonly beyond?: readonly string[] | 'any';
  /** Sentences that are compared; the document says what happens before the grammar reads a file. */
  readonly isCompared?: (sentence: string) => boolean;
  /** The document says which looser forms a reader accepts as well. */
  readonly isLoose?: true;
}

/** The rule of the error of a call. */
function ruleOf(call: () => unknown): string | undefined {
  try {
    call();
    return undefined;
  } catch (error) {
    if (error instanceof ProtocolError) return error.rule;
    if (error instanceof UsageError || error instanceof ConfigError || error instanceof PeerError)
      return error.message;
    throw error;
  }
}

/** As {@link ruleOf}, with a name for each of the messages of a configuration file. */
const named =
  (read: (text: string) => unknown, names: Readonly<Record<string, RegExp>> = {}) =>
  (sentence: Uint8Array): string | undefined => {
    const message = ruleOf(() => read(Buffer.from(sentence).toString()));
    const found = Object.keys(names).find((name) => names[name]?.test(message ?? ''));
    return message === undefined ? undefined : (found ?? message);
  };

const GREETING = Buffer.from('200 - HARVEST Broker 1.0\n');

const EXPRESSION = { 'E-9': /the expression|E-9/ };

const valid = (file: string) => () =>
  readVectors(file)
    .vectors.filter(({ verdict }) => verdict === 'valid')
    .map(bytesOfVector);

export const PAIRS: readonly Pair[] = [
  {
    folder: 'protocols/broker',
    rule: 'message',
    beyond: 'any',
    refusal: (sentence) =>
      isOneMessage(sentence) ? ruleOf(() => parseMessage(sentence)) : 'not one message',
  },
  {
    folder: 'protocols/gatherd',
    rule: 'client-line',
    refusal: (sentence) =>
      isCommandLine(Buffer.from(sentence).toString('latin1')) ? undefined : 'not a command',
  },
  {
    folder: 'protocols/gatherd',
    rule: 'accepted-line',
    refusal: (sentence) => {
      const line = lineOf(Buffer.from(sentence).toString('latin1'));
      return line === undefined || parseStatusLine(line) === undefined ? 'not a status line' : undefined;
    },
  },
  {
    folder: 'protocols/soif',
    rule: 'soif-stream',
    beyond: 'any',
    seeds: valid('protocols/soif/vectors/soif-stream.json'),
    refusal: (sentence) => refusalOfDecoder(new SoifDecoder({ mode: 'strict' }), sentence),
  },
  {
    folder: 'protocols/soif',
    rule: 'update-stream',
    beyond: 'any',
    seeds: () => bodies('protocols/bulk/vectors/bulk-shipped.json'),
    refusal: (sentence) => refusalOfDecoder(new SectionDecoder({ mode: 'strict' }), sentence),
  },
  {
    folder: 'protocols/soif',
    rule: 'annotation-file',
    beyond: ['SOIF-5.2', 'SOIF-2.9'],
    refusal: (sentence) => ruleOf(() => decodeAnnotations(sentence, { mode: 'strict' })),
  },
  {
    folder: 'protocols/soif',
    rule: 'starts-object',
    beyond: 'any',
    seeds: () => [Buffer.from('@REQUEST{\nversion{3}:\t1.0\nbody{2}:\t}\n\n}\n')],
    refusal: (sentence) => refusalOfDecoder(new SoifDecoder({ mode: 'strict', dialect: 'starts' }), sentence),
  },
  {
    folder: 'protocols/gatherd',
    rule: 'update-reply',
    beyond: 'any',
    isLoose: true,
    seeds: () =>
      valid('protocols/gatherd/vectors/clear-update.json')().filter(
        (bytes) => !Buffer.from(bytes).includes('999 - Bye'),
      ),
    refusal: refusalOfUpdate,
  },
  {
    folder: 'protocols/broker',
    rule: 'reply',
    beyond: 'any',
    isLoose: true,
    seeds: () => [
      Buffer.from(
        '200 - HARVEST Broker 1.0\n101 - a\n120 - http://a.test/\n122 - Matched line: t# x\n124 - 6\none\ntwo\n' +
          '127 - t 1\nx\n125 - http://b.test/OBJ1\n126 - u\n130 - object end\n103 - b\n111 - ERROR: c\n',
      ),
    ],
    refusal: (sentence) =>
      ruleOf(() => {
        const decoder = new ResultDecoder();
        decoder.push(sentence);
        decoder.end();
      }),
  },
  {
    folder: 'protocols/broker',
    rule: 'matched-line',
    isLoose: true,
    refusal: (sentence) =>
      parseMatchedLine(Buffer.from(sentence).toString()) === undefined ? 'another form' : undefined,
  },
  {
    folder: 'protocols/sstp',
    rule: 'conf-file',
    refusal: named((text) => {
      const { warnings } = parseRefererConf(text, 'referer.cf', { progname: 'refererd' });
      const [first] = warnings.filter(({ problem }) => problem.startsWith('skipped'));
      if (first !== undefined) throw first;
    }),
  },
  {
    folder: 'protocols/bulk',
    rule: 'broker-return',
    beyond: 'any',
    seeds: () =>
      valid('protocols/bulk/vectors/bulk-interface-2.json')()
        .filter((bytes) => bytes.length < 400 && !Buffer.from(bytes).includes('gzip'))
        .map((bytes) => bytes.subarray(GREETING.length)),
    // BP-29: other first bytes are the shipped format.
    refusal: (sentence) =>
      Buffer.from(sentence).subarray(0, 7).equals(Buffer.from('200 - \0'))
        ? refusalOfBulk(Buffer.concat([GREETING, sentence]))
        : 'not interface 2',
  },
  {
    folder: 'protocols/bulk',
    rule: 'bulk-reply',
    isLoose: true,
    beyond: 'any',
    seeds: valid('protocols/bulk/vectors/bulk-shipped.json'),
    refusal: refusalOfBulk,
  },
  {
    folder: 'protocols/registry',
    rule: 'registry',
    beyond: 'any',
    seeds: () =>
      valid('protocols/registry/vectors/registry-file.json')().filter(
        (bytes) => bytes.length < 160 && refusalOfRegistry(bytes) === undefined,
      ),
    refusal: refusalOfRegistry,
  },
  {
    folder: 'protocols/registry',
    rule: 'gatherer-ids',
    beyond: ['a repeated id'],
    refusal: (sentence) => {
      const text = Buffer.from(sentence).toString('latin1');
      const ids = [...text.matchAll(/^(\d+)\t.*\n/gm)].map(([, id]) => id);
      const rule = ruleOf(() => GathererIds.parse(text));
      return rule !== undefined && new Set(ids).size < ids.length ? 'a repeated id' : rule;
    },
  },
  {
    folder: 'protocols/sstp',
    rule: 'message',
    beyond: 'any',
    seeds: () =>
      valid('protocols/sstp/vectors/sstp-request.json')().filter(
        (bytes) => refusalOfSstp('request', bytes) === undefined,
      ),
    refusal: (sentence) => refusalOfSstp('request', sentence),
  },
  {
    folder: 'protocols/sstp',
    rule: 'sent-request',
    isLoose: true,
    refusal: (sentence) => refusalOfSstp('request', sentence),
  },
  {
    folder: 'protocols/sstp',
    rule: 'sent-reply',
    isLoose: true,
    beyond: ['S-28', 'not one message'],
    refusal: (sentence) => refusalOfSstp('reply', sentence),
  },
  {
    folder: 'protocols/sstp',
    rule: 'first-line-of-http',
    refusal: (sentence) =>
      lineOf(Buffer.from(sentence).toString('latin1')) !== undefined && chooseProtocol(sentence) === 'http'
        ? undefined
        : 'not http',
  },
  {
    folder: 'protocols/config',
    rule: 'filter-file',
    beyond: ['G-43'],
    refusal: named((text) => parseFilter(text, 'filter'), { 'G-43': /the expression/ }),
  },
  {
    folder: 'protocols/config',
    rule: 'gatherer-conf',
    beyond: ['G-53', 'G-55', 'given twice', 'too large'],
    isCompared: (sentence) => /\n$/.test(sentence) && !/\\\s*\n/.test(sentence),
    refusal: named(
      (text) => {
        const { warnings } = parseGathererConf(`Gatherer-Name: x\n${text}`, 'gatherer.cf');
        const [first] = warnings.filter(({ problem }) => problem !== 'unknown variable');
        if (first !== undefined) throw first;
      },
      {
        'G-53': /is not a keyword|only modifiers|a program must follow|needs a/,
        'G-55': /is not a URL/,
        'given twice': /is given twice/,
        'too large': /must be/,
      },
    ),
  },
  {
    folder: 'protocols/config',
    rule: 'enumerated-node',
    seeds: () =>
      [
        'http://a.example/ 250 /dev/null 1 /dev/null HTTP|FTP 1 2 /bin/false\n',
        ' ftp://a.example/x\t007 f 20 g news 0.5 0 again \n',
      ].map((line) => Buffer.from(line)),
    beyond: ['G-55', 'too large'],
    refusal: named(
      (text) => {
        if (!/^[^\n]*\n$/.test(text)) throw new UsageError('not one line');
        parseEnumeratedNode(text.slice(0, -1), { file: 'program', line: 1 });
      },
      { 'G-55': /is not a URL/, 'too large': /must be a whole number|must be .* to/ },
    ),
  },
  {
    folder: 'protocols/broker',
    rule: 'broker-conf',
    refusal: named((text) => parseBrokerConf(text, '/b/admin/broker.conf')),
  },
  {
    folder: 'protocols/broker',
    rule: 'collection-conf',
    beyond: ['port', 'BRK-7.6'],
    refusal: named(
      (text) => {
        const { warnings } = parseCollectionConf(text, 'Collection.conf');
        const [first] = warnings.filter(({ problem }) => problem.startsWith('skipped'));
        if (first !== undefined) throw first;
      },
      { port: /from 1 to 65535/, 'BRK-7.6': /--FLAGS|--QUERY/ },
    ),
  },
  {
    folder: 'protocols/gatherd',
    rule: 'gatherd-cf',
    refusal: named((text) => {
      const [first] = parseGatherdConf(text, 'gatherd.cf').warnings.filter(
        ({ problem }) => !problem.includes('no peer matches'),
      );
      if (first !== undefined) throw first;
    }),
  },
  {
    folder: 'servers/essence',
    rule: 'type-rules',
    beyond: ['E-9'],
    refusal: named((text) => parseTypeRules(text, 'byname.cf'), EXPRESSION),
  },
  {
    folder: 'servers/essence',
    rule: 'stoplist-cf',
    refusal: named((text) => parseTypeList(text, 'stoplist.cf')),
  },
  {
    folder: 'servers/essence',
    rule: 'quick-sum-cf',
    beyond: ['E-9'],
    refusal: named((text) => parseQuickRules(text, 'quick-sum.cf'), EXPRESSION),
  },
  {
    folder: 'servers/essence',
    rule: 'extraction-table',
    refusal: named((text) => parseExtractionTable(text, 'HTML.sum')),
  },
  {
    folder: 'servers/essence',
    rule: 'rules-file',
    beyond: ['E-9', 'E-128'],
    refusal: named((text) => parsePostRules(text, 'rules'), {
      'E-9': /: the expression/,
      'E-128': /a program is expected/,
    }),
  },
];

/** Whether a Broker reads the bytes as one message: an LF outside quotes ends it (BRK-1.8). */
function isOneMessage(sentence: Uint8Array): boolean {
  try {
    frameMessage(sentence);
    return true;
  } catch (error) {
    if (error instanceof UsageError) return false;
    throw error;
  }
}

/** The text of one line without its end; undefined if it is not one. */
function lineOf(text: string): string | undefined {
  if (!text.endsWith('\n') || text.indexOf('\n') !== text.length - 1) return undefined;
  return text.slice(0, text.endsWith('\r\n') ? -2 : -1);
}

/** Whether gatherd reads a line as a command, or ignores it because it is blank. */
function isCommandLine(text: string): boolean {
  const line = lineOf(text);
  if (line === undefined) return false;
  const command = parseCommand(line);
  return command === undefined || !/^(?:unknown|bad-|http)/.test(command.kind);
}

/** A strict decoder returns what precedes a defect, and throws with the next call. */
function refusalOfDecoder(decoder: SoifDecoder | SectionDecoder, sentence: Uint8Array): string | undefined {
  return ruleOf(() => {
    decoder.push(sentence);
    if (decoder.failed) decoder.push(new Uint8Array(0));
    decoder.end();
    if (decoder.failed) decoder.end();
  });
}

/** The bytes of the groups of bulk replies. */
function bodies(file: string): Uint8Array[] {
  return valid(file)().map((bytes) => {
    const at = Buffer.from(bytes).indexOf('@');
    return bytes.subarray(at);
  });
}

function refusalOfBulk(sentence: Uint8Array): string | undefined {
  let isComplete = false;
  let warning: string | undefined;
  const rule = ruleOf(() => {
    const decoder = new BulkReplyDecoder();
    const take = (events: ReturnType<BulkReplyDecoder['push']>) => {
      for (const event of events) {
        if (event.kind === 'end') isComplete = event.complete;
        if (event.kind === 'warning') warning ??= event.rule;
      }
    };
    take(decoder.push(sentence));
    while (!decoder.done) take(decoder.end());
  });
  return rule ?? warning ?? (isComplete ? undefined : 'incomplete');
}

function refusalOfRegistry(sentence: Uint8Array): string | undefined {
  return ruleOf(() => {
    const decoder = new RegistryDecoder();
    let version = 0;
    for (const item of [...decoder.push(sentence), ...decoder.end()]) {
      if (item.kind === 'damage') throw new ProtocolError(item.message, { protocol: 'registry', ...item });
      if (item.kind === 'header') version = item.version;
      if (!isRegistryVersion(version))
        throw new ProtocolError('version', { protocol: 'registry', rule: 'REG-9', offset: 4 });
      if (item.kind === 'record') decodeRecordData(item.data, version);
    }
  });
}

/** Whether the sentence is one message, to its last byte. */
function refusalOfSstp(side: 'request' | 'reply', sentence: Uint8Array): string | undefined {
  let messages = 0;
  let isOpen = false;
  const rule = ruleOf(() => {
    const decoder = new SstpDecoder(side);
    for (let offset = 0; offset < sentence.length; ) {
      offset = decoder.read(sentence, offset);
      const message = decoder.takeMessage();
      isOpen = message === undefined;
      if (message !== undefined) messages++;
    }
  });
  return rule ?? (messages === 1 && !isOpen ? undefined : 'not one message');
}

/** Whether a client takes the sentence for a whole update. */
function refusalOfUpdate(sentence: Uint8Array): string | undefined {
  const session = new GatherdClientSession();
  session.push(Buffer.from('000 - HELLO 1.8 h\n'));
  session.sendUpdate(0);
  let isEnded = false;
  const rule = ruleOf(() => {
    for (const { kind } of session.push(sentence)) isEnded ||= kind === 'update-end';
    if (session.failure !== undefined) throw session.failure;
  });
  return rule ?? (isEnded ? undefined : 'incomplete');
}
