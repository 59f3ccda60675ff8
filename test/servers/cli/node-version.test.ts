// The version of Node that the kit needs.
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { LOWEST_NODE, nodeProblem } from '../../../servers/cli/node-version.js';

t.test('an older Node gets one sentence', async (t) => {
  for (const version of ['18.20.4', '20.18.0', '20.9.0', '4.0.0'])
    t.match(
      nodeProblem(version),
      new RegExp(`^Node ${LOWEST_NODE} or later is required, and this is Node ${version};`),
    );
  for (const version of [LOWEST_NODE, '20.20.2', '22.0.0', '24.21.0'])
    t.equal(nodeProblem(version), undefined);
  const { engines } = JSON.parse(await readFile(fileURLToPath(import.meta.resolve('#package.json')), 'utf8'));
  t.equal(engines.node, `>=${LOWEST_NODE}`, 'package.json says the same');
});
