#!/usr/bin/env node
// More threads than the default four: name look-ups, deflate and the stores share the pool. Must stand before its first use.
process.env.UV_THREADPOOL_SIZE ??= '8';

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Command, CommanderError } from 'commander';
import { ConfigError, KitError, UsageError } from '../../protocols/errors.js';
import { brokerCommand } from './broker.js';
import { EXIT } from './exit.js';
import { gatherCommand } from './gather.js';
import { gatherdCommand } from './gatherd.js';
import { originalOptions } from './original-options.js';
import { queryCommand } from './query.js';
import { runCommand } from './run.js';

const HELP = `
The parts, and the commands that run or ask them:

  documents --> Gatherer --> gatherd :8500 --> Broker :8501 --> search page :8080
                 run          gatherd            broker          run
                              gather (asks it)   query (asks it)

Start with \`harvest run\`, then try the lines that it prints. \`harvest COMMAND --help\` explains each command.
`;

function version(): string {
  const file = fileURLToPath(import.meta.resolve('#package.json'));
  const { version } = JSON.parse(readFileSync(file, 'utf8')) as { version: string };
  return version;
}

const program = new Command('harvest')
  .description(
    'Gather documents politely, export and replicate their summaries, search them: the Harvest protocols.',
  )
  .version(version())
  .addCommand(runCommand())
  .addCommand(queryCommand())
  .addCommand(gatherCommand())
  .addCommand(gatherdCommand())
  .addCommand(brokerCommand())
  .addHelpText('after', HELP);

/** One sentence for people; the stack only when asked for. */
function explain(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  const message = error instanceof Error ? error.message : String(error);
  const hint = isPortTaken(error) ? ' (another port can be given)' : '';
  process.stderr.write(`harvest: ${message}${hint}\n`);
  if (process.env.HARVEST_DEBUG !== undefined && !(error instanceof KitError)) console.error(error);
  return error instanceof UsageError || error instanceof ConfigError ? EXIT.usage : EXIT.failure;
}

/** The servers' ConnectionError carries the system's error as its cause. */
function isPortTaken(error: unknown): boolean {
  const system = error instanceof Error ? error.cause : undefined;
  return system instanceof Error && 'code' in system && system.code === 'EADDRINUSE';
}

for (const command of [program, ...program.commands]) command.exitOverride();
try {
  await program.parseAsync(originalOptions(process.argv));
} catch (error) {
  process.exitCode = explain(error);
}
