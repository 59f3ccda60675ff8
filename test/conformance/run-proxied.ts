// Runs cases of a suite about servers through a proxy.
import { type CaseResult, loadSuite, runSuite } from '../../clients/conformance/index.js';
import { ConnectionError } from '../../protocols/errors.js';
import type { RunReport, RunRequest } from './mutant.js';
import { type Link, type ProxyOptions, startProxy } from './proxy.js';

/** Stands for the cases when the suite refuses to test a server, because it takes it for another one. */
export const REFUSED = 'refused';

/**
 * Runs the cases against the server at `port`, through a proxy with these links. @param args more arguments of
 * the suite
 */
export async function runProxied(
  suiteName: string,
  port: number,
  newLink: () => Link,
  { only, timeoutMs }: RunRequest,
  { args = [], ...options }: ProxyOptions & { readonly args?: readonly string[] } = {},
): Promise<RunReport> {
  await using proxy = await startProxy(port, newLink, options);
  const suite = await loadSuite(suiteName);
  const results: CaseResult[] = [];
  try {
    await using prepared = await suite.prepare([`127.0.0.1:${proxy.port}`, ...args], { timeoutMs });
    for await (const result of runSuite(prepared, { only, timeoutMs })) results.push(result);
  } catch (error) {
    // The suite cannot test this server at all.
    if (!(error instanceof ConnectionError)) throw error;
    return { results: [refused(suiteName, error.message)], changed: proxy.changed };
  }
  return { results, changed: proxy.changed };
}

/** The result of a mutant that the suite refuses to test: the only failure, under an id of its own. */
function refused(suite: string, message: string): CaseResult {
  const described = { id: REFUSED, title: 'the suite can test the server', rules: [], source: '' };
  const result = { suite, ...described, level: 'MUST', basis: 'inferred', verdict: 'fail' } as const;
  return { ...result, message, transcript: [], milliseconds: 0 };
}
