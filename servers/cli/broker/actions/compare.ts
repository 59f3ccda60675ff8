import {
  type BrokerDifference,
  BulkClient,
  compareBrokers,
  type DigestIdentity,
} from '../../../../clients/bulk/index.js';
import { urlFields } from '../../../../protocols/soif/index.js';
import type { PeerAddress } from '../../options/option-values.js';
import { EXIT, untilTimeout } from '../../output/exit.js';
import { printableUrl } from '../../output/printable.js';
import { StandardOutput } from '../../output/standard-output.js';

/** The action of `harvest compare`; returns the exit status. */
export async function compare(
  first: PeerAddress,
  second: PeerAddress,
  options: { readonly json: boolean; readonly max: number; readonly timeout?: number },
): Promise<number> {
  const { timeout: seconds } = options;
  return await untilTimeout('compare', { seconds, late: 'no result' }, async (signal) => {
    const difference = await compareBrokers(clientOf(first), clientOf(second), {
      maxDifferences: options.max,
      signal,
    });
    await new StandardOutput().write(options.json ? jsonOf(difference) : textOf(difference));
    return difference.equal ? EXIT.ok : EXIT.failure;
  });
}

function clientOf({ host, port }: PeerAddress): BulkClient {
  return new BulkClient({ host, port });
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
