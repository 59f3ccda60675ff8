// A part of all damages of the data directory of `harvest run`, after its end and after kill -9; more of them in
// `slow/damaged-data`.
import t from 'tap';
import { testDamages } from './damaged-data.js';
import { runData } from './data-directories.js';

const CASES = 30;

t.test(
  'every damage of a data directory is named, after the end of its program and after kill -9',
  async (t) => {
    for (const data of await runData(t)) await testDamages(t, data, CASES);
  },
);
