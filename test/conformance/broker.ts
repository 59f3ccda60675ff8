// The mutants of the kit's own Broker, behind a proxy.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { referenceBroker } from '../clients/conformance/broker-reference.js';
import { temporaryDirectory } from '../helpers/temporary-directory.js';
import { type BrokerChange, brokerLink } from './broker-link.js';
import { BROKER_MESSAGE_MUTANTS } from './broker-messages.js';
import { BROKER_REPLY_MUTANTS } from './broker-replies.js';
import { BROKER_VARIANTS } from './broker-variants.js';
import type { MutatedSuite } from './mutant.js';
import { runProxied } from './run-proxied.js';

/** The password of the reference Broker. */
const PASSWORD = 'open sesame';

export const BROKER: MutatedSuite<BrokerChange> = {
  suite: 'broker',
  covers: /^(?!fixture\/)/,
  slow: /^(?:message\/(?:too-long|bytewise|long|longest)|endurance\/.*)$/,
  first: ['query/all'],
  mutants: [...BROKER_REPLY_MUTANTS, ...BROKER_MESSAGE_MUTANTS],
  variants: BROKER_VARIANTS,
  async start(t) {
    const port = await referenceBroker(t);
    const file = join(await temporaryDirectory(t), 'password');
    await writeFile(file, `${PASSWORD}\n`);
    let runs = 1;
    return (change = {}, request) =>
      runProxied('broker', port, () => brokerLink(change), request, {
        args: ['--password-file', file],
        weakness: change.weakness ?? {},
        // Every mutant has an address of its own, since wrong passwords make an address wait.
        localAddress: `127.1.${(runs >> 8) & 255}.${runs++ & 255}`,
      });
  },
};
