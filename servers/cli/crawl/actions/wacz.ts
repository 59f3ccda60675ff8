import { packWacz } from '../../../crawler/warc/wacz.js';
import { StandardOutput } from '../../output/standard-output.js';
import { exitStatus } from '../find-crawl.js';

interface WaczCommandOptions {
  readonly output: string;
  readonly title?: string;
  readonly json: boolean;
}

/** The action of `harvest crawl wacz`. */
export async function wacz(directory: string, options: WaczCommandOptions): Promise<void> {
  process.exitCode = await exitStatus(() => pack(directory, options));
}

async function pack(directory: string, { output, title, json }: WaczCommandOptions): Promise<number> {
  const counts = await packWacz({
    directory,
    output,
    title,
    onDamage: (sentence) => void process.stderr.write(`warning: ${sentence}\n`),
    ...(process.stderr.isTTY === true && !json
      ? { onFile: (name: string) => void process.stderr.write(`${name}\n`) }
      : {}),
  });
  const out = new StandardOutput();
  const { files, captures, pages, bytes } = counts;
  await out.write(
    json
      ? `${JSON.stringify(counts)}\n`
      : `${output}: ${files} WARC files, ${captures} captures, ${pages} pages, ${bytes} bytes\n`,
  );
  return counts.damaged > 0 ? 1 : 0;
}
