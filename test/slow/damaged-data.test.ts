// Every file of the data directory of `harvest run` in every way damaged, after its end and after kill -9.
import t from 'tap';
import { makeData, testDamages } from '../attacks/damaged-data.js';

t.test('every damage of a data directory is named', async (t) => {
  const { sealed, killed } = await makeData(t);
  await testDamages(t, sealed);
  await testDamages(t, killed);
});
