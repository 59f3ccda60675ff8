import { join, resolve } from 'node:path';
import { BrokerStore } from '../../../../storage/broker/broker-store.js';
import { readBrokerConf } from '../../../broker/broker-files.js';
import { statsFile } from '../../../broker/web/stats-file.js';
import { StandardOutput } from '../../output/standard-output.js';
import { refuseRunning } from '../stopped-broker.js';

/** The action of `harvest mkbrokerstats`. */
export async function mkbrokerstats(directory: string): Promise<void> {
  const path = resolve(directory);
  const { config } = await readBrokerConf(join(path, 'admin', 'broker.conf'));
  await refuseRunning(config.brokerDirectory, 'its web pages have the statistics');
  await using store = await BrokerStore.open(config.storeUrl ?? join(config.brokerDirectory, 'store'), {
    create: false,
  });
  const { brokerName, homePage } = config;
  const now = Math.floor(Date.now() / 1000);
  await new StandardOutput().write(await statsFile(store, { brokerName, homePage, now }));
}
