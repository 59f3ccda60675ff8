// A Broker that answers queries, independent of the kit's code, for the tests of the conformance suite.
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import type { Test } from 'tap';
import type { Page } from './broker-reference.js';

/** The flags of a message that this Broker supports. */
interface Flags {
  desc: boolean;
  opaque: boolean;
  ignoreCase: boolean;
  matchWord: boolean;
  maxResult: number;
  maxFiles: number;
  maxLines: number;
  readonly attributes: string[];
  readonly notices: string[];
}

type Found = ReadonlySet<Page>;

/** The behavior of the Broker. {@link CORRECT_BROKER} is correct, and any member can be replaced. */
export interface BrokerBehavior {
  readonly greeting: string;
  readonly lineEnd: string;
  readonly objectEnd: string;
  /** Offset at which the message ends, -1 if it is too long, or undefined if it is incomplete. */
  messageEnd(input: string): number | undefined;
  /** Changes a message before it is parsed. */
  rewrite(message: string): string;
  refuse(why: string): string;
  and(a: Found, b: Found): Found;
  or(a: Found, b: Found): Found;
  except(a: Found, b: Found): Found;
  not(all: Found, a: Found): Found;
  readonly groupsLeft: boolean;
  /** BRK-3.7: whether case is ignored without a flag. */
  readonly ignoresCase: boolean;
  term(word: string, page: Page, flags: Flags): boolean;
  select(attribute: string, operator: string, value: string, page: Page): boolean;
  flag(flags: Flags, name: string, value: string): boolean;
  limit(found: readonly Page[], flags: Flags): readonly Page[];
  describe(page: Page, flags: Flags): string;
  attribute(name: string, value: string): string;
  lines(page: Page, words: readonly string[], flags: Flags): readonly string[];
  /** Changes the whole reply before it is sent. */
  finish(reply: string): string;
  admin(password: string, command: string): string;
  close(socket: Socket): void;
}

const text = ({ url, title, description }: Page) => `${url}\n${title}\n${description}`;
const counted = (head: string, value: string) => `${head}${value.length}\n${value}\n`;

export const CORRECT_BROKER: BrokerBehavior = {
  greeting: '200 - Simple Broker 1\n',
  lineEnd: '\n',
  objectEnd: '130 - object end',
  messageEnd(input) {
    let isQuoted = false;
    for (let i = 0; i < input.length; i++) {
      if (isQuoted && input[i] === '\\') i++;
      else if (input[i] === '"') isQuoted = !isQuoted;
      else if (input[i] === '\n' && !isQuoted && input.slice(0, i).trim() !== '') return i;
    }
    return input.length > 65_536 ? -1 : undefined;
  },
  rewrite: (message) => message,
  refuse: (why) => `111 - ERROR: Malformed message: ${why}\n`,
  and: (a, b) => new Set([...a].filter((page) => b.has(page))),
  or: (a, b) => new Set([...a, ...b]),
  except: (a, b) => new Set([...a].filter((page) => !b.has(page))),
  not: (all, a) => new Set([...all].filter((page) => !a.has(page))),
  groupsLeft: false,
  ignoresCase: true,
  term(word, page, { ignoreCase, matchWord }) {
    if (word.length > 1000) return false;
    const pattern = word.replace(/\\(.)/gs, '$1').replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
    return new RegExp(matchWord ? `\\b${pattern}\\b` : pattern, ignoreCase ? 'i' : '').test(text(page));
  },
  select(attribute, operator, value, page) {
    const name = attribute.toLowerCase();
    const actual = name === 'url' ? page.url : name === 'update-time' ? '1700000000' : undefined;
    if (actual === undefined) return false;
    if (operator === 'exact') return actual === value;
    if (operator === 'regexp') return new RegExp(value).test(actual);
    const isNumeric = /^\d+$/.test(actual + value);
    const order = isNumeric ? Number(actual) - Number(value) : actual < value ? -1 : 1;
    if (operator === 'less-than') return order < 0;
    if (operator === 'greater-than') return order > 0;
    return actual.toLowerCase().includes(value.toLowerCase());
  },
  flag(flags, name, value) {
    if (name === 'case') flags.ignoreCase = /^insen[si]*tive$/i.test(value);
    else if (name === 'maxresult') flags.maxResult = Number(value) || 1e9;
    else if (name === 'maxfiles') flags.maxFiles = Number(value) || 1e9;
    else if (name === 'error' && Number(value) > 0) throw new UnsupportedError('spelling errors');
    else if (name === 'maxlines') flags.maxLines = Number(value) || 1e9;
    return ['case', 'maxresult', 'maxfiles', 'maxlines', 'lifetime', 'error'].includes(name);
  },
  limit: (found, { maxFiles, maxResult }) => found.slice(0, Math.min(maxFiles, maxResult)),
  describe: ({ description }, { desc }) => (desc && description !== '' ? counted('124 - ', description) : ''),
  attribute: (name, value) => counted(`127 - ${name} `, value),
  lines(page, words, { opaque, maxLines }) {
    if (opaque) return [];
    const all = text(page).split('\n');
    const found = all.filter((line) => words.some((word) => line.toLowerCase().includes(word.toLowerCase())));
    return found.slice(0, maxLines).map((line) => `122 - Matched line: text# ${line}\n`);
  },
  finish: (reply) => reply,
  admin: (password, command) => {
    if (password !== 'open sesame') return '111 - ERROR: Invalid password\n';
    const isKnown = /^#(?:do-stats|flush-log|incremental-index|rem-object-query \S.*)$/i.test(command);
    return isKnown ? '101 - done\n' : '111 - ERROR: unknown command\n';
  },
  close: (socket) => socket.end(),
};

/** Serves the pages on a free port of loopback until the test ends. */
export async function simpleBroker(
  t: Test,
  pages: readonly Page[],
  behavior: BrokerBehavior,
): Promise<number> {
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    let input = '';
    let isAnswered = false;
    const answer = (message: string) => {
      isAnswered = true;
      const reply = message === '' ? '' : replyTo(message.trim(), pages, behavior);
      socket.write(Buffer.from(behavior.finish(reply).replaceAll('\n', behavior.lineEnd), 'latin1'));
      behavior.close(socket);
    };
    socket.write(behavior.greeting);
    socket.on('data', (chunk) => {
      if (isAnswered) return;
      input += chunk.toString('latin1');
      const end = behavior.messageEnd(input);
      if (end !== undefined) answer(end < 0 ? 'too long' : input.slice(0, end));
    });
    socket.on('end', () => {
      if (!isAnswered) answer(input);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const address = server.address();
  return address === null || typeof address === 'string' ? 0 : address.port;
}

/** The message is malformed. */
class MalformedError extends Error {}
/** BRK-2.19: this engine does not support the query. */
class UnsupportedError extends Error {}

function replyTo(message: string, pages: readonly Page[], behavior: BrokerBehavior): string {
  const admin = /^#ADMIN(?:\s+#password(?:\s+(?:"((?:[^"\\]|\\.)*)"|([^\s#]\S*)))?)?\s*(.*)$/is.exec(message);
  if (admin !== null) return behavior.admin(admin[1] ?? admin[2] ?? '', admin[3] ?? '');
  try {
    return new MessageEvaluator(behavior.rewrite(message), pages, behavior).reply();
  } catch (error) {
    if (error instanceof MalformedError) return behavior.refuse(error.message);
    if (error instanceof UnsupportedError) return `111 - ERROR: Simple does not support ${error.message}\n`;
    throw error;
  }
}

/** Evaluates one user message, token by token. */
class MessageEvaluator {
  readonly #tokens: readonly string[];
  readonly #words: string[] = [];
  readonly #all: Found;
  #position = 0;
  readonly #flags: Flags = {
    ...{ desc: false, opaque: false, ignoreCase: true, matchWord: false },
    ...{ maxResult: 1e9, maxFiles: 1e9, maxLines: 1e9, attributes: [], notices: [] },
  };

  constructor(
    message: string,
    readonly pages: readonly Page[],
    readonly behavior: BrokerBehavior,
  ) {
    this.#flags.ignoreCase = behavior.ignoresCase;
    this.#tokens = message.match(/"(?:[^"\\]|\\.)*"|[():]|[^\s():"]+/gs) ?? [];
    this.#all = new Set(pages);
  }

  reply(): string {
    if (!/^#user$/i.test(this.#next())) throw new MalformedError('no #USER');
    this.#readFlags();
    const isAll = /^#allb$/i.test(this.#peek());
    const found = isAll ? this.#all : this.#expression();
    if (!isAll && this.#peek() !== '') throw new MalformedError('more');
    const { behavior } = this;
    const flags = this.#flags;
    const objects = behavior.limit([...found], flags).map((page) => {
      const head = `120 - ${page.url}\n125 - http://b.example.org/objects/${this.pages.indexOf(page)}\n126 - http://b.example.org/\n`;
      const known: Record<string, string> = {
        title: page.title,
        'update-time': '1700000000',
        'gatherer-name': 'g',
      };
      const values = flags.attributes.map((name) => {
        const value = known[name.toLowerCase()];
        return value === undefined ? '' : behavior.attribute(name, value);
      });
      const lines = isAll ? [] : behavior.lines(page, this.#words, flags);
      return `${head}${behavior.describe(page, flags)}${values.join('')}${lines.join('')}${behavior.objectEnd}\n`;
    });
    const nothing = objects.length === 0 ? '101 - No objects matched your query.\n' : '';
    return flags.notices.join('') + objects.join('') + nothing;
  }

  #peek(): string {
    return this.#tokens[this.#position] ?? '';
  }

  #next(): string {
    return this.#tokens[this.#position++] ?? '';
  }

  #readFlags(): void {
    const flags = this.#flags;
    for (;;) {
      const token = this.#next().toLowerCase();
      if (token === '#end') return;
      if (token === '#desc') flags.desc = true;
      else if (token === '#opaque') flags.opaque = true;
      else if (token === '#attribute') flags.attributes.push(this.#next());
      else if (token === '#since') this.#since(Number(this.#next()));
      else if (token === '#index') this.#indexFlag();
      else throw new MalformedError(`no flag: ${token}`);
    }
  }

  #since(time: number): void {
    if (time > 1_700_000_000) this.#flags.maxFiles = 0;
  }

  #indexFlag(): void {
    const name = this.#next().toLowerCase();
    if (name === '' || name.startsWith('#')) throw new MalformedError('no name');
    if (name === 'matchword') {
      this.#flags.matchWord = true;
      return;
    }
    const hasValue = !this.#peek().startsWith('#');
    if (this.behavior.flag(this.#flags, name, hasValue ? this.#next() : '')) {
      if (!hasValue) throw new MalformedError('no value');
    } else this.#flags.notices.push(`101 - ignored: ${name}\n`);
  }

  #expression(): Found {
    let left = this.#primary();
    for (;;) {
      const word = this.#peek().toLowerCase();
      if (word === '' || word === ')') return left;
      const isOperator = /^(?:and|or|except)$/.test(word);
      if (isOperator) this.#position++;
      const operator = word === 'or' ? 'or' : word === 'except' ? 'except' : 'and';
      if (!this.behavior.groupsLeft) return this.behavior[operator](left, this.#expression());
      left = this.behavior[operator](left, this.#primary());
    }
  }

  #primary(): Found {
    const { behavior } = this;
    const token = this.#next();
    if (token.toLowerCase() === 'not') return behavior.not(this.#all, this.#primary());
    if (token === '(') {
      const group = this.#expression();
      if (this.#next() !== ')') throw new MalformedError('not closed');
      return group;
    }
    const word = this.#id(token);
    const operator = this.#peek().toLowerCase();
    if (/^(?::|exact|regexp|less-than|greater-than)$/.test(operator)) {
      this.#position++;
      return this.#selected(word, operator, this.#id(this.#next()));
    }
    const [, attribute, value] = (token.startsWith('"') && /^(\w+)=(.+)$/.exec(word)) || [];
    if (attribute !== undefined && value !== undefined) return this.#selected(attribute, ':', value);
    this.#words.push(word.replace(/\\(.)/gs, '$1'));
    return new Set(this.pages.filter((page) => behavior.term(word, page, this.#flags)));
  }

  #selected(attribute: string, operator: string, value: string): Found {
    const { select } = this.behavior;
    return new Set(this.pages.filter((page) => select(attribute, operator, value, page)));
  }

  #id(token: string): string {
    if (token.startsWith('"')) return token.slice(1, -1).replaceAll('\\"', '"');
    if (/^(?:|\(|\)|:|#.*|and|or|not|except)$/i.test(token)) throw new MalformedError(`no term: ${token}`);
    return token;
  }
}
