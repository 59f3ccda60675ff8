// The grammars of the protocols beside their codecs.
import {
  frameMessage,
  parseMatchedLine,
  parseMessage,
  ResultDecoder,
} from '../../../protocols/broker/index.js';
import { BulkReplyDecoder } from '../../../protocols/bulk/index.js';
import { ProtocolError, UsageError } from '../../../protocols/errors.js';
import { GatherdClientSession, parseCommand, parseStatusLine } from '../../../protocols/gatherd/index.js';
import {
  decodeRecordData,
  GathererIds,
  isRegistryVersion,
  RegistryDecoder,
} from '../../../protocols/registry/index.js';
import { decodeAnnotations, SectionDecoder, SoifDecoder } from '../../../protocols/soif/index.js';
import { chooseProtocol, SstpDecoder } from '../../../protocols/sstp/index.js';
import { type Pair, ruleOf, valid } from './pair.js';

const GREETING = Buffer.from('200 - HARVEST Broker 1.0\n');

const OBJECT = '@FILE { u\nTitle{3}:\ta\nb\nBody{1}:\t}\n}\n';

export const PROTOCOL_PAIRS: readonly Pair[] = [
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
    beyond: ['the CR before LF'],
    refusal: (sentence) => {
      const text = Buffer.from(sentence).toString('latin1');
      if (isCommandLine(text)) return undefined;
      // The grammar may derive it as a part of the argument.
      return isCommandLine(text.replace(/\r\n$/, 'x\n')) ? 'the CR before LF' : 'not a command';
    },
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
    refusal: (sentence) => refusalOfReply(sentence, (session) => session.sendUpdate(0)),
  },
  {
    folder: 'protocols/gatherd',
    rule: 'object-reply',
    beyond: 'any',
    isLoose: true,
    seeds: () => [Buffer.from(`300 - Sending object u\n${OBJECT}399 - Sent object\n`)],
    refusal: (sentence) => refusalOfReply(sentence, (session) => session.sendObject('u')),
  },
  {
    folder: 'protocols/gatherd',
    rule: 'info-reply',
    beyond: 'any',
    isLoose: true,
    seeds: () => [Buffer.from(`${OBJECT}600 - End of INFO\n`), Buffer.from(`600 - INFO\n${OBJECT}`)],
    refusal: (sentence) => refusalOfReply(sentence, (session) => session.info()),
  },
  {
    folder: 'protocols/gatherd',
    rule: 'greeting',
    isLoose: true,
    refusal: (sentence) =>
      ruleOf(() => {
        const [event] = new GatherdClientSession().push(sentence);
        if (event?.kind !== 'greeting' || event.hostname === '') throw new UsageError('no greeting');
      }),
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
    beyond: 'any',
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

/** Whether a client takes the sentence for a whole reply to a command. */
function refusalOfReply(
  sentence: Uint8Array,
  send: (session: GatherdClientSession) => unknown,
): string | undefined {
  const session = new GatherdClientSession();
  session.push(Buffer.from('000 - HELLO 1.8 h\n'));
  send(session);
  let isEnded = false;
  const rule = ruleOf(() => {
    for (const { kind } of session.push(sentence)) isEnded ||= kind === 'update-end' || kind === 'object-end';
    if (session.failure !== undefined) throw session.failure;
  });
  return rule ?? (isEnded ? undefined : 'incomplete');
}
