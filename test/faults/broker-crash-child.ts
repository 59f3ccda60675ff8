// The process that broker-crash.test.ts kills: a broker that collects once. Arguments: DIRECTORY GATHERD-PORT.
import { Broker } from '../../servers/broker/index.js';
import { createLogger } from '../../servers/host/index.js';
import { brokerConfig } from '../servers/broker/helpers.js';

const [directory = '', port = ''] = process.argv.slice(2);
const broker = await Broker.open({
  config: brokerConfig(directory),
  log: createLogger({ program: 'broker', level: 'fatal' }),
  points: [{ host: '127.0.0.1', port: Number(port), type: 3, line: 1 }],
  limits: { batchObjects: 20, flushEvery: 50 },
});
// One byte per stored batch reports the progress to the parent.
const { store } = broker;
const apply = store.apply.bind(store);
store.apply = async (...batch) => {
  const outcome = await apply(...batch);
  process.stdout.write('.');
  return outcome;
};
process.stdout.write('.');
await broker.collections.run();
await broker.close();
