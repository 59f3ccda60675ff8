import { makeTemplates } from '../../../../clients/soif-tools/annotations.js';
import { inputName } from '../../../../clients/soif-tools/input.js';
import { ProtocolError } from '../../../../protocols/errors.js';
import { complain, EXIT } from '../../output/exit.js';
import { OUTPUT_BUFFER_BYTES, StandardOutput } from '../../output/standard-output.js';
import { filesOf, openFile } from '../files.js';

/** Faults of one file that are listed; a file of another kind has one in each line. */
const MAX_FAULTS = 1000;

/** The action of `harvest mktemplate`; returns the exit status. */
export async function mktemplate(
  files: readonly string[],
  { strict }: { readonly strict: boolean },
): Promise<number> {
  await using output = new StandardOutput({ bufferBytes: OUTPUT_BUFFER_BYTES });
  let incomplete = false;
  for (const file of filesOf(files)) {
    const warn = (sentence: string): void => complain('mktemplate', `${inputName(file)}: ${sentence}`);
    let faults = 0;
    const templates = makeTemplates(openFile(file), {
      mode: strict ? 'strict' : 'lenient',
      onWarning: ({ rule, line, message, dropped }) => {
        incomplete ||= dropped;
        if (++faults <= MAX_FAULTS) warn(`line ${line}: ${message}${dropped ? ', skipped' : ''} (${rule})`);
      },
    });
    try {
      for await (const template of templates) {
        if (!(await output.write(template))) return EXIT.ok;
      }
      if (faults > MAX_FAULTS) warn(`${faults - MAX_FAULTS} more faults are not listed`);
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error;
      warn(error.message);
      return EXIT.failure;
    }
  }
  return incomplete ? EXIT.failure : EXIT.ok;
}
