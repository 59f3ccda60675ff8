// Runs the stored inputs of all fuzz targets in the code without counters: those that met a defect which is
// repaired, and the smallest ones that cover the code of each target.
import t from 'tap';
import { coverageFile, findingsFolder, readFolder, readInputs } from './corpus.js';
import { instrument } from './instrument.js';
import { loadTarget, TARGET_NAMES } from './targets/index.js';

for (const name of TARGET_NAMES) {
  t.test(`stored inputs of ${name}`, async (t) => {
    const target = await loadTarget(name);
    const covering = (await readInputs(coverageFile(name))).map((input, i) => ({
      name: `line ${i + 1} of coverage/${name}.txt`,
      input,
    }));
    const failures: string[] = [];
    for (const stored of [...(await readFolder(findingsFolder(name))), ...covering]) {
      try {
        await target.run(stored.input);
      } catch (error) {
        failures.push(`${stored.name}: ${error instanceof Error ? error.stack : String(error)}`);
      }
    }
    t.same(failures, []);
  });
}

t.test('instrumented code does the same, and counts each branch', async (t) => {
  const code = `export const f = (a) => a ? [1] : a ?? 2; export function g(x) { if (x) return 1; else if (x === 0) for (;;) break; switch (x) { case null: case undefined: x = 'word'; } do x += 'y'; while (x.length < 3); return x; }`;
  const counters: Uint32Array[] = [];
  globalThis.fuzzCounters = (count, words) => {
    t.ok(words.includes('word'), 'words of the code are collected');
    const counted = new Uint32Array(count);
    counters.push(counted);
    return counted;
  };
  t.teardown(() => {
    globalThis.fuzzCounters = undefined;
  });
  const load = async (text: string) => import(`data:text/javascript,${encodeURIComponent(text)}`);
  const [plain, counted] = [await load(code), await load(instrument(code))];
  for (const value of [0, 1, null, undefined, '', 'abc']) {
    t.same(counted.f(value), plain.f(value));
    t.same(counted.g(value), plain.g(value));
  }
  t.ok(counters[0]?.every((count) => count > 0) ?? false, `all are counted: ${counters[0]?.join(' ')}`);
});
