import { randomBytes } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { DEFAULT_DELAY, DEFAULT_URL_MAX } from '../../../protocols/config/root-node-defaults.js';
import { UsageError } from '../../../protocols/errors.js';
import { accessMethod, canonicalUrl } from '../../../protocols/urls/index.js';
import { type Answers, fileNameOf, isUrl, KIT_HOME, splitIndexAnswer } from './answers.js';

/** A file that `harvest init` writes. */
export interface PlannedFile {
  /** Absolute. */
  readonly path: string;
  readonly content: string;
  /** Permission bits. */
  readonly mode: number;
}

/** Directories and files to create. */
export interface Plan {
  readonly gathererDirectory: string;
  readonly gathererFile: string;
  readonly brokerDirectory: string;
  readonly brokerFile: string;
  /** Absolute. */
  readonly directories: readonly string[];
  readonly files: readonly PlannedFile[];
  /** Whether the password is generated. */
  readonly isPasswordGenerated: boolean;
}

/** Settings that the answers do not cover. */
export interface PlanOptions {
  /** Value of Indexer-Type. */
  readonly indexer: string;
  /** Further lines of broker.conf for it. */
  readonly indexerConfiguration?: string;
  /** Debugging messages of the programs (G-159 `-debug`). */
  readonly debug: boolean;
}

/** Rule files that are copied into a Gatherer's `lib` for editing (G-21, G-152). */
const RULE_FILES = ['bycontent.cf', 'byname.cf', 'byurl.cf', 'magic', 'quick-sum.cf', 'stoplist.cf'];

/** URL-Max of a directory: it loads no server. */
const DIRECTORY_URL_MAX = 100_000;

/** File name of the filter that accepts only the kit's own documents. */
const OWN_FILTER = 'own-documents.filter';

/**
 * Plans a Gatherer's directory in the layout of G-152 and a Broker's directory. Nothing is written yet.
 *
 * @throws UsageError if a directory to index does not exist
 */
export async function planServer(answers: Answers, options: PlanOptions): Promise<Plan> {
  const gatherer = resolve(answers.gathererDirectory);
  const broker = resolve(answers.brokerDirectory);
  const gathererFile = join(gatherer, `${fileNameOf(answers.name)}.cf`);
  const brokerFile = join(broker, 'admin', 'broker.conf');
  const file = (path: string, content: string, mode = 0o644): PlannedFile => ({ path, content, mode });
  const password = answers.password === '' ? randomBytes(12).toString('base64url') : answers.password;
  const roots = await rootLines(answers.index);
  const hasOwnDocuments = roots.some((line) => line.includes(OWN_FILTER));
  return {
    gathererDirectory: gatherer,
    gathererFile,
    brokerDirectory: broker,
    brokerFile,
    directories: [
      gatherer,
      ...['bin', 'data', 'lib', 'tmp'].map((name) => join(gatherer, name)),
      broker,
      join(broker, 'admin'),
    ],
    files: [
      // URLs may contain logins, and HTTP-Basic-Auth and FTP-Auth are added here.
      file(gathererFile, gathererConf(answers, gatherer, roots, options), 0o600),
      ...(await Promise.all(
        RULE_FILES.map(async (name) => file(join(gatherer, 'lib', name), await shippedRules(name))),
      )),
      ...(hasOwnDocuments ? [file(join(gatherer, 'lib', OWN_FILTER), await ownDocumentsFilter())] : []),
      // The file contains the password.
      file(brokerFile, brokerConf(answers, broker, password, options), 0o600),
      file(join(broker, 'admin', 'Collection.conf'), collectionConf(answers)),
    ],
    isPasswordGenerated: answers.password === '',
  };
}

async function shippedRules(name: string): Promise<string> {
  return readFile(fileURLToPath(import.meta.resolve(`#essence-lib/${name}`)), 'utf8');
}

/** Lines of `<RootNodes>` (G-28). */
async function rootLines(index: string): Promise<string[]> {
  return Promise.all(splitIndexAnswer(index).map(rootLine));
}

async function rootLine(word: string): Promise<string> {
  if (isUrl(word)) {
    const url = canonicalUrl(word) ?? word;
    const access = accessMethod(url).toUpperCase();
    return access === 'HTTP' || access === 'HTTPS'
      ? `${url} URL=${DEFAULT_URL_MAX} Delay=${DEFAULT_DELAY}`
      : `${url} URL=${DEFAULT_URL_MAX} Access=${access}`;
  }
  const path = resolve(word);
  const found = await stat(path).catch(() => undefined);
  if (found?.isDirectory() !== true) {
    throw new UsageError(`${word}: is neither a directory nor a URL (a URL begins with http://)`);
  }
  const filter = path === resolve(KIT_HOME) ? `,lib/${OWN_FILTER}` : '';
  const url = pathToFileURL(`${path}/`).href.replace('file:///', 'file://localhost/');
  return `${canonicalUrl(url) ?? url} URL=${DIRECTORY_URL_MAX}${filter} Access=FILE Delay=0`;
}

/** Returns the filter for the kit's own documents, with the path of this installation. */
async function ownDocumentsFilter(): Promise<string> {
  const template = await readFile(fileURLToPath(import.meta.resolve('#own-documents.filter')), 'utf8');
  const path = `${pathToFileURL(KIT_HOME).pathname}/`;
  return template.replaceAll('@HOME@', path.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
}

function gathererConf(
  answers: Answers,
  directory: string,
  roots: readonly string[],
  { debug }: PlanOptions,
): string {
  const from = answers.email === '' ? '' : `HTTP-From:\t\t${answers.email}\n`;
  return `#
# ${answers.name}: the documents to gather. \`harvest help gatherer\` explains the variables.
#
Gatherer-Name:\t\t${answers.name}
Gatherer-Port:\t\t${answers.gathererPort}
Top-Directory:\t\t${directory}
Lib-Directory:\t\tlib
Essence-Options:\t--code --link-text --navigation
Index-Duplicates:\tno
Hidden-Files:\t\tno
${from}${debug ? 'Debug-Options:\t\t-D62,1\n' : ''}
# One RootNode a line: all documents that links reach from it, within its limits. URL= is the maximum number of URLs,
# Host= of hosts (1), Depth= of steps (0: no limit), Delay= the seconds between requests.
<RootNodes>
${roots.join('\n')}
</RootNodes>

# Single documents, one URL a line.
<LeafNodes>
</LeafNodes>
`;
}

function brokerConf(answers: Answers, directory: string, password: string, options: PlanOptions): string {
  return `# ${answers.name}: the Broker. Each line is a name, blanks, a value.
Broker-Name ${answers.name}
Broker-Directory ${directory}
Broker-Host ${answers.wwwHost}
Broker-Port ${answers.brokerPort}
HTTP-Host ${answers.wwwHost}
HTTP-Port ${answers.wwwPort}
Admin-Password ${password}
Indexer-Type ${options.indexer}
${options.indexerConfiguration ?? ''}`;
}

/** BRK-7.5: type 3 is incremental and compressed. */
function collectionConf({ gathererPort }: Answers): string {
  return `# Collection points: host, port, type (3: incremental, compressed), filter.
localhost ${gathererPort} 3 --
`;
}
