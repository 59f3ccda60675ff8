import { createServer } from 'node:net';
import { hostname } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { UsageError } from '../../../protocols/errors.js';
import { canonicalUrl } from '../../../protocols/urls/index.js';

/** What `harvest init` has to know (G-160), in the order of the questions. */
export interface Answers {
  /** Name under which browsers reach the search page. */
  readonly wwwHost: string;
  readonly wwwPort: string;
  /** URLs and directories, separated by blanks. */
  readonly index: string;
  /** Name of this Harvest server: that of the Gatherer and of the Broker. */
  readonly name: string;
  readonly gathererDirectory: string;
  readonly gathererPort: string;
  readonly brokerDirectory: string;
  readonly brokerPort: string;
  /** Administrative password of the Broker. */
  readonly password: string;
  /** Sent to the servers that are asked (G-65), so that their operators know whom to write to. */
  readonly email: string;
}

/** One question of the dialogue. */
export interface Question {
  readonly key: keyof Answers;
  readonly text: string;
  /** Asked of a novice too (G-159); the rest takes its default there. */
  readonly novice: boolean;
  /** Not shown while it is typed. */
  readonly secret?: boolean;
  /** The default, which may depend on the answers before. */
  readonly proposal: (before: Partial<Answers>, home: string) => Promise<string> | string;
  /** What is wrong with an answer, as the end of a sentence; undefined: nothing. */
  readonly problem: (answer: string) => string | undefined;
}

/** The directory of the kit itself: what is indexed when nobody says what. */
export const KIT_HOME = dirname(fileURLToPath(import.meta.resolve('#package.json')));

/** A line of a configuration file has to hold it: `\` at its end would go on, `${` names a variable (G-16, G-25). */
const anything = (answer: string): string | undefined =>
  /[\0-\x1f\x7f]|\\$|\$\{/.test(answer) ? 'holds what a configuration file cannot' : undefined;
const something = (answer: string): string | undefined =>
  answer.trim() === '' ? 'is wanted' : anything(answer);

/** G-160: the questions in their order, with the defaults of G-160 and G-161. */
export const QUESTIONS: readonly Question[] = [
  {
    key: 'wwwHost',
    text: 'Host of the search page (WWW server)',
    novice: false,
    proposal: () => 'localhost',
    problem: (answer) => (/^[\w.:[\]-]+$/.test(answer) ? undefined : 'must be the name of a host'),
  },
  {
    key: 'wwwPort',
    text: 'Port of the search page',
    novice: false,
    proposal: () => freePort(8080),
    problem: portProblem,
  },
  {
    key: 'index',
    text: 'What to index (URLs or directories, with blanks between them)',
    novice: true,
    proposal: () => KIT_HOME,
    problem: indexProblem,
  },
  {
    key: 'name',
    text: 'Name of this Harvest server',
    novice: true,
    proposal: () => `Harvest server of ${hostname()}`,
    problem: something,
  },
  {
    key: 'gathererDirectory',
    text: 'Directory of the Gatherer',
    novice: false,
    proposal: ({ name = '' }, home) => join(home, 'gatherers', fileNameOf(name)),
    problem: something,
  },
  {
    key: 'gathererPort',
    text: 'Port of the Gatherer',
    novice: false,
    proposal: () => freePort(8500),
    problem: portProblem,
  },
  {
    key: 'brokerDirectory',
    text: 'Directory of the Broker',
    novice: false,
    proposal: ({ name = '' }, home) => join(home, 'brokers', fileNameOf(name)),
    problem: something,
  },
  {
    key: 'brokerPort',
    text: 'Port of the Broker',
    novice: false,
    // G-160: that of the Gatherer and one more.
    proposal: ({ gathererPort = '8500' }) => freePort(Math.min(Number(gathererPort) + 1, MAX_PORT)),
    problem: portProblem,
  },
  {
    key: 'password',
    text: "The Broker's administrative password (empty: one is made up)",
    novice: false,
    secret: true,
    proposal: () => '',
    problem: anything,
  },
  {
    key: 'email',
    text: 'Your e-mail address, for the operators of the servers that are asked (empty: not sent)',
    novice: false,
    proposal: () => '',
    problem: (answer) =>
      answer === '' || /^[^\s@]+@[^\s@]+$/.test(answer) ? undefined : 'must be an address, name@host',
  },
];

/** `$HARVEST_HOME` (G-162); without it, `harvest` in the current directory: nobody needs to be root. */
export function harvestHome(): string {
  return resolve(process.env.HARVEST_HOME || 'harvest');
}

/**
 * Answers that belong together.
 *
 * @throws UsageError when two of them cannot both hold
 */
export function checkTogether(answers: Answers): void {
  const { wwwPort, gathererPort, brokerPort, gathererDirectory, brokerDirectory } = answers;
  if (new Set([wwwPort, gathererPort, brokerPort].map(Number)).size < 3) {
    throw new UsageError('the search page, the Gatherer and the Broker need three different ports');
  }
  if (resolve(gathererDirectory) === resolve(brokerDirectory)) {
    throw new UsageError('the Gatherer and the Broker need two different directories');
  }
}

/** A name as people write it, as the name of a file: `My Server!` is `my-server`. At most 40 letters. */
export function fileNameOf(name: string): string {
  const plain = name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 40)
    .replace(/^-+|-+$/g, '');
  return plain === '' ? 'harvest' : plain;
}

/** The words of the answer about what to index. */
export function indexWords(answer: string): string[] {
  return answer.split(/\s+/).filter((word) => word !== '');
}

/** Whether a word of that answer is a URL, and not a directory. */
export function isUrl(word: string): boolean {
  return /^(?:[a-z][a-z0-9+.-]*:\/\/|news:)/i.test(word);
}

function indexProblem(answer: string): string | undefined {
  const words = indexWords(answer);
  if (words.length === 0) return 'is wanted';
  const wrong = words.find((word) => isUrl(word) && canonicalUrl(word) === undefined);
  return wrong === undefined ? anything(answer) : `holds ${wrong}, which is no URL that can be gathered`;
}

const MAX_PORT = 65_535;

function portProblem(answer: string): string | undefined {
  const port = /^\d{1,5}$/.test(answer) ? Number(answer) : 0;
  return port >= 1 && port <= MAX_PORT ? undefined : 'must be a port, 1 to 65535';
}

/** Ports that are tried behind the usual one before it is proposed all the same. */
const TRIES = 20;

/** The usual port, or, where something listens on it already, one of the next that is free. */
async function freePort(usual: number): Promise<string> {
  for (let port = usual; port < usual + TRIES && port <= MAX_PORT; port++) {
    if (await isFree(port)) return String(port);
  }
  return String(usual);
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    await new Promise<void>((listening, failed) => {
      server.once('error', failed).listen(port, '127.0.0.1', listening);
    });
    return true;
  } catch {
    return false;
  } finally {
    server.close();
  }
}
