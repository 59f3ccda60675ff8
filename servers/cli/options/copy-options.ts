import { Option } from 'commander';
import { secondsOption } from './option-values.js';

/** The options of servers that serve copies of what is published elsewhere. */
export interface CopyOptions {
  readonly from?: string;
  readonly poll: number;
}

/** `--from PLACE`. @param what is copied */
export function fromOption(what: string): Option {
  return new Option(
    '--from <place>',
    `copy ${what} from s3://BUCKET/PREFIX, or a directory, where a Gatherer publishes`,
  );
}

/** `--poll SECONDS`. */
export function pollOption(): Option {
  return new Option('--poll <seconds>', 'with --from: time between two looks for something new')
    .argParser(secondsOption)
    .default(10);
}

/** Where the copies come from; undefined without `--from`. */
export function copiesFrom({
  from,
  poll,
}: CopyOptions): { readonly from: string; readonly pollIntervalMs: number } | undefined {
  return from === undefined ? undefined : { from, pollIntervalMs: Math.max(100, poll * 1000) };
}
