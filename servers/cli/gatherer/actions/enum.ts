import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { parseGathererConf } from '../../../../protocols/config/gatherer-conf.js';
import { UsageError } from '../../../../protocols/errors.js';
import { type DocumentEvent, documentChannel } from '../../../crawler/events.js';
import { Gatherer } from '../../../gatherer/gatherer.js';
import { debugProcessors, followDebug } from '../../../gatherer/watch/debug.js';
import { createDebug, DebugFlags } from '../../../host/debug-flags.js';
import { createLogger } from '../../../host/logger.js';
import { StopSignal } from '../../../host/stop-signal.js';
import { complain, EXIT } from '../../output/exit.js';
import { StandardOutput } from '../../output/standard-output.js';

/**
 * Outcomes of URLs that are not documents: directories and menus, redirects, and attempts that are repeated.
 */
const NO_DOCUMENTS: ReadonlySet<string> = new Set(['listed', 'redirected', 'retry', 'failed']);

/** The action of `harvest enum`; returns the exit status. */
export async function enumerate(
  url: string,
  modifiers: readonly string[],
  { debug: flags }: { readonly debug: readonly string[] },
  command: Command,
): Promise<number> {
  const isDeep = /-depth$/.test(command.name()) && !modifiers.some((word) => /^search=/i.test(word));
  const line = [url, ...modifiers, ...(isDeep ? ['Search=Depth'] : [])].join(' ');
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
