// A long message is parsed in steps, each in a turn of its session, which pays before.
import t from 'tap';
import { messageSteps, parseMessage } from '../../../protocols/broker/index.js';
import { ProtocolError } from '../../../protocols/errors.js';
import { serveConnection } from '../../../servers/broker/server.js';
import { FairShare, type HostConnection } from '../../../servers/host/index.js';
import { openBroker } from './helpers.js';

/** Tokens and bytes of a step; its last token may exceed the bytes. */
const STEP_TOKENS = 256;
const STEP_BYTES = 4096;
/** The longest message has 64 KiB. */
const MOST_BYTES = 60_000;

/** `part` again and again, up to the longest message, or as often as a limit of the grammar allows. */
function long(head: string, part: string, tail: string, most = Number.POSITIVE_INFINITY): string {
  return head + part.repeat(Math.min(most, Math.floor(MOST_BYTES / part.length))) + tail;
}

const MESSAGES: Readonly<Record<string, string>> = {
  'flags of a word': long('#USER ', '#desc ', '#END a'),
  'flags with values': long('#USER ', '#index error 1 ', '#END a'),
  'unknown flags': long('#USER ', '#index foo bar ', '#END a'),
  'flags without an end': long('#BULK ', '#since 1 ', ''),
  'flags, then an error': long('#USER ', '#opaque ', '#END ('),
  'words without operators': long('#USER #END ', 'a ', 'a', 999),
  'long words': long('#USER #END ', `${'x'.repeat(50)} or `, 'a', 999),
  'more words than a query may have': long('#USER #END ', 'a or ', 'a'),
  'negations in parentheses': long('#USER #END ', '(not a) or ', 'a', 999),
  'parentheses in parentheses': long('#USER #END ', `${'('.repeat(29)}a${')'.repeat(29)} `, 'a', 999),
  'attributes of a group': long('#USER #END ', 'body : (a or b) and ', 'c', 490),
  'comparisons, then an error': long('#USER #END ', 'time less-than 5 and ', ')', 900),
  'strings with escapes': long('#USER #END ', `"${'\\"'.repeat(30)}" `, 'a', 999),
  'a string that is never closed': long('#USER #END ', '"a b" ', '"', 999),
  'the query of a command': long('#ADMIN #password x #rem-object-query ', 'a and ', 'a', 999),
};

/** The tokens of a message, counted without the parser: strings, punctuation, words. */
function countTokens(text: string): number {
  return text.match(/"(?:\\[\s\S]|[^"\\])*"?|[():]|[^\s():"]+/g)?.length ?? 0;
}

/** How a message ends, and after how many steps. */
function parseInSteps(line: Uint8Array): { readonly end: unknown; readonly steps: number } {
  let steps = 1;
  try {
    const parser = messageSteps(line);
    for (let step = parser.next(); ; step = parser.next(), steps++)
      if (step.done === true) return { end: step.value, steps };
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error;
    return { end: error.message, steps };
  }
}

function parseAtOnce(line: Uint8Array): unknown {
  try {
    return parseMessage(line);
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error;
    return error.message;
  }
}

/** The bytes that are parsed: up to the error, if there is one. */
function parsedPart(text: string): string {
  try {
    parseMessage(Buffer.from(text));
    return text;
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error;
    return text.slice(0, error.offset);
  }
}

t.test('no step of the parser takes more than so many tokens and bytes', (t) => {
  for (const [name, text] of Object.entries(MESSAGES)) {
    const line = Buffer.from(text);
    const { end, steps } = parseInSteps(line);
    t.same(end, parseAtOnce(line), `${name}: the same in steps`);
    const part = parsedPart(text);
    // A term ends a step, after the parentheses before it.
    const least = Math.max(countTokens(part) / (STEP_TOKENS + 64), part.length / (STEP_BYTES + 512));
    t.ok(steps >= Math.floor(least), `${name}: ${steps} steps, at least ${least.toFixed(1)}`);
  }
  t.end();
});

/** A connection whose session has no turn but those that it waits for. */
class SlowedConnection implements HostConnection {
  readonly peer = { address: '192.0.2.1', port: 1, name: async () => undefined };
  readonly log = { info: () => {}, warn: () => {}, error: () => {} };
  readonly signal = new AbortController().signal;
  turns = 0;
  readonly share = new FairShare({
    sliceMs: 0,
    now: () => 0,
    nextTurn: (callback) => {
      this.turns += 1;
      setImmediate(callback);
    },
  }).join();
  readonly replies: string[] = [];
  readonly #message: string;

  constructor(message: string) {
    this.#message = message;
  }

  async *chunks(): AsyncGenerator<Uint8Array, void, undefined> {
    yield Buffer.from(`${this.#message}\n`);
  }

  async write(bytes: Uint8Array): Promise<void> {
    this.replies.push(Buffer.from(bytes).toString('latin1'));
  }

  deliver(bytes: Uint8Array): Promise<void> {
    return this.write(bytes);
  }

  pollEnd(): boolean {
    return false;
  }

  watchEnd(): void {}

  async end(): Promise<void> {}

  destroy(): void {}
}

t.test('each step has a turn, and a long message is paid for before', async (t) => {
  const { broker } = await openBroker(t);
  const options = { broker, host: '', port: 0, log: broker.log, messageTimeoutMs: 1000 };
  const short = new SlowedConnection('#USER #END a');
  await serveConnection(short, options);
  t.equal(short.share.rank, 0, 'a short message costs little');
  for (const [name, text] of Object.entries(MESSAGES)) {
    const connection = new SlowedConnection(text);
    await serveConnection(connection, options);
    const { steps } = parseInSteps(Buffer.from(text));
    t.ok(connection.turns >= steps - 1, `${name}: ${connection.turns} turns for ${steps} steps`);
    t.ok(connection.share.rank > 0 || text.length < 2500, `${name}: comes after the short one`);
    t.equal(connection.replies.length > 1, true, `${name}: is answered`);
  }
});
