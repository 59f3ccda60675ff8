// Slow readers who leave, and large requests: a server keeps nothing of them. The short form of `npm run soak -- --memory`:
// what is in use after a garbage collection is compared between equal rounds, not the memory of the process.
import { join } from 'node:path';
import t from 'tap';
import { temporaryDirectory } from '../helpers/temporary-directory.js';
import { LOADED, loadServer, writeDocuments } from '../soak/memory.js';
import { findProblems, ServerProcess } from '../soak/run-soak.js';

const DOCUMENTS = 300;
/** Of the clients of the soak: 50 slow readers. */
const PART = 0.2;

t.test('the second of two equal rounds adds nothing to what a server has in use', async (t) => {
  const directory = await temporaryDirectory(t);
  const root = join(directory, 'site');
  await writeDocuments(root, DOCUMENTS);
  const servers = new ServerProcess(join(directory, 'data'), root);
  t.teardown(() => servers.stop());
  const addresses = await servers.ready;
  t.equal(addresses.objects, DOCUMENTS);
  for (const server of LOADED) {
    const measurements = [];
    // The first round fills caches.
    for (let round = 0; round < 3; round++) {
      servers.hold();
      await loadServer(server, addresses[server], root, PART);
      measurements.push(await servers.measure());
    }
    const sizes = measurements.map(
      ({ heapUsed, external }) => `${((heapUsed + external) / 1e6).toFixed(1)} MB`,
    );
    t.comment(`${server}: ${sizes.join(', ')} in use after each round`);
    t.same(findProblems(measurements, {}, servers.exit), [], server);
  }
});
