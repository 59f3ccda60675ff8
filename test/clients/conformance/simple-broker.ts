// A Broker that answers queries, independent of the kit's code, for the tests of the conformance suite.
import type { Socket } from 'node:net';
import type { Test } from 'tap';
import { tcpServer } from '../../helpers/tcp-server.js';
import type { Page } from './broker-reference.js';

/** The flags of a message that this Broker supports. */
interface Flags {
  desc: boolean;
  opaque: boolean;
  ignoreCase: boolean;
  matchWord: boolean;
  maxFiles: number;
  maxLines: number;
  readonly attributes: string[];
  readonly notices: string[];
}

type Found = ReadonlySet<Page>;

const text = ({ url, title, description }: Page) => `${url}\n${title}\n${description}`;
const counted = (head: string, value: string) => `${head}${value.length}\n${value}\n`;

/** BRK-1.8: bytes of a message. */
const LONGEST = 65_536;
/** BRK-2.24: nested terms, and terms side by side, of which each is one call. */
const DEEPEST = 500;

/** Returns the offset at which the message ends, -1 if it is too long, or undefined if it is incomplete. */
function messageEnd(input: string): number | undefined {
  let isQuoted = false;
  for (let i = 0; i < input.length; i++) {
    if (isQuoted && input[i] === '\\') i++;
    else if (input[i] === '"') isQuoted = !isQuoted;
    else if (input[i] === '\n' && !isQuoted && input.slice(0, i).trim() !== '')
      return input.slice(0, i).replace(/\r$/, '').length > LONGEST ? -1 : i;
  }
  return input.length > LONGEST + 1 ? -1 : undefined;
}

const COMBINE = {
  and: (a: Found, b: Found) => new Set([...a].filter((page) => b.has(page))),
  or: (a: Found, b: Found) => new Set([...a, ...b]),
  except: (a: Found, b: Found) => new Set([...a].filter((page) => !b.has(page))),
};

function hasTerm(word: string, page: Page, { ignoreCase, matchWord }: Flags): boolean {
  if (word.length > 1000) return false;
  const pattern = word.replace(/\\(.)/gs, '$1').replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(matchWord ? `\\b${pattern}\\b` : pattern, ignoreCase ? 'i' : '').test(text(page));
}

function selects(attribute: string, operator: string, value: string, page: Page): boolean {
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
}

/** Sets an #index flag. Returns whether it is known. */
function setFlag(flags: Flags, name: string, value: string): boolean {
  if (name === 'case') flags.ignoreCase = /^insen[si]*tive$/i.test(value);
  else if (name === 'maxresult' || name === 'maxfiles')
    flags.maxFiles = Math.min(flags.maxFiles, Number(value) || 1e9);
  else if (name === 'error' && Number(value) > 0) throw new UnsupportedError('spelling errors');
  else if (name === 'maxlines') flags.maxLines = Number(value) || 1e9;
  return ['case', 'maxresult', 'maxfiles', 'maxlines', 'lifetime', 'error'].includes(name);
}

function matchedLines(page: Page, words: readonly string[], { opaque, maxLines }: Flags): string {
  if (opaque) return '';
  const all = text(page).split('\n');
  const found = all.filter((line) => words.some((word) => line.toLowerCase().includes(word.toLowerCase())));
  return found
    .slice(0, maxLines)
    .map((line) => `122 - Matched line: text# ${line}\n`)
    .join('');
}

function execute(password: string, command: string): string {
  if (password !== 'open sesame') return '111 - ERROR: Invalid password\n';
  const isKnown = /^#(?:do-stats|flush-log|incremental-index|rem-object-query \S.*)$/i.test(command);
  return isKnown ? '101 - done\n' : '111 - ERROR: unknown command\n';
}

/** Serves the pages on a free port of loopback until the test ends. */
export function simpleBroker(
  t: Test,
  pages: readonly Page[],
  greeting = '200 - Simple Broker 1\n',
): Promise<number> {
  const serve = (socket: Socket) => {
    let input = '';
    let isAnswered = false;
    const answer = (message: string) => {
      isAnswered = true;
      socket.end(message === '' ? '' : replyTo(message.trim(), pages), 'latin1');
    };
    socket.write(greeting);
    socket.on('data', (chunk) => {
      if (isAnswered) return;
      input += chunk.toString('latin1');
      const end = messageEnd(input);
      if (end !== undefined) answer(end < 0 ? 'too long' : input.slice(0, end));
    });
    socket.on('end', () => {
      if (!isAnswered) answer(input);
    });
  };
  return tcpServer(t, serve, { allowHalfOpen: true });
}

/** The message is malformed. */
class MalformedError extends Error {}
/** BRK-2.19: this engine does not support the query. */
class UnsupportedError extends Error {}

function replyTo(message: string, pages: readonly Page[]): string {
  const admin = /^#ADMIN(?:\s+#password(?:\s+(?:"((?:[^"\\]|\\.)*)"|([^\s#]\S*)))?)?\s*(.*)$/is.exec(message);
  if (admin !== null) return execute(admin[1] ?? admin[2] ?? '', admin[3] ?? '');
  try {
    return new MessageEvaluator(message, pages).reply();
  } catch (error) {
    if (error instanceof MalformedError) return `111 - ERROR: Malformed message: ${error.message}\n`;
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
  #depth = 0;
  readonly #flags: Flags = {
    ...{ desc: false, opaque: false, ignoreCase: true, matchWord: false },
    ...{ maxFiles: 1e9, maxLines: 1e9, attributes: [], notices: [] },
  };

  constructor(
    message: string,
    readonly pages: readonly Page[],
  ) {
    this.#tokens = message.match(/"(?:[^"\\]|\\.)*"|[():]|[^\s():"]+/gs) ?? [];
    this.#all = new Set(pages);
  }

  reply(): string {
    if (!/^#user$/i.test(this.#next())) throw new MalformedError('no #USER');
    this.#readFlags();
    const isAll = /^#allb$/i.test(this.#peek());
    const found = isAll ? this.#all : this.#expression();
    if (!isAll && this.#peek() !== '') throw new MalformedError('more');
    const flags = this.#flags;
    const objects = [...found].slice(0, flags.maxFiles).map((page) => {
      const head = `120 - ${page.url}\n125 - http://b.example.org/objects/${this.pages.indexOf(page)}\n126 - http://b.example.org/\n`;
      const known: Record<string, string> = {
        title: page.title,
        'update-time': '1700000000',
        'gatherer-name': 'g',
      };
      const values = flags.attributes.map((name) => {
        const value = known[name.toLowerCase()];
        return value === undefined ? '' : counted(`127 - ${name} `, value);
      });
      const { description } = page;
      const described = flags.desc && description !== '' ? counted('124 - ', description) : '';
      const lines = isAll ? '' : matchedLines(page, this.#words, flags);
      return `${head}${described}${values.join('')}${lines}130 - object end\n`;
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
      else if (token === '#attribute' && flags.attributes.length < 256) flags.attributes.push(this.#next());
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
    const value = hasValue ? this.#next() : '';
    const isNumber = /^\d{1,10}$/.test(value) && Number(value) < 2 ** 32;
    if (/^max/.test(name) && hasValue && !isNumber) throw new MalformedError('no number');
    if (setFlag(this.#flags, name, value)) {
      if (!hasValue) throw new MalformedError('no value');
    } else this.#flags.notices.push(`101 - ignored: ${name}\n`);
  }

  #expression(): Found {
    if (++this.#depth > DEEPEST) throw new MalformedError('too many terms');
    const left = this.#primary();
    const word = this.#peek().toLowerCase();
    if (word === '' || word === ')') return left;
    const isOperator = /^(?:and|or|except)$/.test(word);
    if (isOperator) this.#position++;
    const operator = word === 'or' ? 'or' : word === 'except' ? 'except' : 'and';
    return COMBINE[operator](left, this.#expression());
  }

  #primary(): Found {
    const token = this.#next();
    if (token.toLowerCase() === 'not') return COMBINE.except(this.#all, this.#primary());
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
    return new Set(this.pages.filter((page) => hasTerm(word, page, this.#flags)));
  }

  #selected(attribute: string, operator: string, value: string): Found {
    return new Set(this.pages.filter((page) => selects(attribute, operator, value, page)));
  }

  #id(token: string): string {
    if (token.startsWith('"')) return token.slice(1, -1).replaceAll('\\"', '"');
    if (/^(?:|\(|\)|:|#.*|and|or|not|except)$/i.test(token)) throw new MalformedError(`no term: ${token}`);
    return token;
  }
}
