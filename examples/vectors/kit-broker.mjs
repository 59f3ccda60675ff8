// A Broker of harvest-kit that has the objects of the fixture, and what its port answers.
import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { parseMessage, ResultDecoder } from 'harvest-kit/protocols/broker';
import { parseBrokerConf } from 'harvest-kit/protocols/config';
import { Broker, BrokerServer } from 'harvest-kit/servers/broker';
import { createLoggerOn } from 'harvest-kit/servers/host';

/** `harvest conformance --fixture -` writes the objects. */
async function fixture() {
  const file = new URL(import.meta.resolve('harvest-kit/package.json'));
  const { bin } = JSON.parse(await readFile(file, 'utf8'));
  const program = fileURLToPath(new URL(bin.harvest, file));
  return execFileSync(process.execPath, [program, 'conformance', '--fixture', '-'], { stdio: ['ignore', 'pipe', 'ignore'] });
}

export async function openFixtureBroker() {
  const directory = await mkdtemp(join(tmpdir(), 'vectors-'));
  await writeFile(join(directory, 'fixture.soif'), await fixture());
  const conf = `Broker-Directory ${directory}\nBroker-Name vectors\nBroker-Host localhost\nHTTP-Host localhost\nAdmin-Password vectors\n`;
  const log = createLoggerOn({ write: () => {} }, { json: false, program: 'broker' });
  const { config } = parseBrokerConf(conf, join(directory, 'broker.conf'));
  const broker = await Broker.open({ config, log, points: [] });
  await broker.maintenance.addFiles(['fixture.soif']);
  await broker.keeper.settle();
  const server = await BrokerServer.listen({ broker, host: '127.0.0.1', port: 0, log });
  return {
    /** The URLs that a message finds, sorted; undefined if the Broker answers with an error. @throws ProtocolError */
    async find(message) {
      parseMessage(message);
      const socket = connect(server.address.port, '127.0.0.1');
      socket.write(Buffer.concat([message, Buffer.from('\r\n')]));
      const decoder = new ResultDecoder();
      const items = [...decoder.push(await buffer(socket)), ...decoder.end()];
      if (items.some(({ kind }) => kind === 'fatal')) return undefined;
      return items.filter(({ kind }) => kind === 'match').map(({ url }) => url).sort();
    },
    async close() {
      await server.close({ graceMs: 0 });
      await broker.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
