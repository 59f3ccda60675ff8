import { hostname } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { UsageError } from '../../../protocols/errors.js';
import { canonicalUrl } from '../../../protocols/urls/index.js';
import { listenProblem } from '../listen-problem.js';

/** Answers of `harvest init` (G-160), in the order of the questions. */
export interface Answers {
  /** Host name of the search page's URL. */
  readonly wwwHost: string;
  readonly wwwPort: string;
  /** URLs and directories, separated by blanks. */
  readonly index: string;
  /** Name of this Harvest server: Gatherer-Name and Broker-Name. */
  readonly name: string;
  readonly gathererDirectory: string;
  readonly gathererPort: string;
  readonly brokerDirectory: string;
  readonly brokerPort: string;
  /** Administrative password of the Broker. */
  readonly password: string;
  /** Contact address sent to the servers (G-65). */
  readonly email: string;
}

/** One question of the dialogue. */
export interface Question {
  readonly key: keyof Answers;
  readonly text: string;
  /** Also asked with `-novice` (G-159), which takes the defaults of the others. */
  readonly novice: boolean;
  /** The answer is not shown while typed. */
  readonly secret?: boolean;
  /** The default; it may depend on earlier answers. */
  readonly defaultAnswer: (before: Partial<Answers>, home: string) => Promise<string> | string;
  /** The fault of an answer, as the end of a sentence; undefined if it is valid. */
  readonly problem: (answer: string) => string | undefined;
}

/** The kit's own directory, which is indexed by default. */
export const KIT_HOME = dirname(fileURLToPath(import.meta.resolve('#package.json')));

/**
 * Checks that an answer fits into one line of a configuration file: `\` at its end continues the line, `${` is
 * a variable (G-16, G-25).
 */
const validLine = (answer: string): string | undefined =>
  /[\0-\x1f\x7f]|\\$|\$\{/.test(answer)
    ? 'contains characters that a configuration file cannot hold'
    : undefined;
const requiredLine = (answer: string): string | undefined =>
  answer.trim() === '' ? 'is required' : validLine(answer);

/** G-160: the questions in their order, with the defaults of G-160 and G-161. */
export const QUESTIONS: readonly Question[] = [
  {
    key: 'wwwHost',
    text: 'Host of the search page (WWW server)',
    novice: false,
    defaultAnswer: () => 'localhost',
    problem: (answer) => (/^[\w.:[\]-]+$/.test(answer) ? undefined : 'must be the name of a host'),
  },
  {
    key: 'wwwPort',
    text: 'Port of the search page',
    novice: false,
    defaultAnswer: () => freePort(8080),
    problem: portProblem,
  },
  {
    key: 'index',
    text: 'What to index (URLs or directories, separated by blanks)',
    novice: true,
    defaultAnswer: () => KIT_HOME,
    problem: indexProblem,
  },
  {
    key: 'name',
    text: 'Name of this Harvest server',
    novice: true,
    defaultAnswer: () => `Harvest server of ${hostname()}`,
    problem: requiredLine,
  },
  {
    key: 'gathererDirectory',
    text: 'Directory of the Gatherer',
    novice: false,
    defaultAnswer: ({ name = '' }, home) => join(home, 'gatherers', fileNameOf(name)),
    problem: requiredLine,
  },
  {
    key: 'gathererPort',
    text: 'Port of the Gatherer',
    novice: false,
    defaultAnswer: () => freePort(8500),
    problem: portProblem,
  },
  {
    key: 'brokerDirectory',
    text: 'Directory of the Broker',
    novice: false,
    defaultAnswer: ({ name = '' }, home) => join(home, 'brokers', fileNameOf(name)),
    problem: requiredLine,
  },
  {
    key: 'brokerPort',
    text: 'Port of the Broker',
    novice: false,
    // G-160: one above the Gatherer's.
    defaultAnswer: ({ gathererPort = '8500' }) => freePort(Math.min(Number(gathererPort) + 1, MAX_PORT)),
    problem: portProblem,
  },
  {
    key: 'password',
    text: "The Broker's administrative password (empty: generate one)",
    novice: false,
    secret: true,
    defaultAnswer: () => '',
    problem: validLine,
  },
  {
    key: 'email',
    text: 'Your e-mail address, sent to the servers for their operators (empty: not sent)',
    novice: false,
    defaultAnswer: () => '',
    problem: (answer) =>
      answer === '' || /^[^\s@]+@[^\s@]+$/.test(answer) ? undefined : 'must be an address, name@host',
  },
];

/** `$HARVEST_HOME` (G-162); default: `harvest` in the current directory, which needs no root. */
export function harvestHome(): string {
  return resolve(process.env.HARVEST_HOME || 'harvest');
}

/**
 * Checks answers that depend on each other.
 *
 * @throws UsageError if two of them conflict
 */
export function checkCombination(answers: Answers): void {
  const { wwwPort, gathererPort, brokerPort, gathererDirectory, brokerDirectory } = answers;
  if (new Set([wwwPort, gathererPort, brokerPort].map(Number)).size < 3) {
    throw new UsageError('the search page, the Gatherer and the Broker need three different ports');
  }
  if (resolve(gathererDirectory) === resolve(brokerDirectory)) {
    throw new UsageError('the Gatherer and the Broker need two different directories');
  }
}

/** Turns a name into a file name of at most 40 characters: `My Server!` becomes `my-server`. */
export function fileNameOf(name: string): string {
  const plain = name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 40)
    .replace(/^-+|-+$/g, '');
  return plain === '' ? 'harvest' : plain;
}

/** Splits the answer about what to index into URLs and directories. */
export function splitIndexAnswer(answer: string): string[] {
  return answer.split(/\s+/).filter((word) => word !== '');
}

/** Whether a word of that answer is a URL rather than a directory. */
export function isUrl(word: string): boolean {
  return /^(?:[a-z][a-z0-9+.-]*:\/\/|news:)/i.test(word);
}

function indexProblem(answer: string): string | undefined {
  const words = splitIndexAnswer(answer);
  if (words.length === 0) return 'is required';
  const wrong = words.find((word) => isUrl(word) && canonicalUrl(word) === undefined);
  return wrong === undefined
    ? validLine(answer)
    : `contains ${wrong}, which is not a URL that can be gathered`;
}

const MAX_PORT = 65_535;

function portProblem(answer: string): string | undefined {
  const port = /^\d{1,5}$/.test(answer) ? Number(answer) : 0;
  return port >= 1 && port <= MAX_PORT ? undefined : 'must be a port, 1 to 65535';
}

/** Number of ports to try, beginning with the preferred one. */
const MAX_TRIES = 20;

/** Returns the preferred port or, if it is in use, the next free one; the preferred one if none is free. */
async function freePort(preferred: number): Promise<string> {
  for (let port = preferred; port < preferred + MAX_TRIES && port <= MAX_PORT; port++) {
    if ((await listenProblem(port)) === undefined) return String(port);
  }
  return String(preferred);
}
