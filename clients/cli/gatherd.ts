import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import { Command } from 'commander';
import { UsageError } from '../../protocols/errors.js';
import { GatherdServer } from '../../servers/gatherd/index.js';
import { createLogger } from '../../servers/host/index.js';
import { EXIT } from './exit.js';
import { portOption } from './option-values.js';
import { untilStopped } from './until-stopped.js';

const HELP = `
DIR is a Gatherer's data directory: it holds generations/ (what the Gatherer published) and may hold gatherd.cf (who may
connect: Allow and Deny lines). New generations are served as soon as they are published. \`gatherd -d DIR PORT\` and
\`gatherd -dir DIR PORT\` are understood too.

Example:
  harvest gatherd -d ./data/gatherer 8500

Exit status: 0 stopped by a signal, 1 failure, 2 usage.
`;

/** `harvest gatherd -d DIR PORT` (GATHERD-11.1). */
export function gatherdCommand(): Command {
  return new Command('gatherd')
    .summary("serve a Gatherer's published summaries to collectors")
    .argument('[port]', 'TCP port; 0 = any free port', portOption, 8500)
    .requiredOption('-d, --dir <directory>', "the Gatherer's data directory")
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--json-log', 'log as JSON lines', false)
    .addHelpText('after', HELP)
    .action(async (port: number, options: { dir: string; host: string; jsonLog: boolean }) => {
      const directory = resolve(options.dir);
      if (directory === resolve('/')) throw new UsageError('-d: a data directory is wanted');
      await using server = await GatherdServer.listen({
        generationsDirectory: join(directory, 'generations'),
        host: options.host,
        port,
        hostname: hostname(),
        accessFile: join(directory, 'gatherd.cf'),
        log: createLogger({ program: 'gatherd', json: options.jsonLog }),
      });
      process.stdout.write(`ready gatherd=${server.address.host}:${server.address.port}\n`);
      await untilStopped();
      process.exitCode = EXIT.ok;
    });
}
