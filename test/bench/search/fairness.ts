// Measures plain queries while an expensive one runs.
import { median } from '../harness.js';
import { type EmbeddedEngine, optionsOf, parseExpression } from './embedded.js';
import type { BenchQuery } from './queries.js';

/** Latency of plain queries, in milliseconds, while an expensive one runs. */
export interface ConcurrentLatency {
  readonly label: string;
  readonly median: number;
  readonly worst: number;
}

/** Expensive queries that any client may send. */
const EXPENSIVE_QUERIES: readonly {
  readonly label: string;
  readonly text: string;
  readonly errors: number;
}[] = [
  { label: 'a pattern with nested repeats', text: 'body regexp "([a-z]+)+([a-z ]*)*#"', errors: 0 },
  { label: 'a pattern without a literal', text: 'body regexp "[xq][0-9][^ ]*[jk][0-9]$"', errors: 0 },
  { label: 'a query for every document', text: 'e', errors: 0 },
  { label: 'a query for a letter, with matched lines', text: 'e or a', errors: 0 },
  { label: 'a query with 8 errors in a long word', text: 'internationalisationcommittee', errors: 8 },
  { label: 'a query with 3 errors in a short word', text: 'xqzjw', errors: 3 },
  { label: 'a comparison of every value', text: 'body less-than "zzzz"', errors: 0 },
];
const SAMPLES = 40;

/** Runs plain queries in sequence, alone and concurrently with each expensive one. */
export async function measureFairness(
  engine: EmbeddedEngine,
  queries: readonly BenchQuery[],
): Promise<ConcurrentLatency[]> {
  const plain = queries.filter(({ kind }) => kind === 'rare' || kind === 'and');
  const sample = async (label: string): Promise<ConcurrentLatency> => {
    const times: number[] = [];
    for (let i = 0; i < SAMPLES; i++) {
      const start = performance.now();
      await engine.top(plain[i % plain.length]!);
      times.push(performance.now() - start);
    }
    return { label, median: median(times), worst: Math.max(...times) };
  };
  const results = [await sample('nothing else')];
  for (const { label, text, errors } of EXPENSIVE_QUERIES) {
    const stop = new AbortController();
    const expensive = (async () => {
      while (!stop.signal.aborted) {
        const options = {
          ...optionsOf({ kind: 'part', words: [] }),
          errors,
          wantLines: true,
          signal: stop.signal,
        };
        await engine.run(parseExpression(text), options);
      }
    })();
    results.push(await sample(label));
    stop.abort();
    await expensive;
  }
  return results;
}
