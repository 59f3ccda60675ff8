import { join, resolve } from 'node:path';
import { Command } from 'commander';
import { BrokerStore } from '../../storage/index.js';
import { readBrokerConf, statsFile } from '../broker/index.js';
import { EXIT } from './exit.js';
import { StandardOutput } from './standard-output.js';
import { refuseRunning } from './stopped-broker.js';

const HELP = `
Prints stats.html of the broker's web pages as one self-contained file. The broker must be stopped; a running
broker serves the page itself.

Example:
  mkbrokerstats /var/harvest/brokers/mybroker > stats.html

Exit status: 0 written; 1 there is no broker, or it is running; 2 usage or configuration.
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
      await refuseRunning(config.brokerDirectory, 'its web pages have the statistics');
      await using store = await BrokerStore.open(join(config.brokerDirectory, 'store'), { create: false });
      const { brokerName, homePage } = config;
      const now = Math.floor(Date.now() / 1000);
      await new StandardOutput().write(await statsFile(store, { brokerName, homePage, now }));
      process.exitCode = EXIT.ok;
    });
}
