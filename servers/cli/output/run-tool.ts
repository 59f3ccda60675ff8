import type { ToolOptions } from '../../../storage/databases/load.js';
import { StopSignal } from '../../host/stop-signal.js';
import { complain, EXIT, untilStopped } from './exit.js';
import { Progress } from './progress.js';
import { printResult, StandardOutput } from './standard-output.js';

/** Output, signal and callbacks of a database tool. */
export type Tool = ToolOptions & { readonly output: StandardOutput; readonly signal: AbortSignal };

/** Warnings printed; the others are only counted. */
const MAX_WARNINGS = 20;

/**
 * Runs a database tool: progress and warnings go to standard error, Ctrl-C undoes unfinished changes. The
 * counts that it returns are printed as one line of text, or with `json` as one JSON object.
 *
 * @param name the command's name, for messages
 * @returns the exit status
 */
export async function runTool(
  name: string,
  { json = false }: { readonly json?: boolean },
  work: (tool: Tool) => Promise<Counts | undefined> | Promise<void>,
): Promise<number> {
  using stop = new StopSignal({ limit: { program: name } });
  let warnings = 0;
  // The sources are streams, so the total is not known before the end.
  using progress = new Progress({ format: `${name}: {value} objects, {rate}/s, {duration_formatted}` });
  let objects = 0;
  const output = new StandardOutput();
  return await untilStopped(name, stop, async () => {
    const counts = await work({
      output,
      signal: stop.signal,
      onObject: () => {
        objects++;
        progress.update(objects, objects);
      },
      onWarning: (sentence) => {
        if (++warnings <= MAX_WARNINGS) complain(name, sentence);
      },
    });
    if (counts !== undefined) await printResult({ json }, counts, `${name}: ${sentenceOf(counts)}\n`);
    if (warnings > MAX_WARNINGS) complain(name, `${warnings - MAX_WARNINGS} more warnings`);
    return EXIT.ok;
  });
}

/** Counts by name, in the order of the report. */
export type Counts = Readonly<Record<string, number | string>>;

/** Names of numbers that are not counts, written as `generation 3`. */
const NOT_COUNTS = new Set(['generation']);

/** Formats `{ added: 2, manualOnly: 1, generation: 3 }` as `2 added, 1 manual only, generation 3`. */
export function sentenceOf(counts: Counts): string {
  return Object.entries(counts)
    .map(([key, value]) => {
      const words = key.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
      const isCount = typeof value === 'number' && !NOT_COUNTS.has(key);
      return isCount ? `${value} ${words}` : `${words} ${value}`;
    })
    .join(', ');
}
