import { Command } from 'commander';
import { lazyAction } from '../lazy-action.js';
import { countOption, timeoutOption } from '../options/option-values.js';
import { peerAddress } from '../options/peer-address.js';

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
    .action(lazyAction(async () => (await import('./actions/compare.js')).compare));
}
