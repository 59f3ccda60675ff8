import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import { UsageError } from '../../../../protocols/errors.js';
import { createDirectory } from '../../../../storage/files/make-directory.js';
import { configFromRoots, type RootLimitOptions } from '../../../all-in-one/roots.js';
import { MIRROR_DATA } from '../../../gatherer/mirror/file-names.js';
import { Mirror, type MirrorReport } from '../../../gatherer/mirror/mirror.js';
import { createLogger } from '../../../host/logger.js';
import { StopSignal } from '../../../host/stop-signal.js';
import { EXIT } from '../../output/exit.js';
import { mebibytes, printableJson, writeMessage } from '../../output/printable.js';
import { GatherProgress } from '../gather-progress.js';

interface MirrorCliOptions extends RootLimitOptions {
  readonly delete: boolean;
  readonly check: boolean;
  readonly connections: number;
  readonly maxSize: number;
  readonly json: boolean;
}

const MEBIBYTE = 1024 * 1024;

/** The action of `harvest mirror`; returns the exit status. */
export async function mirror(operands: readonly string[], options: MirrorCliOptions): Promise<number> {
  const directory = resolve(operands.at(-1) ?? '');
  const roots = operands.slice(0, -1);
  if (roots.length === 0) throw new UsageError('at least one ROOT and a DIRECTORY are required');
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(operands.at(-1) ?? ''))
    throw new UsageError('the last argument must be the directory to write to, not a URL');
  const data = join(directory, MIRROR_DATA);
  await createDirectory(data);
  const { config, warnings } = configFromRoots(roots, options);
  for (const { message } of warnings) writeMessage(`warning: ${message}`);

  using stop = new StopSignal({ limit: { program: 'mirror' } });
  // G-145: these logs contain the messages of Essence, in the original and in `harvest gatherer`.
  const log = createLogger({ program: 'essence', file: join(data, 'log.gatherer') });
  const errors = createLogger({ program: 'essence', file: join(data, 'log.errors') });
  let report: MirrorReport;
  try {
    using progress = new GatherProgress();
    await using copy = await Mirror.open({
      directory,
      config: {
        ...config,
        gathererName: `Mirror of ${roots.join(' ')}`,
        gathererHost: hostname(),
        maxRetrievalSize: options.maxSize * MEBIBYTE,
      },
      delete: options.delete,
      gatherer: { queuesPerHost: options.connections, force: options.check },
      logs: { log, errors },
    });
    progress.showPhase('gather');
    report = await copy.run(stop.signal);
  } catch (error) {
    if (!stop.signal.aborted) throw error;
    process.stderr.write('mirror: stopped; the copied files are kept, and the next run continues\n');
    return EXIT.interrupted;
  }
  process.stdout.write(options.json ? `${printableJson(report)}\n` : reportText(report, options, data));
  return report.gathered.counts.failed > 0 ? EXIT.failure : EXIT.ok;
}

function reportText(report: MirrorReport, options: MirrorCliOptions, data: string): string {
  const { gathered, written, writtenBytes, stale, deleted, complete } = report;
  const { summarized, unchanged, kept, failed } = gathered.counts;
  const lines = [
    `${gathered.resumed ? 'Continued' : 'Mirrored'}: ${written} files written (${mebibytes(writtenBytes)} MiB); ${summarized} documents new or changed, ${unchanged} unchanged, ${kept} not due, ${failed} failed in ${gathered.seconds.toFixed(1)} s`,
  ];
  if (deleted > 0) lines.push(`Deleted: ${deleted} files whose documents no longer exist`);
  if (stale > deleted)
    lines.push(`Stale: ${stale - deleted} files whose documents no longer exist; --delete removes them`);
  if (options.delete && !complete)
    lines.push('The run did not see every document, so only files that servers report as gone were deleted');
  if (failed > 0) lines.push(`Errors: ${join(data, 'log.errors')}`);
  return `${lines.join('\n')}\n`;
}
