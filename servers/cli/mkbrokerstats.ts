import { join, resolve } from 'node:path';
import { Command } from 'commander';
import { StorageError } from '../../protocols/errors.js';
import { BrokerStore } from '../../storage/index.js';
import { brokerPidFile, readBrokerConf, statsFile } from '../broker/index.js';
import { runningProcess } from '../host/index.js';
import { EXIT } from './exit.js';
import { StandardOutput } from './standard-output.js';

const HELP = `
The same page as stats.html on the broker's web side, as one file that needs no other. The broker must not be running: while it
is, ask its web side.

Example:
  mkbrokerstats /var/harvest/brokers/mybroker > stats.html

Exit status: 0 written, 1 there is no broker, or it is running; 2 usage or configuration.
`;

/** `mkbrokerstats broker-dir > stats.html` (BRK-6.7). */
export function mkbrokerstatsCommand(): Command {
  return new Command('mkbrokerstats')
    .description("Prints a page with a stopped broker's statistics.")
    .argument('[directory]', "the broker's directory", '.')
    .addHelpText('after', HELP)
    .action(async (directory: string) => {
      const path = resolve(directory);
      const { config } = await readBrokerConf(join(path, 'admin', 'broker.conf'));
      const running = await runningProcess(brokerPidFile(config.brokerDirectory));
      if (running !== undefined) {
        throw new StorageError(`a broker is running in ${path} (process ${running.pid}): ask its web side`);
      }
      await using store = await BrokerStore.open(join(config.brokerDirectory, 'store'), { create: false });
      const { brokerName, homePage } = config;
      const now = Math.floor(Date.now() / 1000);
      await new StandardOutput().write(await statsFile(store, { brokerName, homePage, now }));
      process.exitCode = EXIT.ok;
    });
}
