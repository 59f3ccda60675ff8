import { Command } from 'commander';
import {
  type BrokerDifference,
  BulkClient,
  compareBrokers,
  type DigestIdentity,
} from '../../clients/bulk/index.js';
import { urlFields } from '../../protocols/soif/index.js';
import { complain, complainOrThrow, EXIT } from './exit.js';
import { countOption, timeoutOption } from './option-values.js';
import { type PeerAddress, peerAddress } from './peer-address.js';
import { printableUrl } from './printable.js';
import { StandardOutput } from './standard-output.js';

const HELP = `
Checks whether two brokers have the same objects. Brokers of this kit send digests, so that only differing ranges are
transferred; otherwise both brokers are read completely. Two objects are the same if URL, Gatherer, Update-Time and MD5
agree, so an object that is newer on one side is listed twice.

Each difference is one line: "<" (only the first broker has it) or ">" (only the second), the Update-Time, the URL.

Examples:
  harvest compare localhost:8501 mirror.example.org:8501
  harvest compare --json localhost:8501 localhost:8502 | jq .onlyA[].url

Exit status: 0 the same; 1 different; 2 usage; 3 a broker cannot be reached or failed.
`;

interface CompareCommandOptions {
  readonly json: boolean;
  readonly max: number;
  readonly timeout?: number;
}

/** `harvest compare BROKER BROKER` */
export function compareCommand(): Command {
  return new Command('compare')
    .summary('compare the objects of two brokers')
    .argument('<first>', 'HOST or HOST:PORT (default port 8501)', peerAddress)
    .argument('<second>', 'HOST or HOST:PORT (default port 8501)', peerAddress)
    .option('--json', 'one JSON line: equal, onlyA, onlyB, truncated, objects, bytes, method', false)
    .option('--max <number>', 'maximum number of differences to list', countOption, 1000)
    .option('--timeout <seconds>', 'give up after this time', timeoutOption)
    .addHelpText('after', HELP)
    .action(async (first: PeerAddress, second: PeerAddress, options: CompareCommandOptions) => {
      process.exitCode = await compare(first, second, options);
    });
}

async function compare(
  first: PeerAddress,
  second: PeerAddress,
  options: CompareCommandOptions,
): Promise<number> {
  const signal = options.timeout === undefined ? undefined : AbortSignal.timeout(options.timeout * 1000);
  const output = new StandardOutput();
  try {
    const difference = await compareBrokers(clientOf(first), clientOf(second), {
      maxDifferences: options.max,
      ...(signal === undefined ? {} : { signal }),
    });
    await output.write(options.json ? jsonOf(difference) : textOf(difference));
    return difference.equal ? EXIT.ok : EXIT.failure;
  } catch (error) {
    if (!signal?.aborted) return complainOrThrow('compare', error, EXIT.connection);
    complain('compare', `no result within ${options.timeout} s`);
    return EXIT.connection;
  }
}

function clientOf({ host, port }: PeerAddress): BulkClient {
  return new BulkClient({ host, ...(port === undefined ? {} : { port }) });
}

function textOf({ equal, onlyA, onlyB, truncated, objects, bytes }: BrokerDifference): Uint8Array {
  if (equal) return Buffer.from(`the same ${objects.a} objects; ${bytes} bytes received\n`);
  const line = (mark: string) => (each: DigestIdentity) =>
    Buffer.concat([Buffer.from(`${mark} ${each.updateTime} `), printableUrl(each.url), Buffer.from('\n')]);
  const totals = [
    `${objects.a} and ${objects.b} objects; only the first has ${onlyA.length}, only the second ${onlyB.length}`,
    `${truncated ? ', and there are more; --max lists more' : ''}; ${bytes} bytes received\n`,
  ];
  return Buffer.concat([...onlyA.map(line('<')), ...onlyB.map(line('>')), Buffer.from(totals.join(''))]);
}

function jsonOf(difference: BrokerDifference): string {
  const identity = (each: DigestIdentity) => ({ ...each, ...urlFields(each.url) });
  const { onlyA, onlyB } = difference;
  return `${JSON.stringify({ ...difference, onlyA: onlyA.map(identity), onlyB: onlyB.map(identity) })}\n`;
}
