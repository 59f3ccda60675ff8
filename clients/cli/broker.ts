import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { Command } from 'commander';
import { parseBrokerConf } from '../../protocols/config/index.js';
import { UsageError } from '../../protocols/errors.js';
import { Broker, BrokerServer, WebServer } from '../../servers/broker/index.js';
import { createLogger } from '../../servers/host/index.js';
import { EXIT } from './exit.js';
import { portOption } from './option-values.js';
import { untilStopped } from './until-stopped.js';

const HELP = `
FILE is a broker.conf: a variable and its value on each line. The collection points stand in Collection.conf beside it:
host, port, type (0 full, 1 incremental, 2 and 3 the same compressed), and -- for "no filter".

Without a flag the broker collects when it starts and then once a day. The original single-dash flags work:
  harvest broker admin/broker.conf            collect now, then daily
  harvest broker admin/broker.conf -new       drop everything and collect anew
  harvest broker admin/broker.conf -nocol     do not collect at the start

Exit status: 0 stopped by a signal, 1 failure, 2 usage or configuration.
`;

interface BrokerOptions {
  readonly new: boolean;
  readonly nocol: boolean;
  readonly host: string;
  readonly webPort?: number;
  readonly jsonLog: boolean;
}

/** `harvest broker FILE [-new | -nocol]` (BRK-6.1). */
export function brokerCommand(): Command {
  return new Command('broker')
    .summary('collect summaries and answer queries about them')
    .argument('<file>', 'broker.conf')
    .option('--new', 'begin a new collection: drop every object first (-new)', false)
    .option('--nocol', 'do not collect at the start (-nocol)', false)
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--web-port <port>', 'serve the search page too, on this port', portOption)
    .option('--json-log', 'log as JSON lines', false)
    .addHelpText('after', HELP)
    .action(async (file: string, options: BrokerOptions) => {
      if (options.new && options.nocol) throw new UsageError('-new and -nocol exclude each other');
      const path = resolve(file);
      const { config, warnings } = parseBrokerConf(await readConfiguration(path, file), file, {
        brokerDirectory: dirname(dirname(path)),
      });
      const log = createLogger({ program: 'broker', json: options.jsonLog });
      for (const warning of warnings) log.warn(warning.message);
      const { host } = options;
      await using broker = await Broker.open({ config, log });
      await using server = await BrokerServer.listen({ broker, host, port: config.brokerPort, log });
      let ready = `ready broker=${server.address.host}:${server.address.port}`;
      let web: WebServer | undefined;
      if (options.webPort !== undefined) {
        web = await WebServer.listen({
          broker,
          brokerAddress: server.address,
          host,
          port: options.webPort,
          log,
        });
        broker.setWebAddress(web.address.host, web.address.port);
        ready += ` web=${web.url}`;
      }
      await broker.start(options.new ? 'new' : options.nocol ? 'nocol' : 'collect');
      process.stdout.write(`${ready}\n`);
      await untilStopped();
      await web?.close();
      process.exitCode = EXIT.ok;
    });
}

/** @throws UsageError when the file named on the command line cannot be read */
async function readConfiguration(path: string, file: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new UsageError(`${file}: cannot be read: ${why}`, { cause });
  }
}
