import { resolve } from 'node:path';
import { UsageError } from '../../../../protocols/errors.js';
import { configFromRoots } from '../../../all-in-one/roots.js';
import { Gatherer } from '../../../gatherer/gatherer.js';
import { logDocuments, logRun } from '../../../gatherer/watch/log.js';
import { createLogger } from '../../../host/logger.js';
import { StopSignal } from '../../../host/stop-signal.js';
import { gatheredText } from '../../gatherer/gather-progress.js';
import { storeUrlOf } from '../../options/place-values.js';
import { EXIT } from '../../output/exit.js';
import { writeMessage } from '../../output/printable.js';
import { printResult } from '../../output/standard-output.js';
import { PASSWORD_VARIABLE } from '../crawl-options.js';

interface JoinOptions {
  readonly data?: string;
  readonly store?: string;
  readonly begin: boolean;
  readonly partitions: number;
  /** Seconds. */
  readonly lease: number;
  readonly json: boolean;
}

/** The action of `harvest crawl join`. */
export async function join(file: string, options: JoinOptions): Promise<number> {
  const path = resolve(file);
  const { config, warnings } = configFromRoots([path], {});
  for (const { message } of warnings) writeMessage(`warning: ${message}`);
  const storeUrl = options.store === undefined ? config.storeUrl : storeUrlOf(options.store);
  if (storeUrl === undefined)
    throw new UsageError('a crawl that several processes share needs a database: --store or Store-URL');
  const directory = resolve(options.data ?? config.dataDirectory);
  const log = createLogger({ program: 'essence', file: resolve(directory, 'log.gatherer') });
  const errors = createLogger({ program: 'essence', file: resolve(directory, 'log.errors') });
  using stop = new StopSignal().waitsFor(() => ['the documents in progress']);
  try {
    await using gatherer = await Gatherer.open({
      directory,
      config: { ...config, storeUrl, topDirectory: resolve(config.topDirectory), dataDirectory: directory },
      configFile: path,
      onProblem: ({ message }) => errors.warn(message),
      log,
      // For `harvest crawl`: any free port of this machine, in a file that its owner alone can read.
      console: {
        host: '127.0.0.1',
        port: 0,
        hostNames: [],
        certificate: '',
        key: '',
        passwordEnvironment: PASSWORD_VARIABLE,
      },
      shared: { begin: options.begin, partitions: options.partitions, leaseMs: options.lease * 1000 },
    });
    using _log = logDocuments(log, errors);
    const report = await logRun(log, errors, gatherer.config, () => gatherer.run(stop.signal));
    await printResult(options, report, `${gatheredText(report)}\n`);
    return EXIT.ok;
  } catch (error) {
    if (!stop.signal.aborted) throw error;
    writeMessage('left the crawl; the other processes take its part over');
    return EXIT.interrupted;
  }
}
