import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { parseGathererConf } from '../../protocols/config/index.js';
import { UsageError } from '../../protocols/errors.js';
import {
  type DocumentEvent,
  debugProcessors,
  documentChannel,
  followDebug,
  Gatherer,
} from '../gatherer/index.js';
import { createDebug, createLogger, DebugFlags, StopSignal } from '../host/index.js';
import { complain, EXIT } from './exit.js';
import { repeatedOption } from './option-values.js';
import { StandardOutput } from './standard-output.js';

const HELP = `
Expands a RootNode as the Gatherer does (limits, filters, robots.txt, pauses), and prints the URLs of the documents that it finds, in the
order in which they are visited. Nothing is summarized or kept. A modifier is one of a RootNode line: URL=, Host=, Access=, Delay=, Depth=,
Search=. URLs that fail are named on standard error.

Examples:
  httpenum http://www.example.org/ Depth=1
  httpenum -D20,1 -D21,1 -D42,1 http://www.example.org/     with debugging messages, on standard error
  httpenum-depth http://www.example.org/ URL=20
  fileenum file://localhost/usr/share/doc/ Depth=2

Exit status: 0 done; 1 no URL was found; 2 usage; 130 stopped.
`;

/** Outcomes of URLs that are not documents: directories and menus, redirects, and attempts that are repeated. */
const NO_DOCUMENTS: ReadonlySet<string> = new Set(['listed', 'redirected', 'retry', 'failed']);

/** `httpenum URL` and its relatives (G-3, G-4, G-149). */
export function enumCommand(): Command {
  return new Command('enum')
    .description('Prints the URLs of the documents of a RootNode.')
    .argument('<url>', 'the RootNode')
    .argument('[modifiers...]', 'its limits, e.g. Depth=1 URL=50')
    .option('-D, --debug <section,level>', 'show debugging messages (may be repeated)', repeatedOption, [])
    .addHelpText('after', HELP)
    .action(async function (this: Command, url: string, modifiers: string[], options: { debug: string[] }) {
      const isDeep = /-depth$/.test(this.name()) && !modifiers.some((word) => /^search=/i.test(word));
      const line = [url, ...modifiers, ...(isDeep ? ['Search=Depth'] : [])].join(' ');
      process.exitCode = await enumerate(line, options.debug);
    });
}

async function enumerate(line: string, flags: readonly string[]): Promise<number> {
  const directory = await mkdtemp(join(tmpdir(), 'harvest-enum-'));
  try {
    const access = /^file:/i.test(line) && !/\saccess=/i.test(line) ? ' Access=FILE' : '';
    const text = `Gatherer-Name: enum\nTop-Directory: ${directory}\nEssence-Options: --type-only\nReferences: no\n<RootNodes>\n${line}${access}\n</RootNodes>\n`;
    const { config, warnings } = parseGathererConf(text, 'command line');
    if (config.rootNodes.length === 0) throw new UsageError(warnings[0]?.problem ?? 'a URL is needed');
    return await run(config, flags);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function run(
  config: ReturnType<typeof parseGathererConf>['config'],
  flags: readonly string[],
): Promise<number> {
  const debugFlags = DebugFlags.parse(flags, process.env.HARVEST_DEBUG);
  const log = createLogger({ program: 'enum', level: debugFlags.any ? 'debug' : 'warn' });
  using _debug = debugFlags.any ? followDebug(createDebug(debugFlags, log)) : undefined;
  using stopSignal = new StopSignal();
  await using output = new StandardOutput();
  let found = 0;
  const onDocument = (event: unknown): void => {
    const { url, disposition, status } = event as DocumentEvent;
    if (disposition === 'failed') complain('enum', `${url}: status ${status}`);
    if (NO_DOCUMENTS.has(disposition)) return;
    found++;
    output.write(`${url}\n`).catch(() => undefined);
  };
  documentChannel.subscribe(onDocument);
  try {
    await using gatherer = await Gatherer.open({
      directory: config.dataDirectory,
      config,
      essenceWorkers: 1,
      onProblem: ({ message }) => complain('enum', message),
      ...(debugFlags.any ? { processors: debugProcessors() } : {}),
    });
    await gatherer.run(stopSignal.signal);
  } catch (error) {
    if (!stopSignal.signal.aborted) throw error;
    return EXIT.interrupted;
  } finally {
    documentChannel.unsubscribe(onDocument);
  }
  return found > 0 ? EXIT.ok : EXIT.failure;
}
