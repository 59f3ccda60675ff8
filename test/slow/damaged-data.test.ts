// Damages of the files of data directories that real programs made, after their end and after kill -9. The seed chooses
// some; DAMAGES=all tries all, DAMAGES=100 a hundred of each directory.
import t from 'tap';
import { testDamages } from '../attacks/damaged-data.js';
import { crawlData, runData } from '../attacks/data-directories.js';

const { DAMAGES = '250' } = process.env;
const CASES = DAMAGES === 'all' ? Number.POSITIVE_INFINITY : Number(DAMAGES);

for (const [name, make] of Object.entries({ run: runData, crawl: crawlData }))
  t.test(`every damage of the data of a ${name} is named`, async (t) => {
    for (const data of await make(t)) await testDamages(t, data, CASES);
  });
