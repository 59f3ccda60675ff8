import { packWacz } from '../../../crawler/warc/wacz.js';
import { EXIT } from '../../output/exit.js';
import { printResult } from '../../output/standard-output.js';
import { crawlAction } from '../find-crawl.js';

/** The action of `harvest crawl wacz`. */
export const wacz = crawlAction(
  async (
    directory: string,
    { output, title, json }: { readonly output: string; readonly title?: string; readonly json: boolean },
  ) => {
    const counts = await packWacz({
      directory,
      output,
      title,
      onDamage: (sentence) => void process.stderr.write(`warning: ${sentence}\n`),
      ...(process.stderr.isTTY === true && !json
        ? { onFile: (name: string) => void process.stderr.write(`${name}\n`) }
        : {}),
    });
    const { files, captures, pages, bytes } = counts;
    const text = `${output}: ${files} WARC files, ${captures} captures, ${pages} pages, ${bytes} bytes\n`;
    await printResult({ json }, counts, text);
    return counts.damaged > 0 ? EXIT.failure : EXIT.ok;
  },
);
