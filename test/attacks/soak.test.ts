// All servers under good and bad clients for a few minutes: every answer is right, and nothing grows.
import t from 'tap';
import { findProblems, runSoak } from '../soak/run-soak.js';

const MINUTES = 3;

t.test('a soak of three minutes leaves memory, files and handles flat', async (t) => {
  const result = await runSoak({ minutes: MINUTES, onProgress: (line) => t.comment(line) });
  t.same(result.problems, []);
  t.ok(Object.keys(result.uses).length >= 40, 'every client took part');
  t.ok((result.measurements.at(-1)?.cycles ?? 0) >= 3, 'documents were gathered again meanwhile');
});

t.test('what grows, and a good client that fails, is a problem', (t) => {
  const flat = {
    rss: 1e8,
    heapUsed: 5e7,
    external: 1e6,
    arrayBuffers: 1e6,
    files: 40,
    resources: { Timeout: 2 },
    cycles: 1,
  };
  const grow = (n: number) => ({
    ...flat,
    heapUsed: flat.heapUsed + n * n * 1e7,
    files: flat.files + 6 * n,
    resources: { Timeout: 2, TCPSocketWrap: 5 * n },
  });
  const indexes = [...Array(9).keys()];
  t.same(
    findProblems(
      indexes.map(() => flat),
      {},
      { code: 0, signal: null },
    ),
    [],
  );
  const problems = findProblems(
    indexes.map(grow),
    { a: { count: 1, failures: ['wrong'] } },
    { code: null, signal: 'SIGSEGV' },
  );
  t.match(problems, [/used heap/, /open files/, /TCPSocketWrap/, /a: wrong/, /ended with SIGSEGV/]);
  t.end();
});
