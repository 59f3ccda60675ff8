// The limits of connections that `harvest run` takes reach every port, and every command declares them in the
// same words.

import { join } from 'node:path';
import t from 'tap';
import { parseGathererConf } from '../../../protocols/config/index.js';
import { AllInOne } from '../../../servers/all-in-one/index.js';
import { findCommand } from '../../../servers/cli/commands.js';
import { createLoggerOn } from '../../../servers/host/index.js';
import { countOpen, dialMany, settle } from '../../attacks/sockets.js';
import { words } from '../../helpers/words.js';

/** An address that is not the one of the other clients. */
const OTHER = '127.0.0.2';

t.test('each port keeps the limits for all and for one address, and cuts idle clients', async (t) => {
  const text = 'Gatherer-Name: Test\nGatherer-Host: g.example.org\n';
  await using kit = await AllInOne.start({
    dataDirectory: join(t.testdir({}), 'data'),
    host: '127.0.0.1',
    gatherdPort: 0,
    brokerPort: 0,
    webPort: 0,
    referencesPort: 0,
    connections: { maxConnections: 8, maxPerAddress: 3, timeoutMs: 3000 },
    graceMs: 100,
    config: parseGathererConf(text, 'test.cf', {}).config,
    gatherer: { essenceWorkers: 0 },
    log: () => createLoggerOn({ write: () => undefined }, { program: 'test' }),
  });
  const ports = {
    gatherd: kit.gatherd.address.port,
    broker: kit.brokerServer.address.port,
    references: kit.refererd.address.port,
    pages: kit.web.address.port,
  };
  for (const [name, port] of Object.entries(ports)) {
    const idle = await dialMany(t, port, 6);
    t.equal(await settle(idle, 3), 3, `${name}: three connections of one address`);
    const others = await dialMany(t, port, 2, { from: OTHER });
    t.equal(countOpen(others), 2, `${name}: another address is served`);
    if (name === 'pages') continue;
    await Promise.all(
      [...idle, ...others].map((socket) =>
        socket.destroyed ? undefined : new Promise((resolve) => socket.once('close', resolve)),
      ),
    );
    t.equal(countOpen([...idle, ...others]), 0, `${name}: idle ones are closed`);
  }
});

t.test('the commands have the same options of connections', async (t) => {
  const names = words`--max-connections --max-per-address --min-rate --timeout --grace --stop-limit`;
  for (const entry of ['run', 'gatherd', 'broker'].map(findCommand)) {
    if (entry === undefined) throw new Error('there is no such command');
    const { options } = await entry.load();
    const flags = options.map(({ long }) => long);
    for (const name of names) t.ok(flags.includes(name), `${entry.name} ${name}`);
  }
});
