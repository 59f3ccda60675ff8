// A part of all damages of the data directory of `harvest run`, after its end and after kill -9; all of them in
// `slow/damaged-data`.
import t from 'tap';
import { makeData, testDamages } from './damaged-data.js';

const CASES = 30;

t.test(
  'every damage of a data directory is named, after the end of its program and after kill -9',
  async (t) => {
    const { sealed, killed } = await makeData(t);
    await testDamages(t, sealed, CASES);
    await testDamages(t, killed, CASES);
  },
);
