// Our own clients as functions, for the suites about clients: each writes out what it receives.
import { BrokerClient } from '../../../clients/broker/index.js';
import { BulkClient } from '../../../clients/bulk/index.js';
import type { QueryTask } from '../../../clients/conformance/broker-client/suite.js';
import type { ClientUnderTest } from '../../../clients/conformance/command-client.js';
import type { ClientsUnderTest } from '../../../clients/conformance/gatherd-client/suite.js';
import type { LinkTask } from '../../../clients/conformance/sstp-client/suite.js';
import { GatherdClient } from '../../../clients/gatherd/index.js';
import { ReferencesClient } from '../../../clients/references/index.js';
import { KitError, PeerError } from '../../../protocols/errors.js';
import { encodeSoif } from '../../../protocols/soif/index.js';

/** Resolves with an exit status and the message of an error, as a program would end. */
async function endOf(work: () => Promise<void>): Promise<{ status: number; diagnostics: string }> {
  try {
    await work();
    return { status: 0, diagnostics: '' };
  } catch (error) {
    if (error instanceof KitError) return { status: 1, diagnostics: error.message };
    throw error;
  }
}

function gatherdClient(
  name: string,
  work: (client: GatherdClient, output: (piece: Uint8Array) => void | Promise<void>) => Promise<void>,
): ClientUnderTest {
  return {
    name,
    run: ({ port }, output) =>
      endOf(async () => {
        await using client = new GatherdClient({ host: '127.0.0.1', port });
        await work(client, output);
        await client.quit();
      }),
  };
}

/** Our client of gatherd, for objects. */
export const OWN_GATHERD_CLIENT = gatherdClient('own', async (client, output) => {
  for await (const piece of client.stream({ since: 0 })) await output(piece);
});

/** Our client of gatherd, for objects and for the description. */
export const OWN_GATHERD_CLIENTS: Required<Pick<ClientsUnderTest, 'client' | 'infoClient'>> = {
  client: OWN_GATHERD_CLIENT,
  infoClient: gatherdClient('own info', async (client, output) => {
    const info = await client.info();
    if (info === undefined) throw new PeerError('the server has no description', 699);
    await output(encodeSoif(info));
  }),
};

/** Our client of the Broker. It prints everything that it receives. */
export const OWN_BROKER_CLIENT: ClientUnderTest<QueryTask> = {
  name: 'own',
  async run({ host, port, query }, output, signal) {
    const found = new BrokerClient({ host, port }).query(query, { attributes: ['author'], signal });
    const { status, diagnostics } = await endOf(async () => {
      for await (const hit of found) {
        const attributes = hit.attributes.map(({ value }) => Buffer.from(value).toString());
        await output(Buffer.from([hit.url, hit.description, ...attributes, ...hit.matchedLines].join('\n')));
      }
    });
    return { status, diagnostics: [...found.messages, ...found.errors, diagnostics].join('\n') };
  },
};

/** Our client of bulk transfers. It prints everything that it receives. */
export function ownBulkClient(version: 1 | 2): ClientUnderTest {
  return {
    name: `own, interface ${version}`,
    async run({ host, port }, output, signal) {
      const warnings: string[] = [];
      const client = new BulkClient({ host, port, onWarning: ({ message }) => warnings.push(message) });
      const { status, diagnostics } = await endOf(async () => {
        for await (const { bytes } of client.changes({ since: 0, interface: version, signal }))
          await output(bytes);
      });
      return { status, diagnostics: [...warnings, diagnostics].join('\n') };
    },
  };
}

/** Exit statuses of a client of a references server, as those of `harvest references`. */
export const NOTHING_FOUND = 1;
const NOT_ANSWERED = 3;

/** Our client of the References Server. It prints the IDs of all pages, each on a line. */
export const OWN_REFERENCES_CLIENT: ClientUnderTest<LinkTask> = {
  name: 'own',
  async run({ host, port, url }, output, signal) {
    const ids: number[] = [];
    const { status, diagnostics } = await endOf(async () => {
      await using client = new ReferencesClient({ host, port, signal });
      const onRestart = () => void ids.splice(0);
      for await (const page of client.pages('referers', { url, onRestart })) ids.push(...page.ids);
    });
    if (status !== 0) return { status: NOT_ANSWERED, diagnostics };
    await output(Buffer.from(ids.map((id) => `${id}\n`).join('')));
    return { status: ids.length === 0 ? NOTHING_FOUND : 0, diagnostics };
  },
};
